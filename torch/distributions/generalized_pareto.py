"""The generalized Pareto distribution (Pickands, 1975)."""

import math

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Excesses over a threshold: location `loc`, `scale`, tail index `concentration`.

    Concentration 0 is the shifted exponential; below 0 the support is bounded above.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive,
                       "concentration": constraints.real}
    has_rsample = True
    _params = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        numbers = all(isinstance(v, (int, float)) for v in (loc, scale, concentration))
        super().__init__(torch.Size() if numbers else self.loc.size(),
                         validate_args=validate_args)

    def rsample(self, sample_shape=torch.Size()):
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype,
                       device=self.loc.device)
        return self.icdf(u)

    def _exponential_limit(self):
        """Where the concentration is 0 (nearly), and the concentration made safe to divide by."""
        near_zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        safe = torch.where(near_zero, torch.ones_like(self.concentration), self.concentration)
        return near_zero, safe

    def _z(self, x):
        return (x - self.loc) / self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        near_zero, k = self._exponential_limit()
        inverse = 1 / k
        power = inverse + torch.ones_like(z)
        bent = torch.where(power == 0, power, power * torch.log1p(k * z))
        return -self.scale.log() - torch.where(near_zero, z, bent)

    def log_survival_function(self, value):
        """log P(X > value)."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        near_zero, k = self._exponential_limit()
        return torch.where(near_zero, -z, -torch.log1p(k * z) / k)

    def log_cdf(self, value):
        """log P(X <= value)."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return torch.exp(self.log_cdf(value))

    def icdf(self, value):
        near_zero, k = self._exponential_limit()
        log_tail = torch.log1p(-value)
        bent = self.loc + self.scale / k * torch.expm1(-k * log_tail)
        return torch.where(near_zero, self.loc - self.scale * log_tail, bent)

    @property
    def mean(self):
        valid = self.concentration < 1
        k = torch.where(valid, self.concentration, 0.5)
        return torch.where(valid, self.loc + self.scale / (1 - k), math.nan)

    @property
    def variance(self):
        valid = self.concentration < 0.5
        k = torch.where(valid, self.concentration, 0.25)
        value = self.scale ** 2 / ((1 - k) ** 2 * (1 - 2 * k))
        return torch.where(valid, value, math.nan)

    def entropy(self):
        return (torch.log(self.scale) + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self):
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration,
                            math.inf)
        return constraints.interval(self.loc, upper)
