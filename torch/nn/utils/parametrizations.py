"""Ready parametrizations: orthogonal matrices, weight norm, spectral norm."""
from __future__ import annotations

from enum import Enum, auto

import torch
import torch.nn.functional as F
from torch.nn.modules import Module
from torch.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(Q, eps=None):
    rows, cols = Q.size(-2), Q.size(-1)
    identity = torch.eye(cols, dtype=Q.dtype, device=Q.device)
    # Rounding grows with the size of the sums.
    eps = 10.0 * rows * torch.finfo(Q.dtype).eps
    return torch.allclose(Q.mH @ Q, identity, atol=eps)


def _make_orthogonal(A):
    """The Q of A = QR with a positive diagonal of R, by Householder reflections."""
    X, tau = torch.geqrf(A)
    Q = torch.linalg.householder_product(X, tau)
    Q *= X.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return Q


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Maps any matrix to one with orthonormal columns, or rows where it is wide.

    With trivialization (Lezcano-Casado 2019) the map is taken around `base`, so that any
    orthogonal matrix can be assigned.
    """

    base: torch.Tensor

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError(
                "The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        n, k = X.size(-2), X.size(-1)
        transposed = n < k
        if transposed:
            X = X.mT
            n, k = k, n
        if self.orthogonal_map == _OrthMaps.householder:
            Q = self._by_householder(X)
        else:
            Q = self._by_skew_matrix(X, n, k)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def _by_skew_matrix(self, X, n, k):
        """The exponential or the Cayley transform of the skew part of X."""
        X = X.tril()
        if n != k:
            X = torch.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
        A = X - X.mH
        if self.orthogonal_map == _OrthMaps.matrix_exp:
            Q = torch.matrix_exp(A)
        else:
            identity = torch.eye(n, dtype=A.dtype, device=A.device)
            Q = torch.linalg.solve(torch.add(identity, A, alpha=-0.5),
                                   torch.add(identity, A, alpha=0.5))
        return Q[..., :k] if n != k else Q

    def _by_householder(self, X):
        """The product of the reflections below the diagonal; signs are on the diagonal."""
        A = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
        Q = torch.linalg.householder_product(A, tau)
        return Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, Q):
        """The matrix that `forward` maps to `Q`; makes `Q` orthogonal where it is not."""
        if Q.shape != self.shape:
            raise ValueError("Expected a matrix or batch of matrices of shape "
                             f"{self.shape}. Got a tensor of shape {Q.shape}.")
        original = Q
        n, k = Q.size(-2), Q.size(-1)
        transposed = n < k
        if transposed:
            Q = Q.mT
            n, k = k, n
        if not hasattr(self, "base"):
            return self._invert_householder(Q, transposed)
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            # Random columns complete the square; the first k decide.
            rest = torch.randn(*(Q.size()[:-2] + (n, n - k)), dtype=Q.dtype, device=Q.device)
            Q = _make_orthogonal(torch.cat([Q, rest], dim=-1))
        self.base = Q
        # At minus the identity all three maps give the identity.
        negative = torch.zeros_like(original)
        negative.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return negative

    def _invert_householder(self, Q, transposed):
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False.")
        A, _ = torch.geqrf(Q)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[diagonal == 0.0] += 1
        return A.mT if transposed else A


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep the matrix `name` of `module` orthogonal (or semi-orthogonal).

    Args:
        module (Module): the owner; it is changed and returned.
        name (str): a matrix, or a batch of them. Default: ``"weight"``.
        orthogonal_map (str, optional): "matrix_exp", "cayley" or "householder"; None means
            the first for square or complex matrices and the last for others.
        use_trivialization (bool): whether any orthogonal matrix can be assigned, at the price
            of one more matrix and product. Default: ``True``.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(
            f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. Got a tensor of "
                         f"{weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", '
                         f'"householder". Got: {orthogonal_map}')
    parametrization = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, parametrization, unsafe=True)
    return module


class _WeightNorm(Module):
    """weight = g * v / |v| (Salimans & Kingma 2016)."""

    def __init__(self, dim=0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / self._norm(weight_v))

    def right_inverse(self, weight):
        return self._norm(weight), weight

    def _norm(self, weight):
        from torch.nn.utils.weight_norm import _norm_except_dim
        return _norm_except_dim(weight, self.dim)


def weight_norm(module, name="weight", dim=0):
    """Parametrize a weight by its norm (``original0``) and direction (``original1``).

    Args:
        module (Module): the owner; it is changed and returned.
        name (str): the parameter. Default: ``"weight"``.
        dim (int, optional): each index along it has a norm; None means one norm. Default: 0.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename_old_keys(state_dict, prefix, local_metadata, strict, missing_keys,
                        unexpected_keys, error_msgs):
        # Checkpoints made with the hook of the same name.
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename_old_keys)
    return module


class _SpectralNorm(Module):
    """The weight divided by its largest singular value (Miyato et al. 2018)."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError("Dimension out of range (expected to be in range of "
                             f"[-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            # Of a vector the largest singular value is its norm: nothing is kept.
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, cols = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(cols).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            # Fifteen steps give a first estimate good enough for most matrices.
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            others = (d for d in range(weight.dim()) if d != self.dim)
            weight = weight.permute(self.dim, *others)
        return weight.flatten(1)

    def _power_method(self, weight_mat, n_power_iterations) -> None:
        with torch.no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(torch.mv(weight_mat, self._v), dim=0,
                                          eps=self.eps))
                self._v.copy_(F.normalize(torch.mv(weight_mat.mH, self._u), dim=0,
                                          eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The buffers change again at the next call: backward needs these values.
        u = self._u.clone(memory_format=torch.contiguous_format)
        v = self._v.clone(memory_format=torch.contiguous_format)
        return weight / torch.vdot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Parametrize a weight so that its largest singular value is one.

    Args:
        module (Module): the owner; it is changed and returned.
        name (str): the parameter. Default: ``"weight"``.
        n_power_iterations (int): steps of the power method per training forward. Default: 1.
        eps (float): smallest norm to divide by. Default: 1e-12.
        dim (int, optional): the output dimension; None means 1 for transposed convolutions
            and 0 else.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(
            f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        transposed = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d,
                      torch.nn.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
