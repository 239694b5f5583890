"""Multivariate normals whose covariance is W W^T + diag(D) with a thin W."""

import math

import torch
from torch.distributions import constraints
from torch.distributions._matrix import half_log_det, mahalanobis, matvec
from torch.distributions.distribution import Distribution
from torch.distributions.utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _capacitance_tril(factor, diagonal):
    """Cholesky factor of I + W^T D^-1 W."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    capacitance = torch.matmul(scaled, factor).contiguous()
    m = factor.shape[-1]
    capacitance.view(-1, m * m)[:, ::m + 1] += 1
    return torch.linalg.cholesky(capacitance)


def lowrank_log_det(factor, diagonal, capacitance_tril):
    """log det of W W^T + D, by the matrix determinant lemma."""
    return 2 * half_log_det(capacitance_tril) + diagonal.log().sum(-1)


def lowrank_mahalanobis(factor, diagonal, x, capacitance_tril):
    """x^T (W W^T + D)^-1 x, by the Woodbury identity."""
    projected = matvec(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - mahalanobis(capacitance_tril, projected)


# Probabilistic programming libraries import these by PyTorch's private names.
_batch_capacitance_tril = _capacitance_tril
_batch_lowrank_logdet = lowrank_log_det
_batch_lowrank_mahalanobis = lowrank_mahalanobis


class LowRankMultivariateNormal(Distribution):
    """Normal with mean `loc` (..., n), `cov_factor` W (..., n, m) and `cov_diag` D (..., n)."""

    arg_constraints = {"loc": constraints.real_vector,
                       "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True
    _params = ("loc", "cov_factor", "cov_diag", "scale_tril", "covariance_matrix",
               "precision_matrix", "variance")
    _shared = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional "
                             "leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError("cov_factor must be a batch of matrices with shape "
                             f"{event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch_shape = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2],
                                                 cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor "
                             f"{cov_factor.shape}, cov_diag {cov_diag.shape}") from error
        self.loc = loc.expand(batch_shape + event_shape)
        self.cov_diag = cov_diag.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        """Diagonal of the covariance."""
        own = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return own.expand(self._batch_shape + self._event_shape)

    def _matrix_shape(self):
        return self._batch_shape + self._event_shape + self._event_shape

    @lazy_property
    def scale_tril(self):
        """Lower Cholesky factor of the covariance: sqrt(D) chol(I + D^-1/2 W W^T D^-1/2)."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        kernel = torch.matmul(scaled, scaled.mT).contiguous()
        n = self._event_shape[0]
        kernel.view(-1, n * n)[:, ::n + 1] += 1
        return (root * torch.linalg.cholesky(kernel)).expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self):
        """W W^T + diag(D)."""
        factor = self._unbroadcasted_cov_factor
        dense = torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag)
        return dense.expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self):
        """Inverse of the covariance, by the Woodbury identity."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        solved = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        dense = torch.diag_embed(diagonal.reciprocal()) - torch.matmul(solved.mT, solved)
        return dense.expand(self._matrix_shape())

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        small = shape[:-1] + self.cov_factor.shape[-1:]
        options = {"dtype": self.loc.dtype, "device": self.loc.device}
        eps_factor = _standard_normal(small, **options)
        eps_diag = _standard_normal(shape, **options)
        return (self.loc + matvec(self._unbroadcasted_cov_factor, eps_factor)
                + self._unbroadcasted_cov_diag.sqrt() * eps_diag)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        parts = (self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag)
        distance = lowrank_mahalanobis(*parts, value - self.loc, self._capacitance_tril)
        log_det = lowrank_log_det(*parts, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self):
        log_det = lowrank_log_det(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag,
                                  self._capacitance_tril)
        result = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return result.expand(self._batch_shape) if self._batch_shape else result
