"""torch.profiler and torch.autograd.profiler: events, tables, traces, schedules. Layouts of tables
were recorded from PyTorch 2.15."""
import gzip
import json

import pytest
import torch
from torch.autograd import profiler_util
from torch.profiler import ProfilerAction, profile, record_function, schedule


def names(p):
    return [e.name for e in p.events()]


def named(p, name):
    return next(e for e in p.events() if e.name == name)


def test_events_form_a_tree():
    x, linear = torch.randn(4, 8), torch.nn.Linear(8, 3)
    with profile(record_shapes=True, profile_memory=True) as p:
        with record_function("region"):
            y = linear(x).relu().sum()
        y.backward()
    region, outer, inner = named(p, "region"), named(p, "aten::linear"), named(p, "aten::addmm")
    assert outer.cpu_parent is region and inner.cpu_parent is outer
    assert region.scope == 7 and inner.scope == 0
    assert inner.input_shapes == [[3], [4, 8], [8, 3], [], []]
    node = named(p, "AddmmBackward0")
    assert node.scope == 1 and node.sequence_nr == inner.sequence_nr
    assert node.cpu_parent.name == "autograd::engine::evaluate_function: AddmmBackward0"
    assert "aten::mm" in [c.name for c in node.cpu_children]
    assert "torch::autograd::AccumulateGrad" in names(p)
    assert inner.cpu_memory_usage >= 48 and region.cpu_memory_usage >= inner.cpu_memory_usage
    assert all(e.cpu_time_total >= e.self_cpu_time_total >= 0 for e in p.events())
    total = sum(e.self_cpu_time_total for e in p.events())
    assert p.events().self_cpu_time_total == pytest.approx(total)


def test_averages_and_table():
    x = torch.ones(3, 3)
    with profile(record_shapes=True) as p:
        for _ in range(3):
            x @ x
        torch.ones(2) + 1
    averages = {a.key: a for a in p.key_averages()}
    assert averages["aten::mm"].count == 3
    assert averages["aten::mm"].cpu_time == pytest.approx(averages["aten::mm"].cpu_time_total / 3)
    grouped = p.key_averages(group_by_input_shape=True)
    assert [a.input_shapes for a in grouped if a.key == "aten::mm"] == [[[3, 3], [3, 3]]]
    table = p.key_averages().table(sort_by="self_cpu_time_total", row_limit=2)
    lines = table.split("\n")
    assert lines[1].split() == ["Name", "Self", "CPU", "%", "Self", "CPU", "CPU", "total", "%",
                                "CPU", "total", "CPU", "time", "avg", "#", "of", "Calls"]
    assert len(lines) == 8 and lines[-2].startswith("Self CPU time total: ")
    with pytest.raises(AttributeError, match="bogus"):
        p.key_averages().table(sort_by="bogus")


def events():
    def event(i, name, start, end, **more):
        return profiler_util.FunctionEvent(id=i, name=name, thread=1, start_us=start, end_us=end,
                                           **{"stack": [], **more})

    made = profiler_util.EventList([], profile_memory=True)
    made += [event(1, "outer", 0, 1000.5, input_shapes=[[2, 3], []], cpu_memory_usage=2048),
             event(2, "aten::linear", 10, 500.25, input_shapes=[[2, 3]], cpu_memory_usage=1024,
                   stack=["a.py(3): f", "b.py(4): g"]),
             event(3, "aten::linear", 2000, 2000000, input_shapes=[[4, 3]])]
    made._build_tree()
    return made


def test_layout_of_the_table():
    averages = events().key_averages()
    dashes = "----------------" + "  ------------" * 8 + "  "
    assert averages.table(sort_by="cpu_time_total", header="Head") == "\n".join([
        "=" * 128, "Head", dashes,
        "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg"
        "       CPU Mem  Self CPU Mem    # of Calls  ", dashes,
        "    aten::linear        99.97%        1.998s        99.97%        1.998s     999.245ms"
        "       1.00 KB       1.00 KB             2  ",
        "           outer         0.03%     510.250us         0.05%       1.000ms       1.000ms"
        "       2.00 KB       1.00 KB             1  ",
        dashes, "Self CPU time total: 1.999s", ""])
    wide = events().table(max_name_column_width=10).split("\n")
    assert wide[1].endswith("# of Calls      Input Shapes  Source Location       ")
    assert wide[5].startswith("aten::l...") and wide[5].endswith("[[2, 3]]  a.py(3): f            ")
    assert wide[6].endswith("b.py(4): g            ") and wide[7].strip() == ""
    assert events().table(top_level_events_only=True).count("aten::linear") == 1
    assert profiler_util._format_time(12345.678) == "12.346ms"
    assert profiler_util._format_memory(-1536) == "-1.50 KB"
    assert profiler_util.EventList([]).table() == ""


def test_chrome_trace(tmp_path):
    x = torch.ones(3, 3, requires_grad=True)
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as p:
        (x @ x).sum().backward()
    p.add_metadata("key", "value")
    p.export_chrome_trace(str(tmp_path / "t.json.gz"))
    trace = json.loads(gzip.open(tmp_path / "t.json.gz", "rt").read())
    assert trace["schemaVersion"] == 1 and trace["key"] == "value"
    rows = trace["traceEvents"]
    mm = next(r for r in rows if r["name"] == "aten::mm")
    assert mm["ph"] == "X" and mm["cat"] == "cpu_op" and mm["dur"] > 0
    assert mm["args"]["Input Dims"] == [[3, 3], [3, 3]]
    assert mm["args"]["Input type"] == ["float", "float"]
    assert mm["args"]["Input Strides"] == [[3, 1], [3, 1]]
    flows = [r for r in rows if r.get("cat") == "fwdbwd"]
    assert {r["ph"] for r in flows} == {"s", "f"}
    assert any(r["name"] == "[memory]" and r["args"]["Bytes"] > 0 for r in rows)
    assert any(r["name"] == "process_name" for r in rows)
    with pytest.raises(RuntimeError, match="already saved"):
        p.export_chrome_trace(str(tmp_path / "again.json"))


def test_stacks(tmp_path):
    def some_function(x):
        return x + x

    with profile(with_stack=True) as p:
        some_function(torch.ones(1000))
    event = named(p, "aten::add")
    assert event.stack[0].endswith("some_function")
    p.export_stacks(str(tmp_path / "s.txt"), "self_cpu_time_total")
    assert "some_function" in (tmp_path / "s.txt").read_text()
    assert any(a.stack for a in p.key_averages(group_by_stack_n=2))
    with profile() as q:
        pass
    with pytest.raises(AssertionError, match="with_stack=True"):
        q.export_stacks(str(tmp_path / "s.txt"))


def test_schedule_and_handler(tmp_path):
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    got = [plan(i).name for i in range(11)]
    cycle = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert got == ["NONE", *cycle, *cycle, "NONE", "NONE"]
    assert plan(4) is ProfilerAction.RECORD_AND_SAVE
    with pytest.raises(AssertionError, match="Got wait=-1"):
        schedule(wait=-1, warmup=1, active=1)
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)
    seen = []
    x = torch.ones(2)

    def ready(p):
        seen.append((p.step_num, names(p).count("aten::add"), "ProfilerStep*" in names(p)))

    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=ready) as p:
        for _ in range(9):
            x + x
            p.step()
    assert seen == [(4, 2, True), (8, 2, True)]
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path / "log"), "me")
    with profile(on_trace_ready=handler):
        x + x
    written = [f.name for f in (tmp_path / "log").iterdir()]
    assert len(written) == 1 and written[0].startswith("me.")
    assert written[0].endswith(".pt.trace.json")


def test_flops():
    x = torch.ones(4, 4)
    with profile(with_flops=True) as p:
        x @ x
        torch.nn.functional.conv2d(torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3))
        x * x
    assert named(p, "aten::mm").flops == 128 and named(p, "aten::mul").flops == 16
    assert named(p, "aten::conv2d").flops == 972
    assert "Total FLOPs" in p.key_averages().table()


def test_autograd_profiler():
    x = torch.ones(3)
    with torch.autograd.profiler.profile() as p:
        x + x
    assert [e.name for e in p.function_events] == ["aten::add"]
    assert "aten::add" in str(p) and repr(p).startswith("[<FunctionEvent id=1 name=aten::add")
    assert p.self_cpu_time_total > 0 and p.total_average().count == 1
    with torch.autograd.profiler.profile(enabled=False) as none:
        x + x
    assert none is None
    with pytest.raises(RuntimeError, match="not reentrant"):
        with p:
            pass
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.autograd.profiler.emit_nvtx().__enter__()


def test_one_recording_on_a_thread():
    with profile():
        with pytest.raises(RuntimeError, match="already enabled"):
            profile().start()
    with pytest.raises(AssertionError, match="must be initialized before accessing events"):
        profile().events()


def test_regions():
    @record_function("decorated")
    def f(x):
        return x + 1

    f(torch.ones(1))          # no recording: an ordinary call
    with profile() as p:
        f(torch.ones(1))
        with pytest.raises(ValueError):
            with record_function("raises"):
                raise ValueError
    assert named(p, "aten::add").cpu_parent.name == "decorated"
    assert named(p, "raises").time_range.elapsed_us() > 0
    with profile() as p:
        handle = torch.ops.profiler._record_function_enter_new("by call", None)
        torch.ones(1) + 1
        torch.ops.profiler._record_function_exit._RecordFunction(handle)
    assert named(p, "aten::add").cpu_parent.name == "by call"


def test_off_again():
    with profile():
        pass
    assert not torch._C._profiler_on()
    x = torch.ones(2)
    with profile() as p:
        with pytest.raises(RuntimeError):
            x @ torch.ones(3)
        x + x
    assert named(p, "aten::add").cpu_parent is None    # what failed is closed
