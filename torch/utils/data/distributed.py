"""The sampler that gives each process of a job its own share of a dataset."""

import math

import torch

from .sampler import Sampler

__all__ = ["DistributedSampler"]


def _job_shape(num_replicas, rank):
    """Fills in what the caller left open from the default process group."""
    if num_replicas is None or rank is None:
        import torch.distributed as dist

        if not dist.is_available():
            raise RuntimeError("Requires distributed package to be available")
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
    if rank >= num_replicas or rank < 0:
        raise ValueError(
            f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
        )
    return num_replicas, rank


class DistributedSampler(Sampler):
    """Every `num_replicas`-th index, starting at `rank`, of one common order.

    All processes must pass the same `seed` and call `set_epoch` with the same number before each
    pass; the shares are then disjoint and equal in size. The order is padded with its own
    beginning to a multiple of `num_replicas`, or cut to one if `drop_last`.

    Args:
        dataset: anything with a length.
        num_replicas, rank: taken from the default process group where None.
        shuffle: permute, seeded with ``seed + epoch``; otherwise ascending.

    Raises:
        ValueError: `rank` outside [0, num_replicas).
    """

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        num_replicas, rank = _job_shape(num_replicas, rank)
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        n = len(dataset)
        if drop_last and n % num_replicas:
            self.num_samples = math.ceil((n - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self):
        n = len(self.dataset)
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(n, generator=generator).tolist()
        else:
            order = list(range(n))
        missing = self.total_size - len(order)
        if not self.drop_last and missing > 0 and order:
            order += (order * math.ceil(missing / len(order)))[:missing]
        order = order[: self.total_size]
        if len(order) != self.total_size:
            raise AssertionError(
                f"Number of indices ({len(order)}) does not match total_size ({self.total_size})"
            )
        share = order[self.rank : self.total_size : self.num_replicas]
        if len(share) != self.num_samples:
            raise AssertionError(
                f"Number of subsampled indices ({len(share)}) "
                f"does not match num_samples ({self.num_samples})"
            )
        return iter(share)

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Chooses the permutation of the next pass."""
        self.epoch = epoch
