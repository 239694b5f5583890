"""Python threads: kernels give the interpreter up, random numbers stay whole, signals arrive."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import torch

BIG = 1 << 21


def overlaps(work):
    """Does Python code run on another thread while `work` does?"""
    stop, ticks = threading.Event(), [0]

    def count():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)

    old = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        sys.setswitchinterval(1000)  # nobody is asked to share: only what gives up lets others run
        time.sleep(0.02)
        for _ in range(100):  # the scheduler may be slow to wake the other thread
            before = ticks[0]
            work()
            if ticks[0] > before:
                return True
        return False
    finally:
        sys.setswitchinterval(old)
        stop.set()
        thread.join()


WORK = {
    "exp": lambda: torch.ones(BIG).exp(),
    "matmul": lambda: torch.ones(500, 500) @ torch.ones(500, 500),
    "conv2d": lambda: torch.conv2d(torch.ones(1, 16, 64, 64), torch.ones(16, 16, 3, 3)),
    "sum": lambda: torch.ones(BIG).sum(),
    "sort": lambda: torch.rand(BIG).sort(),
    "inv": lambda: torch.linalg.inv(torch.eye(300)),
    "normal_": lambda: torch.empty(BIG).normal_(),
    "cumsum": lambda: torch.ones(BIG).cumsum(0),
}


def test_small_work_keeps_the_interpreter():
    x = torch.ones(8, 8)
    assert not overlaps(lambda: x + x)


@pytest.mark.parametrize("name", WORK)
def test_large_work_gives_the_interpreter_up(name):
    assert overlaps(WORK[name])


def test_two_threads_and_one_generator():
    """Every number of the stream is drawn exactly once, whoever draws it."""
    n, rounds = 20000, 20
    torch.manual_seed(3)
    expected = torch.cat([torch.rand(n) for _ in range(2 * rounds)])
    torch.manual_seed(3)
    parts = []
    threads = [
        threading.Thread(target=lambda: [parts.append(torch.rand(n)) for _ in range(rounds)])
        for _ in range(2)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert torch.equal(torch.cat(parts).sort().values, expected.sort().values)


def test_threads_compute_what_one_computes():
    x = torch.randn(300, 300)
    want = (x @ x).exp().sum(0).sort().values
    out = [None] * 4

    def work(i):
        for _ in range(5):
            out[i] = (x @ x).exp().sum(0).sort().values

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(torch.equal(o, want) for o in out)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_interrupt():
    """Ctrl-C during a loop of large operators raises KeyboardInterrupt."""
    code = """
        import torch
        x = torch.ones(1 << 21)
        try:
            print("ready", flush=True)
            while True:
                x.exp()
        except KeyboardInterrupt:
            print("interrupted")
    """
    p = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert p.stdout.readline() == "ready\n"
    p.send_signal(signal.SIGINT)
    assert p.communicate(timeout=60)[0] == "interrupted\n"


def test_exit_while_a_daemon_thread_computes():
    code = """
        import threading, torch
        x = torch.ones(1 << 21)
        def work():
            while True:
                x.exp()
        threading.Thread(target=work, daemon=True).start()
        x.exp().sum()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], timeout=60)
    assert done.returncode == 0


def test_fork_while_a_thread_computes():
    """A child may compute, whatever locks the parent's threads held at that moment."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            torch.rand(50000).exp().sort()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                signal.alarm(20)
                torch.rand(50000).exp().sum()
                torch.empty(3 << 20)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
    finally:
        stop.set()
        thread.join()
