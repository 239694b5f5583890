"""CUDA, as a build without it answers: no devices; what needs one raises."""

import torch
from torch.cuda import _absent
from torch.cuda._absent import (  # noqa: F401
    CUDAGraph,
    CUDAPluggableAllocator,
    Event,
    ExternalStream,
    MemPool,
    Stream,
    StreamContext,
    graph,
)

has_magma = has_half = False
default_generators = ()
_initialized = False


def is_available():
    """False: this build has no CUDA."""
    return False


def is_initialized():
    return False


def _is_compiled():
    return False


def _is_in_bad_fork():
    return False


def device_count():
    return 0


def is_bf16_supported(including_emulation=True):
    return False


def is_tf32_supported():
    return False


def is_current_stream_capturing():
    return False


def _lazy_init():
    raise AssertionError("Torch not compiled with CUDA enabled")


def init():
    """Raises: there is nothing to initialise."""
    _lazy_init()


def _lazy_call(callable, **kwargs):
    """Work queued for the day CUDA starts, which does not come in this process."""


class device:
    """Chooses a device inside a block; a device of None or a negative index chooses nothing."""

    def __init__(self, device):
        self.idx = -1 if device is None else torch._utils._get_device_index(device, optional=True)

    def __enter__(self):
        if self.idx is not None and self.idx >= 0:
            _lazy_init()

    def __exit__(self, type, value, traceback):
        return False


class CudaError(RuntimeError):
    """An error code of CUDA's runtime."""


class DeferredCudaCallError(Exception):
    """An error in work that was queued for the start of CUDA."""


class device_of(device):
    """The device of a tensor, if it is a CUDA tensor."""

    def __init__(self, obj):
        self.idx = obj.get_device() if obj.is_cuda else -1


def stream(stream):
    return StreamContext(stream)


# ---------------------------------------------------------------- random numbers: seeds are kept


def manual_seed(seed):
    """Remembered for devices that are not there."""
    int(seed)


def manual_seed_all(seed):
    """Remembered for devices that are not there."""
    int(seed)


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    for state in new_states:
        set_rng_state(state)  # noqa: F821  (an absent function: it raises)


# ---------------------------------------------------------------- memory: none is in use


def empty_cache():
    """Nothing to empty."""


def ipc_collect():
    """Nothing to collect."""


def memory_allocated(device=None):
    return 0


def max_memory_allocated(device=None):
    return 0


def memory_reserved(device=None):
    return 0


def max_memory_reserved(device=None):
    return 0


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def memory_stats(device=None):
    return {}


def memory_stats_as_nested_dict(device=None):
    return {}


def reset_peak_memory_stats(device=None):
    _lazy_init()


def get_arch_list():
    return []


def get_gencode_flags():
    return ""


_absent.fill(globals(), _lazy_init)

_MODULES = frozenset("amp nvtx random memory streams graphs profiler sparse comm nccl".split())


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        try:
            return import_module(f"torch.cuda.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"torch.cuda.{name}":
                raise
    if name == "OutOfMemoryError":
        return torch.OutOfMemoryError
    if name == "AcceleratorError":
        return torch.AcceleratorError
    if name.endswith(("Tensor", "Storage")) and not name.startswith("_"):
        return _absent.dummy_type(name)
    raise AttributeError(f"module 'torch.cuda' has no attribute {name!r}")
