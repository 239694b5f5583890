"""What runs in a worker process of a `DataLoader`."""

import random
import sys

import torch

from ...._utils import ExceptionWrapper
from . import collate as _collate
from . import fetch as _fetch
from .channel import WorkerEnd

_worker_info = None


class WorkerInfo:
    """What `get_worker_info` returns in a worker.

    Attributes:
        id: number of the worker, from 0.
        num_workers: how many there are.
        seed: the seed of this worker, ``base_seed + id``.
        dataset: this process's copy of the dataset.
        rng, worker_method: None and ``"multiprocessing"`` in processes.
    """

    __slots__ = ("id", "num_workers", "seed", "dataset", "rng", "worker_method")

    def __init__(
        self, id, num_workers, seed, dataset, rng=None, worker_method="multiprocessing"
    ):
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset
        self.rng = rng
        self.worker_method = worker_method

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"WorkerInfo({fields})"


def get_worker_info():
    """The `WorkerInfo` of the worker process that asks; None in the main process."""
    return _worker_info


class _IterableDatasetStopIteration:
    """Sent instead of a batch when a worker's stream has ended."""

    def __init__(self, worker_id):
        self.worker_id = worker_id


class _ResumeIteration:
    """Sent to a persistent worker at the start of another pass."""

    def __init__(self, seed=None):
        self.seed = seed


_M32 = 0xFFFFFFFF


def _hash_mix(value, constant, multiplier):
    value ^= constant
    constant = constant * multiplier & _M32
    value = value * constant & _M32
    return (value ^ value >> 16) & _M32, constant


def _mix(x, y):
    result = (x * 0xCA01F9DD - y * 0x4973F715) & _M32
    return (result ^ result >> 16) & _M32


def _generate_state(base_seed, worker_id):
    """Four words to seed numpy with: its SeedSequence over (worker_id, base_seed).

    The algorithm is M. E. O'Neill's `seed_seq_fe` ("Developing a seed_seq Alternative", 2015).
    """
    entropy = [worker_id, base_seed & _M32, base_seed >> 32, 0]
    pool = [0] * 4
    constant = 0x43B0D7E5
    for i, word in enumerate(entropy):
        pool[i], constant = _hash_mix(word, constant, 0x931E8875)
    for source in range(4):
        for target in range(4):
            if source != target:
                word, constant = _hash_mix(pool[source], constant, 0x931E8875)
                pool[target] = _mix(pool[target], word)
    state = []
    constant = 0x8B51F9DD
    for word in pool:
        word, constant = _hash_mix(word, constant, 0x58F38DED)
        state.append(word)
    return state


class _SeedNumpyOnImport:
    """Import hook: seeds numpy's global generator when the dataset's code first imports numpy."""

    def __init__(self, state):
        self._state = state
        self._busy = False

    def find_spec(self, name, path=None, target=None):
        if name != "numpy" or self._busy:
            return None
        from importlib.util import find_spec

        self._busy = True
        spec = find_spec(name)
        sys.meta_path.remove(self)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.random.seed(self._state)

        spec.loader.exec_module = exec_module
        return spec


def _seed_everything(base_seed, worker_id):
    seed = base_seed + worker_id
    random.seed(seed)
    torch.manual_seed(seed)
    state = _generate_state(base_seed, worker_id)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(state)
    else:
        sys.meta_path.insert(0, _SeedNumpyOnImport(state))
    return seed


class _Worker:
    """One worker's state between requests."""

    def __init__(self, end, worker_id, fetcher_args):
        self.end = end
        self.worker_id = worker_id
        self.fetcher_args = fetcher_args
        self.fetcher = None
        self.failed = None  # an error outside of any batch; reported with the next one
        self.ended = False

    def make_fetcher(self):
        kind, dataset, auto_collation, collate_fn, drop_last = self.fetcher_args
        if kind == 1:
            make = _fetch._IterableDatasetFetcher
        else:
            make = _fetch._MapDatasetFetcher
        self.fetcher = make(dataset, auto_collation, collate_fn, drop_last)

    def guarded(self, function, *args):
        """Runs `function`; an exception is kept for the next batch."""
        try:
            function(*args)
        except Exception:
            self.failed = self.wrap()

    def wrap(self):
        return ExceptionWrapper(where=f"in DataLoader worker process {self.worker_id}")

    def result(self, index):
        if self.failed is not None:
            failed, self.failed = self.failed, None
            return failed
        try:
            return self.fetcher.fetch(index)
        except StopIteration as e:
            if self.fetcher_args[0] == 1:
                self.ended = True
                return _IterableDatasetStopIteration(self.worker_id)
            del e
            return self.wrap()
        except Exception:
            return self.wrap()

    def answer(self, epoch, idx, index):
        data = self.result(index)
        try:
            self.end.send(epoch, idx, data)
        except OSError as e:
            if isinstance(e, BrokenPipeError):
                raise
            self.end.send(epoch, idx, self.wrap())
        except Exception:
            self.end.send(epoch, idx, self.wrap())

    def serve(self):
        while True:
            request = self.end.receive()
            if request is None:
                return
            if isinstance(request, _ResumeIteration):
                self.ended = False
                self.guarded(self.make_fetcher)
            elif not self.ended:
                self.answer(*request)


def _worker_loop(
    ends, dataset_kind, dataset, auto_collation, collate_fn, drop_last, base_seed, init_fn,
    worker_id, num_workers,
):
    """Serves requests until the parent closes the pipe (or is gone)."""
    global _worker_info
    try:
        torch.set_num_threads(1)
        seed = _seed_everything(base_seed, worker_id)
        _worker_info = WorkerInfo(worker_id, num_workers, seed, dataset)
        end = WorkerEnd(*ends)
        _collate._shared_empty = end.arena.empty
        fetcher_args = (dataset_kind, dataset, auto_collation, collate_fn, drop_last)
        worker = _Worker(end, worker_id, fetcher_args)
        if init_fn is not None:
            worker.guarded(init_fn, worker_id)
        if worker.failed is None:
            worker.guarded(worker.make_fetcher)
        worker.serve()
    except (KeyboardInterrupt, BrokenPipeError):
        # Ctrl-C reaches the whole group, and the parent reports it; a broken pipe means that it
        # went away without waiting for the result.
        pass
