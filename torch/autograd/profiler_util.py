"""What a profiler recorded, as events in a tree, averages of them, and tables.

The events come from the recorder in the core by way of :mod:`torch.autograd.profiler`.
"""
import bisect
import json
from collections import defaultdict, namedtuple
from enum import Enum
from operator import attrgetter

__all__ = ["EventList", "FormattedTimesMixin", "Interval", "Kernel", "FunctionEvent",
           "FunctionEventAvg", "StringTable", "MemRecordsAcc", "DeviceType"]

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"
_BACKWARD_SCOPE = 1

Kernel = namedtuple("Kernel", ["name", "device", "duration"])


class DeviceType(Enum):
    """Where an event ran."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    MTIA = 19
    PrivateUse1 = 20

    def __str__(self):
        return f"DeviceType.{self.name}"


def _format_time(time_us):
    """``"1.500ms"`` of microseconds."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


def _format_time_in(time_us, unit):
    scale = {"us": 1.0, "ms": 1e3, "s": 1e6}[unit]
    return f"{time_us / scale:.3f}{unit}"


def _format_time_share(time_us, total_time_us):
    if total_time_us == 0:
        return "NaN"
    return f"{time_us * 100.0 / total_time_us:.2f}%"


def _format_memory(nbytes):
    """``"1.50 KB"`` of bytes."""
    for exponent, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if abs(nbytes) >= 1 << exponent:
            return f"{nbytes / (1 << exponent):.2f} {unit}"
    return f"{nbytes} B"


def _rewrite_name(name, with_wildcard=False):
    """Names as tables show them; with wildcards, the steps of a profile are one."""
    if with_wildcard and name.startswith("ProfilerStep#"):
        return "ProfilerStep*"
    return name


class StringTable(defaultdict):
    """Names by mangled name: nothing is mangled here."""

    def __missing__(self, key):
        self[key] = key
        return key


class Interval:
    """From `start` to `end`, in microseconds."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        return self.end - self.start


class MemRecordsAcc:
    """Memory records by time."""

    def __init__(self, mem_records):
        self._mem_records = mem_records
        order = sorted((r[0].start_ns(), i) for i, r in enumerate(mem_records))
        self._start_nses = [t for t, _ in order]
        self._indices = [i for _, i in order]

    def in_interval(self, start_ns, end_ns):
        """The records between the two times."""
        first = bisect.bisect_left(self._start_nses, start_ns)
        last = bisect.bisect_right(self._start_nses, end_ns)
        for i in range(first, last):
            yield self._mem_records[self._indices[i]]


def _formatted(name):
    return property(lambda self: _format_time(getattr(self, name)))


def _deprecated(old, new):
    def get(self):
        import warnings
        warnings.warn(f"`{old}` is deprecated, please use `{new}` instead.", FutureWarning,
                      stacklevel=2)
        return getattr(self, new)
    return property(get)


class FormattedTimesMixin:
    """Averages, and times as text."""

    cpu_time_str = _formatted("cpu_time")
    device_time_str = _formatted("device_time")
    cpu_time_total_str = _formatted("cpu_time_total")
    device_time_total_str = _formatted("device_time_total")
    self_cpu_time_total_str = _formatted("self_cpu_time_total")
    self_device_time_total_str = _formatted("self_device_time_total")
    cuda_time = _deprecated("cuda_time", "device_time")

    @property
    def cpu_time(self):
        return 0.0 if self.count == 0 else 1.0 * self.cpu_time_total / self.count

    @property
    def device_time(self):
        return 0.0 if self.count == 0 else 1.0 * self.device_time_total / self.count


class FunctionEvent(FormattedTimesMixin):
    """One call: of an operator, a backward node, or a region of the user's."""

    def __init__(self, id, name, thread, start_us, end_us, overload_name=None, fwd_thread=None,
                 input_shapes=None, stack=None, scope=0, use_device=None, cpu_memory_usage=0,
                 device_memory_usage=0, is_async=False, is_remote=False, sequence_nr=-1,
                 node_id=-1, device_type=DeviceType.CPU, device_index=0, device_resource_id=None,
                 is_legacy=False, flops=None, trace_name=None, concrete_inputs=None,
                 kwinputs=None, is_user_annotation=False, is_python_function=False,
                 activity_type=None, flow_id=None, flow_type=None, flow_start=None, external_id=0,
                 linked_correlation_id=0, extra_meta=None, structured_input_shapes=None,
                 structured_input_strides=None, input_dtypes=None, python_id=-1,
                 python_parent_id=-1, python_module_id=-1, typed_metadata=None):
        for key, value in locals().items():
            if key not in ("self", "start_us", "end_us", "extra_meta", "typed_metadata"):
                setattr(self, key, value)
        self.time_range = Interval(start_us, end_us)
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.metadata = extra_meta
        self.kernels = []
        self.count = 1
        self.cpu_children = []
        self.cpu_parent = None
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1

    def append_kernel(self, name, device, duration):
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child):
        """`child` ran inside this event, on the CPU."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    @property
    def key(self):
        return self.name

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us() if self.device_type is DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self):
        if self.is_async or self.device_type is not DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        if self.is_async or self.device_type is not DeviceType.CPU:
            return 0
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    @property
    def self_device_memory_usage(self):
        if self.is_async or self.device_type is not DeviceType.CPU:
            return 0
        return self.device_memory_usage - sum(c.device_memory_usage for c in self.cpu_children)

    @property
    def device_time_total(self):
        return sum(k.duration for k in self.kernels)

    @property
    def self_device_time_total(self):
        return self.device_time_total - sum(c.device_time_total for c in self.cpu_children)

    cuda_time_total = _deprecated("cuda_time_total", "device_time_total")
    self_cuda_memory_usage = _deprecated("self_cuda_memory_usage", "self_device_memory_usage")
    self_cuda_time_total = _deprecated("self_cuda_time_total", "self_device_time_total")

    def __repr__(self):
        device = self.use_device
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
                f"device_type={self.device_type} node_id={self.node_id} "
                f"cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
                f"end_us={self.time_range.end} "
                f"cpu_children={[c.id for c in self.cpu_children]} "
                f"{device}_time={self.device_time_str} name={self.name} thread={self.thread} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage} is_async={self.is_async} "
                f"is_remote={self.is_remote} seq_nr={self.sequence_nr} "
                f"is_legacy={self.is_legacy}>")


class FunctionEventAvg(FormattedTimesMixin):
    """Sums over calls of one kind; ``avg += event`` adds one."""

    def __init__(self):
        self.key = None
        self.count = 0
        self.node_id = 0
        self.is_async = self.is_remote = self.is_legacy = self.is_user_annotation = False
        self.use_device = None
        self.cpu_time_total = self.device_time_total = 0
        self.self_cpu_time_total = self.self_device_time_total = 0
        self.input_shapes = self.stack = self.scope = None
        self.overload_name = None
        self.cpu_memory_usage = self.device_memory_usage = 0
        self.self_cpu_memory_usage = self.self_device_memory_usage = 0
        self.cpu_children = self.cpu_parent = None
        self.device_type = DeviceType.CPU
        self.flops = 0

    def add(self, other):
        """Adds a call, or another sum of the same kind."""
        if self.key is None:
            self.key = other.key
            self.node_id = other.node_id
            for name in ("is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name",
                         "input_shapes", "stack", "scope", "device_type", "is_legacy",
                         "use_device", "is_user_annotation"):
                setattr(self, name, getattr(other, name))
        assert isinstance(other, (FunctionEvent, FunctionEventAvg)) and other.key == self.key
        for name in ("cpu_time_total", "device_time_total", "self_cpu_time_total",
                     "self_device_time_total", "cpu_memory_usage", "device_memory_usage",
                     "self_cpu_memory_usage", "self_device_memory_usage", "count"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.flops is None:
            self.flops = other.flops
        elif other.flops is not None:
            self.flops += other.flops
        return self

    def __iadd__(self, other):
        return self.add(other)

    def __repr__(self):
        device = self.use_device or "cuda"
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  "
                f"self_{device}_time={self.self_device_time_total_str} "
                f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage}>")


class EventList(list):
    """Events in the order in which they began, with tables and averages of them."""

    def __init__(self, *args, **kwargs):
        self._use_device = kwargs.pop("use_device", None)
        self._profile_memory = kwargs.pop("profile_memory", False)
        self._with_flops = kwargs.pop("with_flops", False)
        super().__init__(*args, **kwargs)
        self._tree_built = False

    def _build_tree(self):
        self._populate_cpu_children()
        self._set_backward_stacktraces()
        self._tree_built = True

    def _populate_cpu_children(self):
        """Finds for each event the innermost one around it on its thread."""
        by_thread = defaultdict(list)
        for e in self:
            if not e.is_async and e.device_type is DeviceType.CPU:
                by_thread[e.thread, e.node_id].append(e)
        for events in by_thread.values():
            open_events = []
            for e in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                while open_events and (e.time_range.start >= open_events[-1].time_range.end
                                       or e.time_range.end > open_events[-1].time_range.end):
                    open_events.pop()
                if open_events and e.cpu_parent is None:
                    open_events[-1].append_cpu_child(e)
                    e.set_cpu_parent(open_events[-1])
                open_events.append(e)

    def _set_backward_stacktraces(self):
        """A backward node gets the stack of the forward call that made it."""
        forward = {}
        for e in self:
            if e.stack and e.scope != _BACKWARD_SCOPE and e.sequence_nr >= 0:
                forward.setdefault((e.sequence_nr, e.thread), e.stack)
        for e in self:
            if e.scope == _BACKWARD_SCOPE:
                e.stack = forward.get((e.sequence_nr, e.fwd_thread), [])

    @property
    def self_cpu_time_total(self):
        return sum(e.self_cpu_time_total for e in self)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75,
              max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, time_unit=None):
        """The events as a text table.

        Args:
            sort_by: an attribute, largest first: ``cpu_time_total``, ``self_cpu_time_total``,
                ``cpu_time``, ``count``, ``cpu_memory_usage``, ``self_cpu_memory_usage``, ...
            row_limit: how many rows; -1 for all.
            time_unit: ``"us"``, ``"ms"`` or ``"s"`` for all times; default what suits each.
        """
        from torch.autograd import _profiler_table

        return _profiler_table.build(
            self, sort_by=sort_by, header=header, row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width, with_flops=self._with_flops,
            profile_memory=self._profile_memory, top_level_events_only=top_level_events_only,
            time_unit=time_unit)

    def __str__(self):
        return self.table()

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0,
                     group_by_overload_name=False, include_python_functions=False):
        """Sums over the calls of each name, and of each set of input shapes or each stack (its
        innermost n entries) if asked."""
        assert self._tree_built
        groups = {}
        for e in self:
            if e.is_python_function and not include_python_functions:
                continue
            key = [str(e.key), str(e.node_id), str(e.device_type), str(e.is_legacy),
                   str(e.is_user_annotation)]
            if group_by_overload_name:
                key.append(e.overload_name)
            if group_by_input_shapes:
                key.append(str(e.input_shapes))
            if group_by_stack_n > 0:
                key += e.stack[:group_by_stack_n]
            groups.setdefault(tuple(key), FunctionEventAvg()).add(e)
        averages = EventList(groups.values(), use_device=self._use_device,
                             profile_memory=self._profile_memory, with_flops=self._with_flops)
        for a in averages:
            a.stack = a.stack[:group_by_stack_n] if a.stack else []
            if not group_by_input_shapes:
                a.input_shapes = ""
            if not group_by_overload_name:
                a.overload_name = ""
        return averages

    def total_average(self):
        """One sum over all events."""
        total = FunctionEventAvg()
        for e in self:
            total += e
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path):
        """Writes the events for ``chrome://tracing`` or Perfetto."""
        rows = []
        for e in self:
            if e.trace_name is None and e.name is None:
                continue
            rows.append({"name": e.trace_name or e.name, "ph": "X", "ts": e.time_range.start,
                         "dur": e.time_range.elapsed_us(),
                         "tid": e.thread if not e.is_remote else f"node_id:{e.node_id}",
                         "pid": "CPU functions", "args": {}})
        with open(path, "w", encoding="utf-8") as f:
            json.dump(rows, f)

    def supported_export_stacks_metrics(self):
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
                "self_privateuse1_time_total"]

    def export_stacks(self, path, metric):
        """Writes one line per stack, outermost first, and its time: what flame graphs are made
        of."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: "
                             + str(self.supported_export_stacks_metrics()))
        attribute = metric.replace("cuda", "device").replace("xpu", "device").replace(
            "privateuse1", "device")
        remove = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as f:
            for e in self:
                value = getattr(e, attribute)
                if e.stack and int(value) > 0:
                    stack = ";".join(s.translate(remove) for s in reversed(e.stack))
                    f.write(f"{stack} {int(value)}\n")


def _build_table(events, **options):
    from torch.autograd import _profiler_table

    return _profiler_table.build(events, **options)


def _sorted_by(events, attribute):
    return sorted(events, key=attrgetter(attribute), reverse=True)
