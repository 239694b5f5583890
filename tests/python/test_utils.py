"""The smaller modules of torch.utils."""
import os
import subprocess
import sys
import threading

import pytest

import torch
from torch.utils import backcompat, deterministic
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype
from torch.utils.file_baton import FileBaton
from torch.utils.module_tracker import ModuleTracker
from torch.utils.throughput_benchmark import ThroughputBenchmark, format_time


def test_switches():
    assert not backcompat.broadcast_warning.enabled
    backcompat.broadcast_warning.enabled = True
    assert backcompat.broadcast_warning.get_enabled()
    backcompat.broadcast_warning.enabled = False


def test_new_memory_is_filled_when_asked():
    assert deterministic.fill_uninitialized_memory is True
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        deterministic.fill_uninitialized_memory = 3
    torch.use_deterministic_algorithms(True)
    try:
        for new in (torch.empty(3), torch.ones(3).new_empty(3), torch.empty_like(torch.ones(3)),
                    torch.empty_strided((2, 2), (1, 2)), torch.empty(2, dtype=torch.complex64)):
            assert new.isnan().all()
        assert torch.empty(2, dtype=torch.int64).tolist() == [2**63 - 1] * 2
        assert torch.empty(2, dtype=torch.uint8).tolist() == [255] * 2
        assert torch.empty(2, dtype=torch.bool).all()
        assert torch.zeros(2).tolist() == [0, 0]
        deterministic.fill_uninitialized_memory = False
        assert not torch.ones(100).new_empty(4).isnan().all()
    finally:
        deterministic.fill_uninitialized_memory = True
        torch.use_deterministic_algorithms(False)


def test_module_tracker():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.ReLU()))
    seen = []
    with ModuleTracker() as tracker:
        handles = [m.register_forward_hook(
            lambda *_: seen.append((sorted(tracker.parents), tracker.is_bw)))
            for m in model.modules()]
        model(torch.ones(1, 2, requires_grad=True)).sum().backward()
    assert seen == [(["Global", "Sequential"], False),
                    (["Global", "Sequential", "Sequential.1"], False),
                    (["Global", "Sequential"], False), (["Global"], False)]
    assert tracker.parents == {"Global"}
    for handle in handles:
        handle.remove()


def test_throughput():
    bench = ThroughputBenchmark(torch.nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="provide benchmark inputs"):
        bench.benchmark()
    bench.add_input(torch.ones(1, 2))
    stats = bench.benchmark(num_calling_threads=2, num_warmup_iters=1, num_iters=9)
    assert stats.num_iters == 9 and stats.iters_per_second > 0
    assert str(stats).startswith("Average latency per example: ")
    assert [format_time(time_us=1.5), format_time(time_ms=2), format_time(time_us=2e6)] == [
        "1.500us", "2.000ms", "2.000s"]


def test_file_baton(tmp_path):
    path = str(tmp_path / "lock")
    first, second = FileBaton(path, wait_seconds=0.01), FileBaton(path, wait_seconds=0.01)
    assert first.try_acquire() and not second.try_acquire()
    threading.Timer(0.05, first.release).start()
    second.wait()
    assert second.try_acquire()
    second.release()
    assert not os.path.exists(path)


def test_groups_of_tensors():
    a, b, c = torch.ones(1), torch.ones(2).double(), torch.zeros(1)
    groups = _group_tensors_by_device_and_dtype([[a, b], [c, None]], with_indices=True)
    lists, indices = groups[torch.device("cpu"), torch.float32]
    assert lists[0][0] is a and lists[1][0] is c and indices == [0]


def test_collect_env():
    done = subprocess.run([sys.executable, "-m", "torch.utils.collect_env"], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0
    assert f"PyTorch version: {torch.__version__}\n" in done.stdout
    assert "Is CUDA available: False\n" in done.stdout


def test_cpp_extension():
    pytest.importorskip("setuptools")
    from torch.utils import cpp_extension

    extension = cpp_extension.CppExtension("a.b", ["x.cpp"])
    assert extension.language == "c++" and cpp_extension.TORCH_LIB_PATH in extension.library_dirs
    assert cpp_extension.BuildExtension.with_options(use_ninja=False)
    with pytest.raises(NotImplementedError):
        cpp_extension.load("x", ["x.cpp"])


def test_scatter_to_the_cpu():
    parts = torch.nn.parallel.scatter({"a": torch.arange(4), "b": 1}, [-1, -1])
    assert [p["a"].tolist() for p in parts] == [[0, 1], [2, 3]] and parts[1]["b"] == 1


def test_read_only_export():
    numpy = pytest.importorskip("numpy")
    from torch.utils.dlpack import ReadOnlyTensorWrapper

    x = torch.arange(3.0)
    wrapped = ReadOnlyTensorWrapper(x)
    for action in (lambda: wrapped + 1, lambda: wrapped.add_(1), lambda: repr(wrapped),
                   wrapped.numpy):
        with pytest.raises(RuntimeError, match="only supports DLPack export"):
            action()
    array = numpy.from_dlpack(wrapped)
    assert array.tolist() == [0, 1, 2]
    if tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 1):
        assert not array.flags.writeable
