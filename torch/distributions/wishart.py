"""The Wishart distribution over positive definite matrices."""

import math
import warnings

import torch
from torch.distributions import constraints
from torch.distributions._matrix import half_log_det, precision_to_scale_tril
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.gamma import Gamma
from torch.distributions.utils import lazy_property

__all__ = ["Wishart"]

_log_2 = math.log(2)


def _mvdigamma(x, p):
    """Derivative of the multivariate log gamma function."""
    shift = torch.arange(p, dtype=x.dtype, device=x.device) / 2
    return torch.digamma(x.unsqueeze(-1) - shift).sum(-1)


class Wishart(ExponentialFamily):
    """Wishart distribution with `df` degrees of freedom (more than n - 1) and a scale matrix.

    Exactly one of `covariance_matrix`, `precision_matrix`, `scale_tril` (..., n, n) is given.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _params = ("df", "covariance_matrix", "precision_matrix", "scale_tril")
    _shared = ("_unbroadcasted_scale_tril",)

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite,
                "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self._event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None,
                 validate_args=None):
        given = {"scale_tril": scale_tril, "covariance_matrix": covariance_matrix,
                 "precision_matrix": precision_matrix}
        given = {name: value for name, value in given.items() if value is not None}
        assert len(given) == 1, ("Exactly one of covariance_matrix or precision_matrix or "
                                 "scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional "
                             "leading batch dimensions")
        if isinstance(df, (int, float)):
            df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        event_shape = matrix.shape[-2:]
        self.df = df.expand(batch_shape)
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = "
                             f"{event_shape[-1] - 1}.")
        if self.df.lt(event_shape[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur "
                          "for ndim - 1 < df < ndim.", stacklevel=2)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)
        self._set_diagonal_gamma(batch_shape)

    def _set_diagonal_gamma(self, batch_shape):
        # Squared diagonal of Bartlett's factor: chi-squared with df, df - 1, ... degrees.
        n = self._event_shape[-1]
        steps = torch.arange(n, dtype=self.df.dtype, device=self.df.device)
        degrees = self.df.unsqueeze(-1) - steps.expand(batch_shape + (-1,))
        self._dist_chi2 = Gamma(0.5 * degrees, 0.5)

    def _expand_parts(self, new, batch_shape):
        new._dist_chi2 = self._dist_chi2.expand(batch_shape + self._event_shape[-1:])

    @lazy_property
    def scale_tril(self):
        """Lower Cholesky factor of the scale matrix."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        """The scale matrix."""
        tril = self._unbroadcasted_scale_tril
        return (tril @ tril.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        """Inverse of the scale matrix."""
        n = self._event_shape[-1]
        identity = torch.eye(n, dtype=self.df.dtype, device=self.df.device)
        return torch.cholesky_solve(identity, self._unbroadcasted_scale_tril).expand(
            self._batch_shape + self._event_shape)

    def _df_matrix(self):
        return self.df.view(self._batch_shape + (1, 1))

    @property
    def mean(self):
        return self._df_matrix() * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, float("nan"))
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        matrix = self.covariance_matrix
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._df_matrix() * (matrix.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape=torch.Size()):
        n = self._event_shape[-1]
        squared = self._dist_chi2.rsample(sample_shape)
        eps = torch.finfo(self.df.dtype).eps
        noise = squared.sqrt().clamp(min=eps).diag_embed(dim1=-2, dim2=-1)
        rows, cols = torch.tril_indices(n, n, offset=-1)
        shape = torch.Size(sample_shape) + self._batch_shape + (n * (n - 1) // 2,)
        noise[..., rows, cols] = torch.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):
        """Draws by Bartlett's decomposition; draws are redone up to `max_try_correction` times.

        The random stream is PyTorch's, in which every draw that passes the check of positive
        definiteness is drawn a second time (and reported as singular) before it is returned.
        """
        if max_try_correction is None:
            max_try_correction = 3 if self._event_shape[-1] < 10 else 10
        sample_shape = torch.Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        redo = self._over_batch(self.support.check(sample))
        if not redo.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(max_try_correction):
            fresh = self._bartlett_sampling(redo[redo].shape)
            sample[redo] = fresh
            redo[redo.clone()] = self._over_batch(~self.support.check(fresh))
            if not redo.any():
                break
        return sample

    def _over_batch(self, mask):
        """Whether any matrix of the batch is marked, per draw."""
        ndims = len(self._batch_shape)
        return mask.amax(tuple(range(-ndims, 0))) if ndims else mask

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        half_det = half_log_det(self._unbroadcasted_scale_tril)
        trace = torch.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(
            dim1=-2, dim2=-1).sum(-1)
        return (-nu * (p * _log_2 / 2 + half_det) - torch.mvlgamma(nu / 2, p=p)
                + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - trace / 2)

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        half_det = half_log_det(self._unbroadcasted_scale_tril)
        return ((p + 1) * (p * _log_2 / 2 + half_det) + torch.mvlgamma(nu / 2, p=p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p) + nu * p / 2)

    @property
    def _natural_params(self):
        p = self._event_shape[-1]
        return -self.precision_matrix / 2, (self.df - p - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        return ((y + (p + 1) / 2) * (-torch.linalg.slogdet(-2 * x).logabsdet + _log_2 * p)
                + torch.mvlgamma(y + (p + 1) / 2, p=p))
