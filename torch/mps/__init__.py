"""Apple's MPS, as a build without it answers: no devices; what needs one raises."""

__all__ = ["compile_shader", "device_count", "get_rng_state", "manual_seed", "seed",
           "set_rng_state", "synchronize", "empty_cache", "set_per_process_memory_fraction",
           "current_allocated_memory", "driver_allocated_memory", "Event", "profiler",
           "recommended_max_memory", "is_available"]


def is_available():
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Remembered for a device that is not there."""
    int(seed)


def _asking(name):
    def function(*args, **kwargs):
        raise RuntimeError(f"torch.mps.{name}: MPS is not available in this build")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Needs an MPS device: RuntimeError in this build."
    return function


for _name in ("compile_shader", "get_rng_state", "seed", "set_rng_state", "synchronize",
              "empty_cache", "set_per_process_memory_fraction", "current_allocated_memory",
              "driver_allocated_memory", "recommended_max_memory"):
    globals()[_name] = _asking(_name)
del _name


class Event:
    """A mark in the device's queue."""

    def __init__(self, enable_timing=False):
        raise RuntimeError("MPS is not available in this build")


def __getattr__(name):
    if name == "profiler":
        from importlib import import_module

        return import_module("torch.mps.profiler")
    raise AttributeError(f"module 'torch.mps' has no attribute {name!r}")
