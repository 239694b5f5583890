"""`torch.cuda`'s streams and events, under the name they also have."""

from torch.cuda._absent import Event, ExternalStream, Stream  # noqa: F401

__all__ = ["Stream", "Event", "ExternalStream"]
