"""The CPU as a device: what accelerators' modules offer, for code that suits any device."""

from contextlib import AbstractContextManager

from torch import _C

__all__ = [
    "is_available", "is_initialized", "synchronize", "current_device", "current_stream", "stream",
    "set_device", "device_count", "Stream", "StreamContext", "Event", "get_capabilities",
]


class Stream:
    """The CPU does its work at once: there is nothing to queue."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        pass

    def record_event(self):
        return Event()

    def wait_event(self, event):
        event.wait()


class Event:
    """A mark in a stream."""

    def query(self):
        return True

    def record(self, stream=None):
        pass

    def synchronize(self):
        pass

    def wait(self, stream=None):
        pass


_stream = Stream()


def is_available():
    return True


def is_initialized():
    return True


def synchronize(device=None):
    """Waits for the device: nothing to wait for."""


def current_stream(device=None):
    return _stream


class StreamContext(AbstractContextManager):
    """Makes a stream the current one inside a block."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        global _stream
        self._saved = _stream
        if self.stream is not None:
            _stream = self.stream

    def __exit__(self, *exc):
        global _stream
        _stream = self._saved


def stream(stream):
    return StreamContext(stream)


def device_count():
    return 1


def set_device(device):
    """There is one CPU device."""


def current_device():
    return "cpu"


def _flags():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def get_capabilities():
    """What the processor offers, by names of instruction sets."""
    import platform

    flags = _flags()
    names = ("sse2", "ssse3", "sse4_1", "sse4_2", "avx", "avx2", "avx512f", "avx512bw", "avx512vl",
             "avx512_bf16", "avx512_vnni", "amx_tile", "amx_bf16", "fma", "f16c")
    out = {n: n in flags for n in names}
    out["architecture"] = platform.machine()
    return out


def _is_avx2_supported():
    return "avx2" in _flags()


def _is_avx512_supported():
    return {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= _flags()


def _is_avx512_bf16_supported():
    return "avx512_bf16" in _flags()


def _is_vnni_supported():
    return "avx512_vnni" in _flags()


def _is_amx_tile_supported():
    return "amx_tile" in _flags()


def _is_amx_fp16_supported():
    return "amx_fp16" in _flags()


# ---------------------------------------------------------------- memory of the caching allocator


def memory_stats(device=None):
    """Bytes: ``allocated``, ``reserved``, ``peak_allocated``, ``peak_reserved``; ``num_allocs``."""
    return _C._cpu_allocator_stats()


def memory_allocated(device=None):
    return _C._cpu_allocator_stats()["allocated"]


def max_memory_allocated(device=None):
    return _C._cpu_allocator_stats()["peak_allocated"]


def memory_reserved(device=None):
    return _C._cpu_allocator_stats()["reserved"]


def max_memory_reserved(device=None):
    return _C._cpu_allocator_stats()["peak_reserved"]


def reset_peak_memory_stats(device=None):
    """Peaks start anew from the present use."""
    _C._cpu_allocator_reset_peak()


def empty_cache():
    """Returns memory that no tensor uses to the system."""
    _C._cpu_empty_cache()


def __getattr__(name):
    if name == "amp":
        from importlib import import_module

        return import_module("torch.cpu.amp")
    raise AttributeError(f"module 'torch.cpu' has no attribute {name!r}")
