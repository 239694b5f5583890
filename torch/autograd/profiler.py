"""Profiling of a block of code: :class:`profile`, and named regions in it.

:mod:`torch.profiler` adds schedules and handlers on top. The recorder is in the core.
"""
import functools
from warnings import warn

import torch
from torch import _C
from torch.autograd.profiler_util import (  # noqa: F401
    MEMORY_EVENT_NAME, OUT_OF_MEMORY_EVENT_NAME, DeviceType, EventList, FunctionEvent,
    MemRecordsAcc)

__all__ = ["profile", "record_function", "emit_itt", "emit_nvtx", "load_nvprof", "EnforceUnique",
           "parse_nvprof_trace", "KinetoStepTracker", "EventList", "FunctionEvent",
           "MemRecordsAcc"]

_is_profiler_enabled = False


def kineto_available():
    """Whether :mod:`torch.profiler` works: always; its recorder is part of the core."""
    return True


def _set_is_profiler_enabled(enable):
    global _is_profiler_enabled
    _is_profiler_enabled = enable


class profile:
    """Records the operators of a block: what ran, when, in what, and for how long.

    ::

        with torch.autograd.profiler.profile() as prof:
            loss = model(x).sum()
            loss.backward()
        print(prof.key_averages().table(sort_by="self_cpu_time_total"))

    Args:
        enabled: False makes the block an ordinary one.
        record_shapes: shapes of the inputs, too.
        profile_memory: memory taken and given back, too.
        with_stack: the Python stack of every call.
        with_flops: how many floating point operations products, convolutions, sums and products
            of elements did.
    """

    def __init__(self, enabled=True, *, use_device=None, record_shapes=False, with_flops=False,
                 profile_memory=False, with_stack=False, with_modules=False, use_kineto=False,
                 use_cpu=True, experimental_config=None, acc_events=False,
                 custom_trace_id_callback=None, post_processing_timeout_s=None,
                 activity_filters=None, _profiler_extensions=None):
        self.enabled = enabled
        if not enabled:
            return
        if use_device is not None:
            if use_device != "cuda" and not hasattr(torch, use_device):
                raise AssertionError(f"{use_device} is not a device that can be profiled")
            warn(f"{use_device} is not available, disabling {use_device} profiling", stacklevel=2)
            use_device = None
        self.use_device = use_device
        self.use_cpu = use_cpu
        self.acc_events = acc_events
        self.record_shapes = record_shapes
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.entered = False
        self.trace_id = ""
        self._recording = None         # of torch.autograd._profiler_record
        self._function_events = None
        self._old_function_events = None
        self._metadata = {}

    def _start_trace(self):
        self.entered = True
        _set_is_profiler_enabled(True)
        if self.use_cpu:
            _C._profiler_start(self.record_shapes, self.profile_memory, self.with_stack,
                               self.with_flops)

    def _prepare_trace(self):
        self.entered = True

    def _stop_trace(self):
        from torch.autograd._profiler_record import Recording

        _set_is_profiler_enabled(False)
        raw = _C._profiler_stop()
        if self.acc_events and self._function_events is not None:
            self._old_function_events = self._function_events
        self._function_events = None
        self._recording = None
        if raw is not None:
            self._recording = Recording(raw, self)

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start_trace()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not self.enabled:
            return None
        self._stop_trace()
        return False

    def _ensure_function_events(self):
        if self._function_events is not None:
            return
        events = EventList([], use_device=self.use_device, profile_memory=self.profile_memory,
                           with_flops=self.with_flops)
        if self._old_function_events:
            events.extend(self._old_function_events)
            self._old_function_events = None
        if self._recording is not None:
            events.extend(self._recording.function_events())
        events._tree_built = True
        self._function_events = events

    @property
    def function_events(self):
        """All events, as an :class:`EventList`."""
        if not self.entered:
            return None
        self._ensure_function_events()
        return self._function_events

    def _finished(self):
        if self.function_events is None:
            raise AssertionError("Expected profiling results")
        return self._function_events

    def __repr__(self):
        if not self.enabled or self.function_events is None:
            return "<unfinished torch.autograd.profile>"
        return repr(self.function_events)

    def __str__(self):
        if not self.enabled or self.function_events is None:
            return "<unfinished torch.autograd.profile>"
        return str(self.function_events)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75,
              max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False):
        return self._finished().table(
            sort_by=sort_by, row_limit=row_limit, max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width, header=header,
            top_level_events_only=top_level_events_only)

    table.__doc__ = EventList.table.__doc__

    def export_chrome_trace(self, path, metadata=None, use_python_export=False,
                            cuda_graph_annotations=None, graph_lanes="none", default_stream=7):
        """Writes a trace for ``chrome://tracing`` or Perfetto; compressed if the name ends in
        ``.gz``."""
        self._finished()
        if self._recording is None:
            raise RuntimeError("There is no trace to export")
        self._recording.export(path, {**self._metadata, **(metadata or {})})

    def export_stacks(self, path, metric="self_cpu_time_total"):
        events = self._finished()
        assert self.with_stack, "export_stacks() requires with_stack=True"
        return events.export_stacks(path, metric)

    export_stacks.__doc__ = EventList.export_stacks.__doc__

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0,
                     group_by_overload_name=False, include_python_functions=False):
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n,
                                             group_by_overload_name, include_python_functions)

    key_averages.__doc__ = EventList.key_averages.__doc__

    def total_average(self):
        return self._finished().total_average()

    total_average.__doc__ = EventList.total_average.__doc__

    @property
    def self_cpu_time_total(self):
        """Time spent on the CPU, in microseconds, each moment counted once."""
        return self._finished().self_cpu_time_total

    def toggle_collection_dynamic(self, enabled, activities):
        """Pauses and resumes the recording."""
        _C._profiler_pause(not enabled)


class record_function:
    """A named region, as context manager or decorator: an event around what runs inside."""

    def __init__(self, name, args=None):
        self.name = name
        self.args = args
        self.record = None

    def __enter__(self):
        self.record = _C._profiler_enter(self.name)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _C._profiler_leave(self.record)

    def __call__(self, func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            with record_function(self.name, self.args):
                return func(*args, **kwargs)

        return inner

    def _call_end_callbacks_on_future(self, fut):
        """Ends the region when the future is done, not when the block is."""
        record, self.record = self.record, -1

        def done(f):
            _C._profiler_leave(record)
            return f.value()

        return fut.then(done)


class emit_itt:
    """Marks operators for Intel's tools, where they are: nowhere, in this build."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            raise RuntimeError("ITT is not supported by this build of torch")
        return None

    def __exit__(self, exc_type, exc_val, exc_tb):
        return False


class emit_nvtx:
    """Marks operators for NVIDIA's tools: raises, since this build has no CUDA."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            torch.cuda.synchronize()
        return None

    def __exit__(self, exc_type, exc_val, exc_tb):
        return False


def load_nvprof(path):
    """Reads a trace of nvprof."""
    return EventList(parse_nvprof_trace(path))


def parse_nvprof_trace(path):
    raise NotImplementedError("torch.autograd.profiler.parse_nvprof_trace: nvprof traces are not "
                              "read; this build has no CUDA")


class EnforceUnique:
    """Raises when a key is seen twice."""

    def __init__(self):
        self.seen = set()

    def see(self, *key):
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class KinetoStepTracker:
    """One count of steps for several requesters: it follows the farthest."""

    _current_step = 0
    _step_dict = {}

    @classmethod
    def init_step_count(cls, requester):
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester):
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester):
        cls._step_dict[requester] = cls._step_dict.get(requester, cls._current_step) + 1
        cls._current_step = max(cls._current_step, max(cls._step_dict.values()))
        return cls._current_step

    @classmethod
    def current_step(cls):
        return cls._current_step
