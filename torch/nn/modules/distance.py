"""Distances between vectors as layers."""
from __future__ import annotations

import torch.nn.functional as F

from .module import Module

__all__ = ["PairwiseDistance", "CosineSimilarity"]


class PairwiseDistance(Module):
    """The p-norm of ``x1 - x2 + eps`` over the last dimension.

    Args:
        p (float): the norm. Default: 2.
        eps (float): keeps the gradient finite where both are equal. Default: 1e-6.
        keepdim (bool): whether the last dimension stays, with size 1. Default: ``False``.
    """

    __constants__ = ["norm", "eps", "keepdim"]
    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p=2.0, eps=1e-6, keepdim=False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between ``x1`` and ``x2`` along `dim`.

    Args:
        dim (int): the dimension of the vectors. Default: 1.
        eps (float): smallest norm to divide by. Default: 1e-8.
    """

    __constants__ = ["dim", "eps"]
    dim: int
    eps: float

    def __init__(self, dim=1, eps=1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
