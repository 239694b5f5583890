"""Exponential families: densities of the form h(x) exp(<eta, t(x)> - F(eta))."""

import torch
from torch.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of the exponential families.

    A subclass gives its natural parameters, the log normaliser F and the mean of log h; entropy
    and KL divergence within the family then follow from F (Nielsen and Nock, 2010).
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """F(eta) - <eta, grad F(eta)> - E[log h]."""
        result = -self._mean_carrier_measure
        params = [p.detach().requires_grad_() for p in self._natural_params]
        with torch.enable_grad():
            normalizer = self._log_normalizer(*params)
            grads = torch.autograd.grad(normalizer.sum(), params, create_graph=True)
        result = result + normalizer
        for param, grad in zip(params, grads):
            inner = (param * grad).reshape(self._batch_shape + (-1,)).sum(-1)
            result = result - inner
        return result
