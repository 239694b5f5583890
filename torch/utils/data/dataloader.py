"""`DataLoader`: its arguments, and iteration within one process.

Iteration with worker processes is in `_multiprocess.py`, loaded when first needed. A loader draws
from the random generators exactly where PyTorch does, so seeded runs see the same batches.
"""

import itertools
import warnings
from types import GenericAlias

import torch

from . import _utils
from ._utils.collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


def get_worker_info():
    """In a worker process: its id, seed, dataset and the number of workers. Else None.

    Returns:
        An object with the attributes ``id``, ``num_workers``, ``seed`` and ``dataset``.
    """
    import sys

    # Where that module was never loaded, this is no worker.
    worker = sys.modules.get(f"{__package__}._utils.worker")
    return None if worker is None else worker._worker_info


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        """The object whose ``fetch(index)`` gives the data."""
        if kind == _DatasetKind.Map:
            make = _utils.fetch._MapDatasetFetcher
        else:
            make = _utils.fetch._IterableDatasetFetcher
        return make(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler):
    """Yields None for ever: how an iterable dataset is asked for its next sample."""

    def __iter__(self):
        return itertools.repeat(None)


def _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers):
    """Checks the options of the workers; returns the prefetch factor."""
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if num_workers > 0 and prefetch_factor is None:
        prefetch_factor = 2
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    return prefetch_factor


def _check_iterable_options(shuffle, sampler, batch_sampler):
    named = (
        ("shuffle", shuffle, shuffle not in (None, False)),
        ("sampler", sampler, sampler is not None),
        ("batch_sampler", batch_sampler, batch_sampler is not None),
    )
    for name, value, given in named:
        if given:
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified "
                f"{name} option, but got {name}={value}"
            )


class DataLoader:
    """Iterates over a dataset in batches, in this process or with worker processes.

    Args:
        dataset: a map-style `Dataset` (anything with ``__getitem__`` and ``__len__``) or an
            `IterableDataset`.
        batch_size: samples per batch; None yields single samples, passed through
            `default_convert`.
        shuffle: a new random order on every pass.
        sampler: an iterable of indices, instead of `shuffle`.
        batch_sampler: an iterable of lists of indices, instead of `batch_size`, `shuffle`,
            `sampler` and `drop_last`.
        num_workers: how many processes load the data; 0 loads in this one.
        collate_fn: makes a batch of a list of samples; `default_collate` by default.
        pin_memory: copy batches to page-locked memory (nothing happens without an accelerator).
        drop_last: leave out a last, shorter batch.
        timeout: seconds to wait for a worker's batch; 0 waits for ever.
        worker_init_fn: called in each worker with its number, after seeding.
        multiprocessing_context: a start method's name, or a context.
        generator: source of the sampler's randomness and of the workers' base seed.
        prefetch_factor: batches asked for in advance per worker; 2 by default.
        persistent_workers: keep the workers between passes.
        pin_memory_device: accepted; unused without an accelerator.
        in_order: with False, batches come as they are ready.

    Raises:
        ValueError: options that exclude each other, or numbers out of range.
    """

    __class_getitem__ = classmethod(GenericAlias)

    _iterator = None
    __initialized = False
    __multiprocessing_context = None

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        prefetch_factor = _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._set_order(batch_size, shuffle, sampler, batch_sampler, drop_last, generator)
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called = None
        self._iterator = None
        self.check_worker_number_rationality()

    def _set_order(self, batch_size, shuffle, sampler, batch_sampler, drop_last, generator):
        """Resolves the options that say which samples come when."""
        iterable = isinstance(self.dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            _check_iterable_options(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive "
                    "with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching "
                "and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(self.dataset, generator=generator)
            else:
                sampler = SequentialSampler(self.dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        from ._multiprocess import _MultiProcessingDataLoaderIter

        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def multiprocessing_context(self):
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            context = self._checked_context(context)
        self.__multiprocessing_context = context

    def _checked_context(self, context):
        if self.num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading "
                f"(num_workers > 0), but got num_workers={self.num_workers}"
            )
        from ... import multiprocessing

        if isinstance(context, str):
            methods = multiprocessing.get_all_start_methods()
            if context not in methods:
                raise ValueError(
                    "multiprocessing_context option should specify a valid start method in "
                    f"{methods!r}, but got multiprocessing_context={context!r}"
                )
            return multiprocessing.get_context(context)
        from multiprocessing.context import BaseContext

        if not isinstance(context, BaseContext):
            raise TypeError(
                "multiprocessing_context option should be a valid context object or a string "
                "specifying the start method, but got "
                f"multiprocessing_context={context}"
            )
        return context

    _FIXED = frozenset(
        ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
    )

    def __setattr__(self, attr, val):
        if self.__initialized and attr in DataLoader._FIXED:
            raise ValueError(
                f"{attr} attribute should not be set after "
                f"{self.__class__.__name__} is initialized"
            )
        super().__setattr__(attr, val)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self):
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        # Remembered, to warn when the stream turns out longer than it says.
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is not None:
            full, rest = divmod(length, self.batch_size)
            length = full + (1 if rest and not self.drop_last else 0)
        return length

    def check_worker_number_rationality(self):
        """Warns if there are more workers than cores that this process may use."""
        if not self.num_workers:
            return
        import os

        cores = None
        if hasattr(os, "sched_getaffinity"):
            cores = len(os.sched_getaffinity(0))
        cores = cores or os.cpu_count()
        if cores is None or self.num_workers <= cores:
            return
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. "
            f"Our suggested max number of worker in current system is {cores}, which is smaller "
            "than what this DataLoader is going to create. Please be aware that excessive worker "
            "creation might get DataLoader running slow or even freeze, lower the worker number "
            "to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


def _draw_seed(generator):
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


class _BaseDataLoaderIter:
    """What both kinds of iterator share: the index stream, the base seed, the length warning."""

    def __init__(self, loader):
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = loader.pin_memory and _has_accelerator(loader.pin_memory)
        self._pin_memory_device = loader.pin_memory_device or None
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = _draw_seed(loader.generator)
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0

    def __iter__(self):
        return self

    def _reset(self, loader, first_iter=False):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self):
        return next(self._sampler_iter)

    def _next_data(self):
        raise NotImplementedError

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        if self._IterableDataset_len_called is not None:
            self._warn_if_longer()
        return data

    def _warn_if_longer(self):
        if self._dataset_kind != _DatasetKind.Iterable:
            return
        if self._num_yielded <= self._IterableDataset_len_called:
            return
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be "
            f"{self._IterableDataset_len_called} (when accessing len(dataloader)), but "
            f"{self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly "
                "configuring the IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset "
                "for examples."
            )
        warnings.warn(message, stacklevel=3)

    next = __next__

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", self.__class__.__name__)


def _has_accelerator(wanted):
    found = torch.cuda.is_available()
    if wanted and not found:
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, "
            "then device pinned memory won't be used.",
            stacklevel=4,
        )
    return found


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if self._num_workers != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires num_workers == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )

    def _next_data(self):
        data = self._dataset_fetcher.fetch(next(self._sampler_iter))
        if self._pin_memory:
            data = _utils.pin_memory.pin_memory(data, self._pin_memory_device)
        return data


def __getattr__(name):
    if name == "_MultiProcessingDataLoaderIter":
        from ._multiprocess import _MultiProcessingDataLoaderIter

        globals()[name] = _MultiProcessingDataLoaderIter
        return _MultiProcessingDataLoaderIter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
