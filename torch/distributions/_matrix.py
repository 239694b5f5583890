"""Batched triangular algebra shared by the distributions with a covariance matrix."""

import torch


def matvec(matrix, vector):
    """(..., n, m) times (..., m)."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def mahalanobis(tril, x):
    """Squared length of `tril`^-1 `x`: x^T (L L^T)^-1 x over the batch."""
    if tril.dim() == 2:
        # One factor for all vectors: solve once with the vectors as columns.
        columns = x.reshape(-1, x.shape[-1]).T
        solved = torch.linalg.solve_triangular(tril, columns, upper=False)
        return solved.pow(2).sum(0).reshape(x.shape[:-1])
    solved = torch.linalg.solve_triangular(tril, x.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def half_log_det(tril):
    """Half the log determinant of L L^T."""
    return tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision):
    """Cholesky factor of the inverse of `precision`.

    With J the exchange matrix and J P J = C C^T, the factor is (J C^T J)^-1, lower triangular.
    """
    flipped = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse_factor = torch.flip(flipped, (-2, -1)).mT
    identity = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return torch.linalg.solve_triangular(inverse_factor, identity, upper=False)
