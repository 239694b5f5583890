"""torch.signal: signal processing. Windows are in `torch.signal.windows`."""

from . import windows

__all__ = ["windows"]
