"""torch.multiprocessing: tensors that cross process borders in shared memory, and spawn."""

import os
import signal
import sys
import time

import pytest
import torch
import torch.multiprocessing as mp
from multiprocessing.reduction import ForkingPickler


def through(obj):
    return ForkingPickler.loads(ForkingPickler.dumps(obj))


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request):
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy(before)


def test_strategies():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    with pytest.raises(AssertionError, match="invalid sharing strategy 'foo'"):
        mp.set_sharing_strategy("foo")


def test_names_are_those_of_multiprocessing():
    import multiprocessing

    assert set(multiprocessing.__all__) <= set(mp.__all__)
    assert mp.get_context("spawn").get_start_method() == "spawn"


def test_memory_is_shared(strategy):
    x = torch.arange(6.0)
    y = through(x)
    assert x.is_shared() and y.is_shared()
    y[2] = -5.0
    assert x[2] == -5.0


def test_views_stay_views(strategy):
    x = torch.arange(12.0).view(3, 4)
    a, b, c = through((x, x[1], x.t()))
    assert b.storage_offset() == 4 and c.stride() == (1, 4)
    a[1, 1] = 50.0
    assert b[1] == 50.0 and c[1, 1] == 50.0


def test_special_tensors():
    assert through(torch.empty(0, 3)).shape == (0, 3)
    assert through(torch.zeros(2, device="meta")).device.type == "meta"
    leaf = through(torch.zeros(2, requires_grad=True))
    assert leaf.requires_grad and leaf.is_leaf
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        through(torch.zeros(2, requires_grad=True) * 2)


def test_parameter():
    p = torch.nn.Parameter(torch.arange(3.0))
    q = through(p)
    assert type(q) is torch.nn.Parameter and q.requires_grad
    with torch.no_grad():
        q[0] = 9.0
    assert p[0] == 9.0


def test_share_memory_is_idempotent():
    x = torch.arange(4)
    assert x.share_memory_() is x
    address = x.data_ptr()
    x.share_memory_()
    assert x.data_ptr() == address and x.tolist() == [0, 1, 2, 3]


def add_one(tensor, queue, done):
    tensor += 1
    queue.put(tensor[:2])
    done.get()  # the sender of a descriptor must live until it is received


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_process_and_queue(method):
    context = mp.get_context(method)
    x = torch.arange(4.0)
    queue, done = context.SimpleQueue(), context.SimpleQueue()
    process = context.Process(target=add_one, args=(x, queue, done))
    if method == "fork":
        x.share_memory_()
    process.start()
    got = queue.get()
    done.put(None)
    process.join()
    assert process.exitcode == 0
    assert got.tolist() == [1.0, 2.0] and x.tolist() == [1.0, 2.0, 3.0, 4.0]


def act(i, what):
    if i == 1:
        if what == "raise":
            raise ValueError(f"bad {i}")
        if what == "exit":
            sys.exit(4)
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
    if what != "fine":
        time.sleep(60)


def test_start_processes():
    assert mp.start_processes(act, ("fine",), 2, start_method="fork") is None
    context = mp.start_processes(act, ("fine",), 2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join():
        pass


@pytest.mark.parametrize("what, error, message", [
    ("raise", mp.ProcessRaisedException, "Process 1 terminated with the following error"),
    ("exit", mp.ProcessExitedException, "process 1 terminated with exit code 4"),
    ("kill", mp.ProcessExitedException, "process 1 terminated with signal SIGKILL"),
])
def test_failure_ends_all(what, error, message):
    start = time.monotonic()
    with pytest.raises(error, match=message) as info:
        mp.start_processes(act, (what,), 2, start_method="fork")
    assert time.monotonic() - start < 30
    assert info.value.error_index == 1
    if what == "raise":
        assert "ValueError: bad 1" in str(info.value)


def test_spawn():
    assert mp.spawn(act, ("fine",), nprocs=1) is None
