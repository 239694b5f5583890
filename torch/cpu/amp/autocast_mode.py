"""``torch.cpu.amp.autocast``: deprecated."""
import warnings

import torch
from torch.amp import autocast_mode as _new

__all__ = ["autocast"]


class autocast(_new.autocast):
    """Deprecated: ``torch.amp.autocast("cpu")``."""

    def __init__(self, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        warnings.warn("`torch.cpu.amp.autocast(args...)` is deprecated. Please use "
                      "`torch.amp.autocast('cpu', args...)` instead.", FutureWarning, stacklevel=2)
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
