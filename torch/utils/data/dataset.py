"""Datasets: the two base classes and the ready-made ones built from tensors or other datasets.

Nothing here touches processes or batching; `dataloader.py` does. Imported by `torch.utils.data`.
"""

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable
from types import GenericAlias

import torch

__all__ = [
    "Dataset",
    "IterableDataset",
    "TensorDataset",
    "StackDataset",
    "ConcatDataset",
    "ChainDataset",
    "Subset",
    "random_split",
]


class Dataset:
    """Base of map-style datasets: something that turns an index into a sample.

    A subclass defines ``__getitem__(index)`` and usually ``__len__()``. It may also define
    ``__getitems__(indices)``, which receives the indices of a whole batch and returns the list of
    samples; a `DataLoader` then calls that once per batch.

    ``first + second`` gives a `ConcatDataset`.
    """

    __class_getitem__ = classmethod(GenericAlias)

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset, Iterable):
    """Base of datasets that are read as a stream: a subclass defines ``__iter__()``.

    With several workers each one iterates over its own copy, so ``__iter__`` should look at
    `get_worker_info` and yield only its share. ``first + second`` gives a `ChainDataset`.
    """

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Samples are the rows of one or more tensors of equal first dimension.

    ``dataset[i]`` is the tuple ``(t[i] for t in tensors)``.

    Raises:
        AssertionError: the first dimensions differ.
    """

    def __init__(self, *tensors):
        if any(tensors[0].size(0) != t.size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple([t[index] for t in self.tensors])

    def __len__(self):
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Zips several map-style datasets of equal length.

    Datasets given by position make samples that are tuples; given by keyword, dicts.

    Raises:
        ValueError: no dataset, both ways mixed, or lengths that differ.
    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        members = args or tuple(kwargs.values())
        self._length = len(members[0])
        if any(len(d) != self._length for d in members):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple([d[index] for d in self.datasets])

    def __getitems__(self, indices):
        if isinstance(self.datasets, dict):
            names = list(self.datasets)
            columns = [_get_many(d, indices) for d in self.datasets.values()]
            return [dict(zip(names, row)) for row in zip(*columns)]
        return list(zip(*[_get_many(d, indices) for d in self.datasets]))

    def __len__(self):
        return self._length


def _get_many(dataset, indices):
    """The samples at `indices`, by the dataset's own batched access where it has one."""
    getter = getattr(dataset, "__getitems__", None)
    if not callable(getter):
        return [dataset[i] for i in indices]
    items = getter(indices)
    if len(items) != len(indices):
        raise ValueError(
            "Nested dataset's output size mismatch. "
            f"Expected {len(indices)}, got {len(items)}"
        )
    return items


class ConcatDataset(Dataset):
    """Map-style datasets one after the other.

    Negative indices count from the end of the whole.

    Raises:
        AssertionError: the list is empty or holds an `IterableDataset`.
        ValueError: on access, a negative index that is too small.
    """

    @staticmethod
    def cumsum(sequence):
        """The end positions of the members: running sum of their lengths."""
        return list(itertools.accumulate(len(e) for e in sequence))

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][idx - start]

    @property
    def cummulative_sizes(self):
        warnings.warn(
            "cummulative_sizes attribute is renamed to cumulative_sizes",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """`IterableDataset`s one after the other; each is opened only when its turn comes.

    Raises:
        AssertionError: on iteration or ``len``, a member that is not an `IterableDataset`.
    """

    def __init__(self, datasets):
        super().__init__()
        self.datasets = datasets

    def _members(self):
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield d

    def __iter__(self):
        for d in self._members():
            yield from d

    def __len__(self):
        return sum(len(d) for d in self._members())


class Subset(Dataset):
    """The samples of `dataset` at `indices`, in that order."""

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        chosen = [self.indices[i] for i in indices]
        getter = getattr(self.dataset, "__getitems__", None)
        if callable(getter):
            return getter(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self):
        return len(self.indices)


def _fractions_to_lengths(n, fractions):
    """Floors of the shares of `n`, the remainder dealt out one by one from the first."""
    lengths = []
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths.append(math.floor(n * fraction))
    for i in range(n - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
                stacklevel=3,
            )
    return lengths


def random_split(dataset, lengths, generator=None):
    """Cuts a dataset into non-overlapping `Subset`s in random order.

    Args:
        dataset: a map-style dataset.
        lengths: sizes that sum to ``len(dataset)``, or fractions that sum to 1.
        generator: the source of the permutation; the default CPU generator if None.

    Returns:
        A list of `Subset`, one per length.

    Raises:
        ValueError: the lengths do not sum to the dataset's, or a fraction is outside [0, 1].
    """
    total = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        lengths = _fractions_to_lengths(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = torch.randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths)]
