"""From the core's records of a profile to events and to a chrome trace."""
import gzip
import json
import os
import socket
import sys
import uuid

from torch.autograd.profiler_util import (
    MEMORY_EVENT_NAME, EventList, FunctionEvent, _rewrite_name)

_OPERATOR, _BACKWARD, _USER = range(3)
_SCOPES = {_OPERATOR: 0, _BACKWARD: 1, _USER: 7}
_PREFIX = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class _Raw:
    """One record; names instead of positions."""

    __slots__ = ("name", "kind", "start", "end", "thread", "forward_thread", "sequence_nr",
                 "parent", "inputs", "stack", "memory")

    def __init__(self, fields, stop):
        (self.name, self.kind, self.start, self.end, self.thread, self.forward_thread,
         self.sequence_nr, self.parent, self.inputs, stack) = fields
        self.end = self.end or stop   # still open when the recording stopped
        self.memory = 0
        self.stack = [s for s in map(_short_path, stack) if not _own_frame(s)]


def _short_path(entry):
    return entry[len(_PREFIX):] if entry.startswith(_PREFIX) else entry


def _own_frame(entry):
    return entry.startswith(("torch/autograd/profiler.py", "torch/profiler/profiler.py"))


def _shape(entry):
    return entry[1]


def _elements(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def _product_flops(inputs):
    a, b = inputs[0][1], inputs[1][1]
    if len(a) < 2 or len(b) < 2:
        return 0
    return 2 * _elements(a) * b[-1]


def _conv_flops(inputs):
    x, w = inputs[0][1], inputs[1][1]
    spatial = len(w) - 2
    if len(x) != len(w):
        return 0

    def per_dim(index, default):
        v = inputs[index][3] if len(inputs) > index else default
        v = [v] if isinstance(v, int) else list(v or [default])
        return v * spatial if len(v) == 1 else v

    stride, padding, dilation = per_dim(3, 1), per_dim(4, 0), per_dim(5, 1)
    if any(not isinstance(p, int) for p in padding):
        return 0
    out = 1
    for d in range(spatial):
        reach = dilation[d] * (w[2 + d] - 1)
        out *= (x[2 + d] + 2 * padding[d] - reach - 1) // stride[d] + 1
    return 2 * x[0] * out * _elements(w)


_FLOPS = {
    "aten::mm": _product_flops,
    "aten::bmm": _product_flops,
    "aten::addmm": lambda inputs: _product_flops(inputs[1:]),
    "aten::baddbmm": lambda inputs: _product_flops(inputs[1:]),
    "aten::linear": lambda inputs: 2 * _elements(inputs[0][1]) * inputs[1][1][0],
    "aten::conv1d": _conv_flops,
    "aten::conv2d": _conv_flops,
    "aten::conv3d": _conv_flops,
    "aten::add": lambda inputs: _elements(inputs[0][1]),
    "aten::mul": lambda inputs: _elements(inputs[0][1]),
}


def _flops(raw):
    rule = _FLOPS.get(raw.name)
    if rule is None or len(raw.inputs) < 2 or not raw.inputs[0][0]:
        return 0
    return rule(raw.inputs)


class Recording:
    """What one recording of :class:`torch.autograd.profiler.profile` holds."""

    def __init__(self, raw, options):
        self.start, self.stop, events, memory = raw
        self.options = options
        self.saved = False
        self.events = [_Raw(e, self.stop) for e in events]
        self.memory = memory
        self._threads = {}
        for e in self.events:
            self._threads.setdefault(e.thread, len(self._threads) + 1)
        self._sum_memory()

    def _sum_memory(self):
        self.loose = []
        for record in self.memory:
            at, size = record[5], record[1]
            if at < 0:
                self.loose.append(record)
            while at >= 0:
                self.events[at].memory += size
                at = self.events[at].parent

    def _us(self, ns):
        return (ns - self.start) / 1000.0

    def function_events(self):
        """The events with their tree."""
        made = []
        with_flops, shapes = self.options.with_flops, self.options.record_shapes
        for i, e in enumerate(self.events):
            made.append(FunctionEvent(
                id=i + 1, name=_rewrite_name(e.name, with_wildcard=True), trace_name=e.name,
                thread=self._threads[e.thread], start_us=self._us(e.start),
                end_us=self._us(e.end), overload_name="",
                fwd_thread=self._threads.get(e.forward_thread, 0),
                input_shapes=[_shape(x) for x in e.inputs] if shapes else [],
                concrete_inputs=[x[3] for x in e.inputs] if shapes else [], kwinputs={},
                stack=list(e.stack), scope=_SCOPES[e.kind],
                use_device=self.options.use_device, cpu_memory_usage=e.memory,
                sequence_nr=e.sequence_nr, flops=_flops(e) if with_flops else 0,
                is_user_annotation=e.kind == _USER))
        for event, raw in zip(made, self.events):
            if raw.parent >= 0:
                parent = made[raw.parent]
                parent.append_cpu_child(event)
                event.set_cpu_parent(parent)
        for record in self.loose:
            at = self._us(record[0])
            made.append(FunctionEvent(
                id=len(made) + 1, name=MEMORY_EVENT_NAME, thread=self._threads.get(record[4], 1),
                start_us=at, end_us=at, overload_name="", fwd_thread=0, input_shapes=[], stack=[],
                scope=0, use_device=self.options.use_device, cpu_memory_usage=record[1], flops=0))
        EventList(made)._set_backward_stacktraces()
        return made

    # ---- chrome trace
    def export(self, path, metadata):
        """Writes the trace, once."""
        if self.saved:
            raise RuntimeError("Trace is already saved.")
        path = os.fspath(path)
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "wt", encoding="utf-8") as f:
            json.dump(self.chrome(path, metadata), f)
        self.saved = True

    def chrome(self, path, metadata):
        base = self.start // 10**15 * 10**15
        pid = os.getpid()
        out = {"schemaVersion": 1, "deviceProperties": [],
               "trace_id": uuid.uuid4().hex.upper(), **metadata}
        if self.options.profile_memory:
            out["profile_memory"] = 1
        if self.options.record_shapes:
            out["record_shapes"] = 1
        if self.options.with_stack:
            out["with_stack"] = 1
        if self.options.with_flops:
            out["with_flops"] = 1
        rows = self._process_rows(pid, base)
        rows += [self._row(i, e, pid, base) for i, e in enumerate(self.events)]
        rows += self._flow_rows(pid, base)
        rows += [self._memory_row(m, pid, base) for m in self.memory]
        out.update(host_name=socket.gethostname(), displayTimeUnit="ms", baseTimeNanoseconds=base,
                   traceEvents=rows, traceName=path)
        return out

    def _process_rows(self, pid, base):
        at = (self.start - base) / 1000.0

        def row(title, tid, **args):
            return {"ph": "M", "name": title, "ts": at, "pid": pid, "tid": tid, "args": args}

        rows = [row("process_name", 0, name=os.path.basename(sys.executable or "python")),
                row("process_labels", 0, labels="CPU"),
                row("process_sort_index", 0, sort_index=pid)]
        for tid in self._threads:
            rows += [row("thread_name", tid, name=f"thread {tid} (python)"),
                     row("thread_sort_index", tid, sort_index=tid)]
        rows.append({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
                     "tid": "PyTorch Profiler", "ts": at, "dur": (self.stop - self.start) / 1000.0,
                     "args": {"Op count": 0}})
        rows.append({"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler",
                     "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": at})
        rows.append({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "",
                     "ts": (self.stop - base) / 1000.0})
        return rows

    def _row(self, index, e, pid, base):
        args = {"External id": index + 1, "Record function id": 0}
        if e.sequence_nr >= 0:
            args["Sequence number"] = e.sequence_nr
            args["Fwd thread id"] = self._threads.get(e.forward_thread, 0)
        if e.inputs and self.options.record_shapes:
            args["Concrete Inputs"] = ["" if x[3] is None else str(x[3]) for x in e.inputs]
            args["Input type"] = [x[0] for x in e.inputs]
            args["Input Strides"] = [x[2] for x in e.inputs]
            args["Input Dims"] = [x[1] for x in e.inputs]
        if e.stack:
            args["Call stack"] = ";".join(e.stack)
        args["Ev Idx"] = index
        return {"ph": "X", "cat": "user_annotation" if e.kind == _USER else "cpu_op",
                "name": e.name, "pid": pid, "tid": e.thread, "ts": (e.start - base) / 1000.0,
                "dur": (e.end - e.start) / 1000.0, "args": args}

    def _flow_rows(self, pid, base):
        """Arrows from the forward calls to their backward nodes."""
        forward, rows = {}, []
        for e in self.events:
            if e.kind == _OPERATOR and not e.forward_thread and e.sequence_nr >= 0:
                forward[e.thread, e.sequence_nr] = e     # the innermost call of that number
        for e in self.events:
            made = forward.get((e.forward_thread, e.sequence_nr))
            if e.kind != _BACKWARD or made is None:
                continue
            flow = len(rows) // 2 + 1
            for kind, end in (("s", made), ("f", e)):
                rows.append({"ph": kind, "id": flow, "pid": pid, "tid": end.thread,
                             "ts": (end.start - base) / 1000.0, "cat": "fwdbwd",
                             "name": "fwdbwd"})
            rows[-1]["bp"] = "e"
        return rows

    def _memory_row(self, record, pid, base):
        time, size, total, address, thread, _ = record
        return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": MEMORY_EVENT_NAME,
                "pid": pid, "tid": thread, "ts": (time - base) / 1000.0,
                "args": {"Total Reserved": 0, "Total Allocated": total, "Bytes": size,
                         "Device Id": -1, "Device Type": 0, "Addr": address}}
