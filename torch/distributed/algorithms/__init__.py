"""Algorithms over processes: uneven inputs (`join`)."""

from torch.distributed.algorithms.join import Join, Joinable, JoinHook  # noqa: F401
