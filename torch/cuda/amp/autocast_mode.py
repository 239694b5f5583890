"""``torch.cuda.amp.autocast`` and the decorators of custom functions; all deprecated."""
import functools
import warnings

import torch
from torch.amp import autocast_mode as _new

__all__ = ["autocast", "custom_fwd", "custom_bwd"]


def _deprecated(old, new):
    warnings.warn(f"`torch.cuda.amp.{old}(args...)` is deprecated. Please use `torch.amp.{new}` "
                  "instead.", FutureWarning, stacklevel=3)


class autocast(_new.autocast):
    """Deprecated: ``torch.amp.autocast("cuda")``."""

    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        _deprecated("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def _cast(value, dtype):
    return _new._cast(value, "cuda", dtype)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """Deprecated: :func:`torch.amp.custom_fwd` with ``device_type="cuda"``."""
    _deprecated("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return functools.partial(_new.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd):
    """Deprecated: :func:`torch.amp.custom_bwd` with ``device_type="cuda"``."""
    _deprecated("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return _new.custom_bwd(bwd, device_type="cuda")
