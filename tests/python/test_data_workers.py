"""`DataLoader` with worker processes: order, seeds, what crosses the border, failures, and that
nothing is left behind. Expected draws were recorded from PyTorch 2.15.
"""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch
import torch.utils.data as D


class Numbers(D.Dataset):
    def __init__(self, n=10):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Draws(Numbers):
    def __getitem__(self, i):
        info = D.get_worker_info()
        return info.seed, float(torch.rand(1, dtype=torch.float64)), random.random()


class Share(D.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = D.get_worker_info()
        return iter(range(info.id, self.n, info.num_workers))


def batches(*args, **kwargs):
    return [b.tolist() for b in D.DataLoader(*args, **kwargs)]


def test_seeds_of_workers():
    torch.manual_seed(11)
    got = list(D.DataLoader(Draws(4), num_workers=2, batch_size=None))
    assert got == [
        [3325388913236545215, 0.7978044028977604, 0.10437156952704962],
        [3325388913236545216, 0.15794376978785618, 0.08768933326737272],
        [3325388913236545215, 0.10103057721193753, 0.6232503188452482],
        [3325388913236545216, 0.030280002778311443, 0.8485979929604204],
    ]
    assert torch.rand(2, dtype=torch.float64).tolist() == [0.8852923701860037, 0.6715475054338559]


def test_numpy_seed():
    np = pytest.importorskip("numpy")
    from torch.utils.data._utils.worker import _generate_state

    for seed, worker in ((12345678901234, 3), (5, 0), (2**63 - 1, 7)):
        want = np.random.SeedSequence([worker, seed & 0xFFFFFFFF, seed >> 32, 0]).generate_state(4)
        assert _generate_state(seed, worker) == want.tolist()


@pytest.mark.parametrize("persistent, want, after", [
    (True, [[8, 3, 0, 5], [9, 1, 6, 2], [4, 7], [1, 7, 4, 2], [6, 5, 3, 0], [8, 9], [5, 8, 9, 7],
            [2, 0, 4, 1], [3, 6]], 835060452),
    (False, [[8, 3, 0, 5], [9, 1, 6, 2], [4, 7], [5, 8, 9, 7], [2, 0, 4, 1], [3, 6], [6, 5, 4, 0],
             [7, 2, 1, 8], [9, 3]], 348614768),
])
def test_stream_over_passes(persistent, want, after):
    torch.manual_seed(5)
    loader = D.DataLoader(Numbers(), num_workers=2, batch_size=4, shuffle=True,
                          persistent_workers=persistent)
    assert [b.tolist() for _ in range(3) for b in loader] == want
    assert torch.randint(10**9, (1,)).item() == after


@pytest.mark.parametrize("n, workers, want", [
    (11, 2, [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]),
    (10, 3, [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]),
    (1, 3, [[0]]),
    (0, 2, []),
])
def test_iterable(n, workers, want):
    assert batches(Share(n), num_workers=workers, batch_size=2) == want
    loader = D.DataLoader(Share(n), num_workers=workers, batch_size=2, persistent_workers=True)
    for _ in range(2):
        assert [b.tolist() for b in loader] == want


def test_out_of_order_yields_all():
    got = batches(Numbers(50), num_workers=2, batch_size=4, in_order=False)
    assert sorted(x for b in got for x in b) == list(range(50))


class Various(Numbers):
    def __getitem__(self, i):
        return {
            "big": torch.full((40, 40), float(i)),
            "small": torch.tensor([i], dtype=torch.int16),
            "empty": torch.empty(0, 3),
            "name": f"n{i}",
            "flag": i % 2 == 0,
            "half": torch.full((600,), i, dtype=torch.bfloat16),
        }


def test_batches_of_all_kinds_survive():
    kept = list(D.DataLoader(Various(64), num_workers=2, batch_size=4))
    for k, b in enumerate(kept):
        ids = torch.arange(4 * k, 4 * k + 4)
        assert torch.equal(b["big"], ids.float().view(4, 1, 1).expand(4, 40, 40))
        assert b["small"].flatten().tolist() == ids.tolist()
        assert b["empty"].shape == (4, 0, 3)
        assert b["name"] == [f"n{i}" for i in ids.tolist()]
        assert b["half"].dtype is torch.bfloat16 and b["half"][1, 0] == ids[1]
        b["big"].add_(1)  # the memory is ours


class Views(Numbers):
    def __getitem__(self, i):
        x = torch.arange(2000.0).view(40, 50) + i
        return [x, x.t(), x[3], x[:, 1], torch.zeros(1).expand(5, 6), torch.nn.Parameter(x), i]


def test_strides_and_sharing_cross():
    for s in D.DataLoader(Views(3), num_workers=1, batch_size=None, collate_fn=lambda s: s):
        x, t, row, column, spread, parameter, i = s
        assert torch.equal(x, torch.arange(2000.0).view(40, 50) + i)
        assert t.stride() == (1, 50) and column.stride() == (50,)
        assert t.data_ptr() == x.data_ptr() and row.data_ptr() == x[3].data_ptr()
        assert spread.stride() == (0, 0)
        assert type(parameter) is torch.nn.Parameter and parameter.requires_grad
        x[0, 0] = -1.0
        assert t[0, 0] == -1.0


def test_worker_may_keep_its_batch():
    class Keeping:
        kept = []

        def __call__(self, samples):
            batch = D.default_collate(samples)
            self.kept.append(batch)
            return batch, torch.stack([b[0] for b in self.kept])

    class Rows(Numbers):
        def __getitem__(self, i):
            return torch.full((1000,), float(i))

    for _, history in D.DataLoader(Rows(12), num_workers=1, batch_size=1, collate_fn=Keeping()):
        assert history[:, 0].tolist() == list(range(len(history)))


def test_abandoned_pass_of_persistent_workers():
    loader = D.DataLoader(Numbers(40), num_workers=2, batch_size=4, persistent_workers=True)
    for _ in range(3):
        assert next(iter(loader)).tolist() == [0, 1, 2, 3]
    assert sum(len(b) for b in loader) == 40


def test_large_requests_and_results():
    class Bytes(Numbers):
        def __getitem__(self, i):
            return bytes(300_000)

    loader = D.DataLoader(Bytes(12), num_workers=2, batch_size=2, collate_fn=lambda x: x)
    assert [len(b[0]) for b in loader] == [300_000] * 6
    order = list(range(60_000)) * 2
    loader = D.DataLoader(Numbers(60_000), num_workers=1, sampler=order, batch_size=60_000,
                          prefetch_factor=4)
    assert [len(b) for b in loader] == [60_000] * 2


def square(i):
    return torch.tensor(i * i)


class Squares(Numbers):
    def __getitem__(self, i):
        return square(i)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_start_methods(method):
    got = batches(Squares(5), num_workers=2, batch_size=2, multiprocessing_context=method)
    assert got == [[0, 1], [4, 9], [16]]


def test_worker_init_fn_and_info():
    class Info(Numbers):
        def __getitem__(self, i):
            info = D.get_worker_info()
            return info.id, info.num_workers, info.dataset.mark

    def init(worker):
        D.get_worker_info().dataset.mark = 10 + worker

    got = list(D.DataLoader(Info(2), num_workers=2, batch_size=None, worker_init_fn=init))
    assert got == [[0, 2, 10], [1, 2, 11]]


# ---------------------------------------------------------------- failures


class Failing(Numbers):
    def __init__(self, n, act):
        super().__init__(n)
        self.act = act

    def __getitem__(self, i):
        if i == 5:
            self.act()
        return i


class Awkward(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def raises(error):
    def act():
        raise error

    return act


def run_through(act, **kwargs):
    return list(D.DataLoader(Failing(40, act), num_workers=2, batch_size=2, **kwargs))


@pytest.mark.parametrize("error, expected", [
    (KeyError("boo"), KeyError), (ValueError("boo"), ValueError), (Awkward("boo", 1), RuntimeError),
])
def test_exception_arrives_with_traceback(error, expected):
    with pytest.raises(expected) as info:
        run_through(raises(error))
    text = str(info.value)
    assert f"Caught {type(error).__name__} in DataLoader worker process 0." in text
    assert "Original Traceback" in text and "raise error" in text


def test_loader_goes_on_after_an_exception():
    it = iter(D.DataLoader(Failing(8, raises(ValueError("x"))), num_workers=2, batch_size=2))
    assert [next(it).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError):
        next(it)
    assert [b.tolist() for b in it] == [[6, 7]]


def test_killed_worker_is_reported_at_once():
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="exited unexpectedly") as info:
        run_through(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert time.monotonic() - start < 5
    assert "is killed by signal: Killed" in str(info.value.__cause__)


def test_exited_worker_is_reported():
    with pytest.raises(RuntimeError, match=r"pid\(s\) \d+\) exited unexpectedly") as info:
        run_through(lambda: os._exit(3))
    assert "exit code 3" in str(info.value.__cause__)


def test_timeout():
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.3 seconds"):
        run_through(lambda: time.sleep(2), timeout=0.3)


def test_init_fn_and_pickling_errors_arrive():
    with pytest.raises(ValueError, match="Caught ValueError in DataLoader worker process"):
        list(D.DataLoader(Numbers(4), num_workers=1, worker_init_fn=lambda i: raises(
            ValueError("init"))()))

    class Unpicklable(Numbers):
        def __getitem__(self, i):
            return lambda: i

    with pytest.raises(AttributeError, match="pickle"):
        list(D.DataLoader(Unpicklable(4), num_workers=1, collate_fn=lambda x: x))


def test_out_of_space_is_an_error():
    import resource

    def limit(worker):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    class Large(Numbers):
        def __getitem__(self, i):
            return torch.zeros(1 << 20)

    with pytest.raises(OSError, match="Caught OSError in DataLoader worker process"):
        list(D.DataLoader(Large(4), num_workers=1, worker_init_fn=limit))


def test_graph_does_not_cross():
    class Grad(Numbers):
        def __getitem__(self, i):
            return torch.ones(2, requires_grad=True) * 2

    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(D.DataLoader(Grad(2), num_workers=1, batch_size=None, collate_fn=lambda x: x))


# ---------------------------------------------------------------- nothing is left behind

SCRIPT = textwrap.dedent(
    """
    import sys, time, torch, torch.utils.data as D
    class Slow(D.Dataset):
        def __len__(self): return 1000
        def __getitem__(self, i):
            time.sleep(0.05)
            return torch.zeros(1000)
    loader = D.DataLoader(Slow(), num_workers=2, batch_size=2, persistent_workers=True)
    it = iter(loader)
    next(it)
    print(*[w.pid for w in it._workers], flush=True)
    BODY
    """
)


def start(body):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.replace("BODY", body)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        # A shell starts background jobs with SIGINT ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    return process, [int(pid) for pid in process.stdout.readline().split()]


def wait_gone(pids, seconds=8):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("sig, group", [
    (signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGKILL, False),
    (signal.SIGTERM, False),
])
def test_signals_leave_nothing(sig, group):
    before = set(os.listdir("/dev/shm"))
    process, pids = start("time.sleep(60)")
    assert len(pids) == 2
    (os.killpg if group else os.kill)(process.pid, sig)
    process.wait(timeout=15)
    assert wait_gone(pids)
    # Other programs may come and go there; ours have these names.
    new = set(os.listdir("/dev/shm")) - before
    assert not [name for name in new if "torch" in name or "rushlight" in name]


@pytest.mark.parametrize("body", ["", "del it, loader", "raise SystemExit(1)"])
def test_ends_with_the_interpreter(body):
    process, pids = start(body)
    process.wait(timeout=15)
    assert wait_gone(pids)


def test_no_descriptors_leak():
    batches(Numbers(4), num_workers=2)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        batches(Numbers(4), num_workers=2)
        next(iter(D.DataLoader(Numbers(100), num_workers=2)))
    assert len(os.listdir("/proc/self/fd")) <= before + 1
