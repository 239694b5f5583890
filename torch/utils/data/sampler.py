"""Samplers: the order in which a `DataLoader` visits a map-style dataset.

The draws from the random generators are those of PyTorch, number for number, so that a seeded
run visits the samples in the same order.
"""

import itertools
from types import GenericAlias

import torch

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """Base of all samplers: a subclass defines ``__iter__()``, and ``__len__()`` if it can."""

    __class_getitem__ = classmethod(GenericAlias)

    def __iter__(self):
        raise NotImplementedError


def _check_count(value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(
            f"num_samples should be a positive integer value, but got num_samples={value}"
        )


class SequentialSampler(Sampler):
    """Indices 0, 1, …, ``len(data_source) - 1``."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _fresh_generator():
    """A generator seeded by one draw from the default one."""
    seed = int(torch.empty((), dtype=torch.int64).random_().item())
    generator = torch.Generator()
    generator.manual_seed(seed)
    return generator


class RandomSampler(Sampler):
    """Indices in random order.

    Args:
        data_source: anything with a length.
        replacement: draw each index independently of the earlier ones.
        num_samples: how many to draw; the length of `data_source` by default. Without
            replacement a larger number continues with a new permutation.
        generator: source of randomness. If None, each pass seeds a new generator from the
            default one.

    Raises:
        TypeError: `replacement` is no bool.
        ValueError: `num_samples` is no positive int.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        _check_count(self.num_samples)

    @property
    def num_samples(self):
        # The data source may grow between passes, so its length is asked for each time.
        if self._num_samples is None:
            return len(self.data_source)
        return self._num_samples

    def _with_replacement(self, n, generator):
        count = self.num_samples
        for start in range(0, count, 32):
            size = min(32, count - start)
            yield from torch.randint(
                high=n, size=(size,), dtype=torch.int64, generator=generator
            ).tolist()

    def __iter__(self):
        n = len(self.data_source)
        generator = _fresh_generator() if self.generator is None else self.generator
        if self.replacement:
            yield from self._with_replacement(n, generator)
            return
        rounds, rest = divmod(self.num_samples, n)
        for _ in range(rounds):
            yield from torch.randperm(n, generator=generator).tolist()
        # The last permutation is drawn even if nothing of it is used: the stream stays PyTorch's.
        yield from torch.randperm(n, generator=generator).tolist()[:rest]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order, without replacement."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices 0 … len(weights) - 1, drawn with the given (unnormalised) probabilities.

    Raises:
        ValueError: `num_samples` is no positive int, `replacement` no bool, or `weights` not 1-D.
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        weights = torch.as_tensor(weights, dtype=torch.double)
        if len(weights.shape) != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(weights.shape)}"
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Groups the indices of another sampler into lists of `batch_size`.

    Args:
        sampler: any iterable of indices.
        batch_size: a positive int.
        drop_last: leave out a last, shorter list.
    """

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        take = self.batch_size
        while True:
            batch = list(itertools.islice(indices, take))
            if len(batch) == take:
                yield batch
                continue
            if batch and not self.drop_last:
                yield batch
            return

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)
