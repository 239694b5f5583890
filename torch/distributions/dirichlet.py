"""The Dirichlet distribution over the simplex."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.distributions import constraints
from torch.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


def _concentration_grad(x, concentration, grad_output):
    # Implicit reparameterisation (Figurnov et al., 2018): moving one coordinate shrinks the others
    # in proportion, so dx_j/da_i = g_i (delta_ij - x_j) with g_i from `_dirichlet_grad`.
    total = concentration.sum(-1, True).expand_as(concentration)
    per_coordinate = torch._dirichlet_grad(x, concentration, total)
    return per_coordinate * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx, concentration):
        x = torch._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, concentration = ctx.saved_tensors
        return _concentration_grad(x, concentration, grad_output)


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution with `concentration` of shape (..., k); draws sum to 1 over k."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _params = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:],
                         validate_args=validate_args)

    def rsample(self, sample_shape=()):
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        alpha = self.concentration
        return (torch.xlogy(alpha - 1.0, value).sum(-1) + torch.lgamma(alpha.sum(-1))
                - torch.lgamma(alpha).sum(-1))

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        shifted = (self.concentration - 1).clamp(min=0.0)
        mode = shifted / shifted.sum(-1, True)
        # With all concentrations below 1 the density peaks at every corner; this is the first.
        corner = (self.concentration < 1).all(-1, keepdim=True)
        index = mode.argmax(-1, keepdim=True)
        peak = torch.zeros_like(mode).scatter(-1, index, 1.0)
        return torch.where(corner, peak, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return (self.concentration * (total - self.concentration)
                / (total.pow(2) * (total + 1)))

    def entropy(self):
        k = self.concentration.shape[-1]
        alpha = self.concentration
        total = alpha.sum(-1)
        return (torch.lgamma(alpha).sum(-1) - torch.lgamma(total)
                - (k - total) * torch.digamma(total)
                - ((alpha - 1.0) * torch.digamma(alpha)).sum(-1))

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
