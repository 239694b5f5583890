"""Small tensor functions that the distributions share: broadcasting, logits and probabilities,
lazily computed attributes, packing of triangular matrices."""

import torch
from torch.overrides import is_tensor_like

__all__ = ["broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property",
           "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060
_Number = (int, float, bool)


def broadcast_all(*values):
    """Tensors and Python numbers -> tensors of one shape.

    Numbers take dtype and device of the first tensor, or the default dtype if there is none.
    Raises ValueError for anything else.
    """
    if not all(is_tensor_like(v) or isinstance(v, _Number) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or "
                         "objects implementing __torch_function__.")
    if not all(is_tensor_like(v) for v in values):
        options = {"dtype": torch.get_default_dtype()}
        for value in values:
            if isinstance(value, torch.Tensor):
                options = {"dtype": value.dtype, "device": value.device}
                break
        values = [v if is_tensor_like(v) else torch.tensor(v, **options) for v in values]
    return torch.broadcast_tensors(*values)


def _standard_normal(shape, dtype, device):
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value, dim):
    """Sums out the last `dim` dimensions."""
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def logits_to_probs(logits, is_binary=False):
    """Log-odds (`is_binary`) or unnormalised log-probabilities -> probabilities."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, dim=-1)


def clamp_probs(probs):
    """Keeps probabilities at least one machine epsilon away from 0 and 1."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """The inverse of `logits_to_probs`; clamps first, so the result is finite."""
    clamped = clamp_probs(probs)
    log_probs = torch.log(clamped)
    return log_probs - torch.log1p(-clamped) if is_binary else log_probs


class lazy_property:
    """Attribute computed by the wrapped method at first access and then kept on the object."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        self.__name__ = getattr(wrapped, "__name__", None)
        self.__doc__ = getattr(wrapped, "__doc__", None)
        self.__module__ = getattr(wrapped, "__module__", None)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What a class shows for a lazy attribute: documentation tools take it for a property."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


def vec_to_tril_matrix(vec, diag=0):
    """Vectors (..., k) -> lower triangular matrices (..., n, n), filled row by row.

    `diag` (0 or below) is the highest filled diagonal. Raises ValueError if k fills no such
    triangle.
    """
    size = vec.shape[-1]
    # With m = n + diag <= n the triangle has m (m + 1) / 2 entries. Only a size that rounds up
    # is refused here; one that rounds down fails below, where the entries do not fit.
    exact = ((1 + 8 * size) ** 0.5 - 1) / 2
    m = round(exact)
    if m - exact > torch.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {size} which cannot be expressed as "
                         "the lower triangular part of a square D x D matrix.")
    n = m - diag
    rows, cols = torch.tril_indices(n, n, offset=diag, device=vec.device)
    matrix = vec.new_zeros(vec.shape[:-1] + (n, n))
    matrix[..., rows, cols] = vec
    return matrix


def tril_matrix_to_vec(mat, diag=0):
    """Lower triangles (up to diagonal `diag`) of (..., n, n), row by row, as (..., k)."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, cols = torch.tril_indices(n, n, offset=diag, device=mat.device)
    return mat[..., rows, cols]
