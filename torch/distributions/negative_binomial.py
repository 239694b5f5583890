"""The negative binomial distribution: successes before `total_count` failures."""

import torch
from torch.distributions import constraints
from torch.distributions._binary import BinaryParam
from torch.distributions.distribution import Distribution
from torch.distributions.gamma import Gamma
from torch.distributions.utils import lazy_property
from torch.nn.functional import logsigmoid

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryParam, Distribution):
    """Successes of probability `probs` before `total_count` (any non-negative number) failures."""

    arg_constraints = {"total_count": constraints.greater_than_eq(0),
                       "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer
    _params = ("total_count", "probs", "logits")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        batch_shape = self._set_count_and_param(total_count, probs, logits)
        super().__init__(batch_shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        # A gamma mixture of Poissons; validation off because total_count may be 0.
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits),
                     validate_args=False)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        kernel = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        log_norm = (-torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value)
                    + torch.lgamma(self.total_count))
        # No failures to wait for: all mass at 0, where the formula reads inf - inf.
        log_norm = log_norm.masked_fill(self.total_count + value == 0.0, 0.0)
        return kernel - log_norm
