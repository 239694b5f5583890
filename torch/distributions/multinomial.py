"""The multinomial distribution."""

import torch
from torch.distributions import constraints
from torch.distributions.binomial import Binomial
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution
from torch.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """Counts of K outcomes in `total_count` (one int) trials with `probs` or `logits` (..., K)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _params = ()
    _shared = ("total_count",)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def _expand_parts(self, new, batch_shape):
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = Binomial(total_count=self.total_count, probs=new._categorical.probs,
                                 validate_args=False)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    @property
    def logits(self):
        """Normalised log-probabilities."""
        return self._categorical.logits

    @property
    def probs(self):
        """Normalised probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self):
        return self._categorical.param_shape

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        trials = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        trials = trials.permute(tuple(range(1, trials.dim())) + (0,))
        counts = trials.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, trials, torch.ones_like(trials))
        return counts.type_as(self.probs)

    def entropy(self):
        n = torch.tensor(self.total_count)
        main = n * self._categorical.entropy() - torch.lgamma(n + 1)
        values = self._binomial.enumerate_support(expand=False)[1:]
        binomial_probs = torch.exp(self._binomial.log_prob(values))
        return main + (binomial_probs * torch.lgamma(values + 1)).sum([0, -1])

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        # 0 trials of an impossible outcome: 0 * -inf counts as 0.
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)
        orders = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        return orders + (logits * value).sum(-1)
