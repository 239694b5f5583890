"""Training with uneven inputs: what classes implement to take part. `Join` itself is a name."""

from abc import ABC, abstractmethod

from torch._missing import missing_class


class JoinHook:
    """What a process does while others still have input, and at the end."""

    def main_hook(self):
        """Called again and again while another process works."""

    def post_hook(self, is_last_joiner):
        """Called once when all have finished."""


class Joinable(ABC):
    """What can take part in a `Join`."""

    @abstractmethod
    def __init__(self):
        super().__init__()

    @abstractmethod
    def join_hook(self, **kwargs):
        """A `JoinHook` for this object."""

    @property
    @abstractmethod
    def join_device(self):
        """Where the collectives of the hook work."""

    @property
    @abstractmethod
    def join_process_group(self):
        """The processes that take part."""


Join = missing_class(__name__ + ".Join")

__all__ = ["JoinHook", "Joinable", "Join"]
