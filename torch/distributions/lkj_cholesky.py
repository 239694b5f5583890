"""Cholesky factors of LKJ-distributed correlation matrices (Lewandowski et al., 2009)."""

import torch
from torch.distributions import constraints
from torch.distributions.beta import Beta
from torch.distributions.distribution import Distribution
from torch.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Factors L of `dim` x `dim` correlation matrices, density det(L L^T)^(concentration - 1)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _params = ("concentration",)
    _shared = ("dim",)

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError("Expected dim to be an integer greater than or equal to 2. "
                             f"Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # Onion method: squared length of row k below the diagonal is Beta(k/2, c + (d-1-k)/2);
        # row 0 has length 0 and gets Beta(1/2, c + (d-2)/2), which is then ignored.
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype,
                              device=self.concentration.device)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def _expand_parts(self, new, batch_shape):
        new._beta = self._beta.expand(batch_shape + (self.dim,))

    def sample(self, sample_shape=torch.Size()):
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        u = torch.randn(shape, dtype=y.dtype, device=y.device).tril(-1)
        direction = u / u.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        w = torch.sqrt(y) * direction
        tiny = torch.finfo(w.dtype).tiny
        diagonal = torch.clamp(1 - torch.sum(w ** 2, dim=-1), min=tiny).sqrt()
        w += torch.diag_embed(diagonal)
        return w

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        # prod_k L_kk^(2 (c - 1) + d - k), k counted from 1; normaliser on page 1999 of the paper.
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalised = torch.sum(order * diagonal.log(), dim=-1)
        below = self.dim - 1
        alpha = self.concentration + 0.5 * below
        denominator = torch.lgamma(alpha) * below
        numerator = torch.mvlgamma(alpha - 0.5, below)
        pi_constant = 0.5 * below * torch.log(torch.full_like(alpha, torch.pi))
        return unnormalised - (pi_constant + numerator - denominator)
