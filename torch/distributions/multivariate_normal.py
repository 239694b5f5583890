"""The multivariate normal distribution."""

import math

import torch
from torch.distributions import constraints
from torch.distributions._matrix import (half_log_det, mahalanobis, matvec,
                                         precision_to_scale_tril)
from torch.distributions.distribution import Distribution
from torch.distributions.utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]

# Probabilistic programming libraries import these by PyTorch's private names.
_batch_mv = matvec
_batch_mahalanobis = mahalanobis
_precision_to_scale_tril = precision_to_scale_tril


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc` (..., n) and one of three (..., n, n) descriptions of spread.

    Exactly one of `covariance_matrix`, `precision_matrix`, `scale_tril` is given; the others are
    computed when asked for. `scale_tril` is what all computations use.
    """

    arg_constraints = {"loc": constraints.real_vector,
                       "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True
    _params = ("loc", "covariance_matrix", "precision_matrix", "scale_tril")
    _shared = ("_unbroadcasted_scale_tril",)

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None,
                 validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"scale_tril": scale_tril, "covariance_matrix": covariance_matrix,
                 "precision_matrix": precision_matrix}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or "
                             "scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            shown = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{shown} must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    @lazy_property
    def scale_tril(self):
        """Lower Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(
            self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        tril = self._unbroadcasted_scale_tril
        return torch.matmul(tril, tril.mT).expand(
            self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        """Inverse of the covariance."""
        return torch.cholesky_inverse(self._unbroadcasted_scale_tril).expand(
            self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(
            self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + matvec(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        log_norm = self._event_shape[0] * math.log(2 * math.pi) + distance
        return -0.5 * log_norm - half_log_det(self._unbroadcasted_scale_tril)

    def entropy(self):
        half_det = half_log_det(self._unbroadcasted_scale_tril)
        result = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half_det
        return result.expand(self._batch_shape) if self._batch_shape else result
