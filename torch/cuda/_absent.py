"""Functions and classes of `torch.cuda` that need a device: they exist and raise when used."""

_FUNCTIONS = """
    can_device_access_peer clock_rate current_blas_handle current_device current_stream cudart
    check_error default_stream get_device_capability get_device_name get_device_properties
    get_rng_state get_stream_from_external get_sync_debug_mode initial_seed
    list_gpu_processes
    caching_allocator_alloc caching_allocator_delete caching_allocator_enable mem_get_info
    memory_snapshot memory_summary memory_usage power_draw reset_accumulated_memory_stats
    reset_max_memory_allocated reset_max_memory_cached seed seed_all set_device
    set_per_process_memory_fraction get_per_process_memory_fraction set_rng_state set_stream
    set_sync_debug_mode synchronize temperature utilization device_memory_used graph_pool_handle
    make_graphed_callables change_current_allocator get_allocator_backend use_mem_pool
    host_memory_stats host_memory_stats_as_nested_dict reset_accumulated_host_memory_stats
    reset_peak_host_memory_stats _sleep caching_allocator_disabled current_solver_handle
""".split()


def fill(namespace, refuse):
    """Puts the functions that are not there yet into a module; each calls `refuse`."""
    for name in _FUNCTIONS:
        if name in namespace:
            continue

        def function(*args, **kwargs):
            refuse()

        function.__name__ = function.__qualname__ = name
        function.__doc__ = "Needs a CUDA device: AssertionError in this build."
        function.__module__ = "torch.cuda"
        namespace[name] = function


def _refuse(self, *args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


class Stream:
    """A queue of work of a CUDA device."""

    __init__ = _refuse


class ExternalStream(Stream):
    """A stream that somebody else made."""


class Event:
    """A mark in a stream."""

    __init__ = _refuse


class CUDAGraph:
    """A recorded sequence of kernels."""

    __init__ = _refuse


class graph:
    """Records what a block does as a `CUDAGraph`."""

    __init__ = _refuse


class CUDAPluggableAllocator:
    """An allocator from a shared library."""

    __init__ = _refuse


class MemPool:
    """A pool of device memory."""

    __init__ = _refuse


class StreamContext:
    """Makes a stream the current one inside a block; None does nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            raise AssertionError("Torch not compiled with CUDA enabled")

    def __exit__(self, *exc):
        return False


for _class in (Stream, ExternalStream, Event, CUDAGraph, graph, CUDAPluggableAllocator, MemPool,
               StreamContext):
    _class.__module__ = "torch.cuda"

_dummies = {}


def dummy_type(name):
    """`torch.cuda.FloatTensor` and such: a class that cannot be instantiated."""
    if name not in _dummies:
        def refuse(cls, *args, **kwargs):
            raise RuntimeError(f"Tried to instantiate dummy base class {name}")

        _dummies[name] = type(name, (), {"__new__": refuse, "__module__": "torch.cuda"})
    return _dummies[name]
