"""Randomised low-rank SVD and PCA.

Algorithms 4.4 and 5.1 of N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with
randomness", SIAM Review 53(2), 2011.
"""

import torch

__all__ = ["get_approximate_basis", "svd_lowrank", "pca_lowrank"]


def get_approximate_basis(A, q, niter=2, M=None):
    """An orthonormal basis of `q` columns for the range of A (less M): random projection, then
    `niter` rounds of power iteration."""
    niter = 2 if niter is None else niter
    if M is not None:
        A = A - M
    R = torch.randn(A.shape[:-2] + (A.shape[-1], q), dtype=A.dtype, device=A.device)
    Q = torch.linalg.qr(torch.matmul(A, R)).Q
    adjoint = A.mH
    for _ in range(niter):
        Q = torch.linalg.qr(torch.matmul(adjoint, Q)).Q
        Q = torch.linalg.qr(torch.matmul(A, Q)).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) with A - M close to ``U diag(S) V^H``, of rank `q`."""
    q = 6 if q is None else q
    m, n = A.shape[-2:]
    if M is not None:
        A = A - M.expand(A.shape)
    wide = m < n
    if wide:
        A = A.mH
    Q = get_approximate_basis(A, q, niter=niter)
    B = torch.matmul(Q.mH, A)
    U, S, Vh = torch.linalg.svd(B, full_matrices=False)
    U, V = torch.matmul(Q, U), Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    """(U, S, V) of the matrix whose rows are observations, its columns centred unless told not
    to."""
    if not torch.is_floating_point(A) and not A.is_complex():
        raise ValueError(f"pca_lowrank: expected a floating point matrix, got {A.dtype}")
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter=niter)
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True), q, niter=niter)
