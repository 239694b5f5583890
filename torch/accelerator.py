"""Accelerators in general: there is none in this build.

Questions are answered; what needs a device raises RuntimeError.
"""

from contextlib import AbstractContextManager

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream",
    "device_count", "device_index", "empty_cache", "is_available", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx",
    "set_device_index", "set_stream", "synchronize", "get_memory_info", "get_device_capability",
    "empty_host_cache", "Graph",
]


def _none(*args, **kwargs):
    raise RuntimeError("Cannot access accelerator device when none is available.")


def device_count():
    return 0


def is_available():
    return False


def current_accelerator(check_available=False):
    return None


def _asking(name):
    def function(*args, **kwargs):
        _none()

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Needs an accelerator: RuntimeError in this build."
    return function


for _name in ("current_device_index", "current_device_idx", "set_device_index", "set_device_idx",
              "current_stream", "set_stream", "synchronize", "get_memory_info",
              "get_device_capability"):
    globals()[_name] = _asking(_name)


def empty_cache():
    """Nothing to empty."""


def empty_host_cache():
    """Nothing to empty."""


def memory_stats(device_index=None, /):
    return {}


def memory_allocated(device_index=None, /):
    return 0


def max_memory_allocated(device_index=None, /):
    return 0


def memory_reserved(device_index=None, /):
    return 0


def max_memory_reserved(device_index=None, /):
    return 0


def reset_accumulated_memory_stats(device_index=None, /):
    """Nothing to reset."""


def reset_peak_memory_stats(device_index=None, /):
    """Nothing to reset."""


class device_index(AbstractContextManager):
    """Chooses a device inside a block; None chooses nothing."""

    def __init__(self, device, /):
        self.idx = device

    def __enter__(self):
        if self.idx is not None:
            _none()

    def __exit__(self, *exc):
        return False


class Graph:
    """A recorded sequence of work of an accelerator."""

    def __init__(self, *args, **kwargs):
        _none()


del _name
