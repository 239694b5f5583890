"""`with torch.device(...)` and `torch.set_default_device`: a mode that gives factories a device."""

import functools

import torch
from torch.overrides import TorchFunctionMode, _pop_mode, _push_mode

_CONSTRUCTORS = None
_default = None  # the mode that set_default_device installed
_entered = []    # modes of `with torch.device(...)`, innermost last


def _device_constructors():
    """The factories that take `device=`."""
    global _CONSTRUCTORS
    if _CONSTRUCTORS is None:
        names = (
            "empty empty_permuted empty_strided empty_quantized ones arange bartlett_window "
            "blackman_window eye fft.fftfreq fft.rfftfreq full hamming_window hann_window "
            "kaiser_window linspace logspace nested.nested_tensor rand randn randint randperm "
            "range sparse_coo_tensor sparse_compressed_tensor sparse_csr_tensor sparse_csc_tensor "
            "sparse_bsr_tensor sparse_bsc_tensor tril_indices triu_indices zeros asarray tensor "
            "as_tensor scalar_tensor"
        )
        found = set()
        for name in names.split():
            value = torch
            for part in name.split("."):
                value = getattr(value, part, None)
                if value is None:
                    break
            if value is not None:
                found.add(value)
        _CONSTRUCTORS = found
    return _CONSTRUCTORS


class DeviceContext(TorchFunctionMode):
    """Adds ``device=`` to factory calls that do not say one."""

    def __init__(self, device):
        self.device = torch.device(device)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


def _current():
    if _entered:
        return _entered[-1]
    return _default


def _enter_device(device):
    mode = DeviceContext(device)
    _entered.append(mode)
    _push_mode(mode)
    return device


def _exit_device(device, exc_type=None, exc_value=None, traceback=None):
    _entered.pop()
    _pop_mode()


def _set_default(device):
    """The outermost mode of the stack stands for the default device."""
    global _default
    held = []
    while torch._C._len_torch_function_stack():
        held.append(_pop_mode())
    held = [m for m in held if m is not _default]
    _default = None if device is None else DeviceContext(device)
    if _default is not None:
        _push_mode(_default)
    for mode in reversed(held):
        _push_mode(mode)


def _decorate_with_device(device, func):
    return device_decorator(device, func)


def device_decorator(device, func):
    """`func` with factories on `device`."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        with torch.device(device):
            return func(*args, **kwargs)

    return wrapped


def set_device(device):
    """A decorator: the function's factories work on `device`."""
    return lambda func: device_decorator(torch.device(device), func)
