"""Regions in which operators choose their element type; the rules are in the core."""
import functools
import warnings
from collections import abc

import torch
from torch import _C

__all__ = ["autocast_decorator", "autocast", "is_autocast_available", "custom_fwd", "custom_bwd"]

_CPU_DTYPES = (torch.bfloat16, torch.float16)


def is_autocast_available(device_type):
    """Whether autocast knows this type of device."""
    return _C._is_autocast_available(device_type)


def autocast_decorator(autocast_instance, func):
    """`func`, every call of which runs inside the region."""

    @functools.wraps(func)
    def decorate_autocast(*args, **kwargs):
        with autocast_instance:
            return func(*args, **kwargs)

    decorate_autocast.__script_unsupported = "@autocast() decorator is not supported in script mode"
    return decorate_autocast


class autocast:
    """A region, as context manager or decorator, in which operators run in the precision that
    suits them.

    Matrix products and convolutions compute in `dtype` (CPU: bfloat16, the default, or float16),
    operators that need the range or the accuracy in float32, and :func:`torch.cat`,
    :func:`torch.stack` and :func:`torch.index_copy` in the widest type of their arguments; all
    others take their arguments as they come. float64 is never cast. A parameter is cast once in a
    region unless ``cache_enabled=False``. Regions nest, ``enabled=False`` ends one for a while.

    Args:
        device_type: ``"cpu"``; ``"cuda"`` is accepted and disabled where there is none.
        dtype: the low precision; default :func:`torch.get_autocast_dtype` of the device.
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(
                f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        torch.device(device_type)
        self.fast_dtype = torch.get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        self.custom_backend_name = "privateuseone"
        self._cache_enabled = (torch.is_autocast_cache_enabled() if cache_enabled is None
                               else cache_enabled)
        self._enabled = enabled and self._supported()

    def _supported(self):
        if self.device == "cuda" and not torch.cuda.is_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.",
                          stacklevel=3)
            return False
        if self.device == "cpu" and self.fast_dtype not in _CPU_DTYPES:
            names = ", ".join(str(d) for d in _CPU_DTYPES)
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling "
                          f"autocast.\nCPU Autocast only supports dtypes of {names} currently.",
                          stacklevel=3)
            return False
        return True

    def __enter__(self):
        self.prev_cache_enabled = torch.is_autocast_cache_enabled()
        self.prev = torch.is_autocast_enabled(self.device)
        self.prev_fastdtype = torch.get_autocast_dtype(self.device)
        torch.set_autocast_enabled(self.device, self._enabled)
        torch.set_autocast_dtype(self.device, self.fast_dtype)
        torch.autocast_increment_nesting()
        torch.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()
        torch.set_autocast_enabled(self.device, self.prev)
        torch.set_autocast_dtype(self.device, self.prev_fastdtype)
        torch.set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, func):
        return autocast_decorator(self, func)


def _enter_autocast(*vals):
    """Enters a region that :func:`_exit_autocast` leaves; for code that cannot use ``with``."""
    mode = autocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode):
    mode.__exit__(None, None, None)


def _castable(value, device_type):
    return (value.is_floating_point() and value.device.type == device_type
            and value.dtype is not torch.float64)


def _cast(value, device_type, dtype):
    """Floating tensors of the device, in containers of any depth, as `dtype`; float64 stays."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if _castable(value, device_type) else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, abc.Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype)
                for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        made = [_cast(v, device_type, dtype) for v in value]
        if hasattr(value, "_fields"):
            return type(value)(*made)
        return type(value)(made)
    if isinstance(value, abc.Iterable):
        import numpy
        if isinstance(value, numpy.ndarray):
            return value
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def _check_device_type(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For ``forward`` of a :class:`torch.autograd.Function`: remembers the region for ``backward``
    (see :func:`custom_bwd`).

    With `cast_inputs`, floating tensors of the device arrive in that type when the call is made
    inside a region, and ``forward`` runs outside of it.
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        ctx = args[0]
        ctx._dtype = torch.get_autocast_dtype(device_type)
        inside = torch.is_autocast_enabled(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = inside
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        if not inside:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs),
                       **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    """For ``backward`` of a :class:`torch.autograd.Function`: it runs in the region that
    ``forward``, decorated with :func:`custom_fwd`, ran in."""
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast,
                      dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
