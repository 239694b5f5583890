"""The binomial distribution."""

import torch
from torch.distributions import constraints
from torch.distributions._binary import BinaryParam
from torch.distributions.distribution import Distribution

__all__ = ["Binomial"]


class Binomial(BinaryParam, Distribution):
    """Number of successes in `total_count` trials of probability `probs` (or by `logits`)."""

    arg_constraints = {"total_count": constraints.nonnegative_integer,
                       "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True
    _params = ("total_count", "probs", "logits")

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        batch_shape = self._set_count_and_param(total_count, probs, logits)
        super().__init__(batch_shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        # log C(n, k) + k logit - n log(1 + e^logit), the last written without overflow.
        choose = (torch.lgamma(self.total_count + 1) - torch.lgamma(value + 1)
                  - torch.lgamma(self.total_count - value + 1))
        softplus = (self._positive_logits() + torch.log1p(torch.exp(-torch.abs(self.logits))))
        return value * self.logits + choose - self.total_count * softplus

    def _positive_logits(self):
        # max(logits, 0) with gradient one half at 0, so that the whole stays smooth there.
        return (self.logits.clamp(min=0) + self.logits - self.logits.clamp(max=0)) / 2

    def _common_count(self, method):
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(
                f"Inhomogeneous total count not supported by `{method}`.")
        return count

    def entropy(self):
        self._common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = self._common_count("enumerate_support")
        values = torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
