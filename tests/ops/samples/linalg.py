"""Calls of matrix products, factorisations, solvers and matrix functions.

Matrices are far from singular and eigenvalues apart, so that gradients exist.
"""

import torch

from . import C

INF = float("inf")


def spread(g, n, *batch):
    """Matrices whose singular values and eigenvalues are far apart."""
    return g.x(*batch, n, n) + torch.diag(torch.arange(1, n + 1).to(torch.float64) * 2).to(g.d)


def tall(g, *size):
    scale = torch.arange(1, size[-1] + 1).to(torch.float64) * 2
    return g.x(*size) + torch.eye(size[-2], size[-1], dtype=torch.float64).mul(scale).to(g.d)


def lu(g, n):
    return torch.linalg.lu_factor(g.sq(n))


def reflectors(g):
    if g.d not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return g.x(4, 2), g.x(2)
    return torch.geqrf(g.x(4, 2))


def ldl(g, n):
    if g.d not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return g.x(n, n), torch.arange(1, n + 1, dtype=torch.int32)
    return torch.linalg.ldl_factor(g.spd(n))


def packed(g, n):
    if g.d not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return g.x(n, n), torch.arange(1, n + 1, dtype=torch.int32)
    return lu(g, n)


ORDERS = ("fro", "nuc", INF, -INF, 1, -1, 2, -2)
CASES = {
    "mm": lambda g: [C(g.n(3, 4), g.n(4, 2)), C(g.n(2, 0), g.n(0, 3))],
    "bmm": lambda g: [C(g.n(2, 3, 4), g.n(2, 4, 2))],
    "mv": lambda g: [C(g.n(3, 4), g.n(4))],
    "dot": lambda g: [C(g.n(5), g.n(5))],
    "inner": lambda g: [C(g.n(3, 4), g.n(2, 4)), C(g.n(4), g.n(4))],
    "outer": lambda g: [C(g.n(3), g.n(4))],
    "addmm": lambda g: [
        C(g.n(3, 2), g.n(3, 4), g.n(4, 2)),
        C(g.n(2), g.n(3, 4), g.n(4, 2), beta=2, alpha=3),
        C(g.n(3, 2), g.n(3, 4), g.n(4, 2), beta=0),
    ],
    "addbmm": lambda g: [C(g.n(3, 2), g.n(2, 3, 4), g.n(2, 4, 2), beta=2, alpha=3)],
    "baddbmm": lambda g: [C(g.n(2, 3, 2), g.n(2, 3, 4), g.n(2, 4, 2), beta=2, alpha=3)],
    "addmv": lambda g: (
        [C(g.n(3), g.n(3, 4), g.n(4)), C(g.n(1), g.n(3, 4), g.n(4), beta=2, alpha=3)]
        if g.d != torch.bool
        else [C(g.n(3), g.n(3, 4), g.n(4))]
    ),
    "addr": lambda g: [C(g.n(3, 4), g.n(3), g.n(4)), C(g.n(4), g.n(3), g.n(4), beta=2, alpha=3)],
    "matmul": lambda g: [
        C(g.n(3, 4), g.n(4, 2)),
        C(g.n(4), g.n(4)),
        C(g.n(2, 3, 4), g.n(4)),
        C(g.n(2, 1, 3, 4), g.n(2, 4, 2)),
    ],
    "linear": lambda g: [C(g.n(3, 4), g.n(2, 4)), C(g.n(2, 3, 4), g.n(2, 4), g.n(2))],
    "bilinear": lambda g: [C(g.n(3, 2), g.n(3, 4), g.n(5, 2, 4), g.n(5))],
    "einsum": lambda g: [
        C("ij,jk->ik", g.n(3, 4), g.n(4, 2)),
        C("bij,bj", g.n(2, 3, 4), g.n(2, 4)),
        C("...ii->...i", g.n(2, 3, 3)),
    ],
    "tensordot": lambda g: [
        C(g.n(2, 3, 4), g.n(3, 4, 2), 2),
        C(g.n(2, 3), g.n(4, 3), ([1], [1])),
    ],
    "chain_matmul": lambda g: [C(g.n(2, 3), g.n(3, 4), g.n(4, 2))],
    "multi_dot": lambda g: [C([g.n(2, 3), g.n(3, 4), g.n(4, 2)]), C([g.n(3), g.n(3, 4)])],
    "kron": lambda g: [C(g.n(2, 3), g.n(3, 2)), C(g.n(3), g.n(2, 2))],
    "vecdot": lambda g: [C(g.n(3, 4), g.n(3, 4)), C(g.n(3, 4), g.n(4), dim=-1)],
    "cross": lambda g: [C(g.n(2, 3), g.n(2, 3)), C(g.n(4, 3), g.n(1, 3), dim=-1)],
    "matrix_power": lambda g: [C(g.sq(3), 3), C(g.sq(3, 2), 2), C(g.sq(3), 0)],
    "cdist": lambda g: [
        C(g.n(3, 4), g.n(2, 4)),
        C(g.n(3, 4), g.n(2, 4), 1.0),
        C(g.n(3, 4), g.n(2, 4), 3.0),
    ],
    "pdist": lambda g: [C(g.n(4, 3)), C(g.n(4, 3), 1.0), C(g.n(4, 3), 3.5)],
    "matrix_norm": lambda g: [C(spread(g, 3), p) for p in ORDERS if not isinstance(p, str)],
    "matrix_norm.str": lambda g: [C(tall(g, 4, 3), p) for p in ORDERS if isinstance(p, str)],
    "linalg_norm": lambda g: [C(g.n(3, 4)), C(g.n(5), 3), C(spread(g, 3), 2), C(g.n(3, 4), 1, 1)],
    "linalg_norm.ord_str": lambda g: [C(tall(g, 4, 3), "fro"), C(tall(g, 4, 3), "nuc")],
    "cond": lambda g: [C(spread(g, 3)), C(spread(g, 3), 1), C(spread(g, 3, 2), -2)],
    "cond.str": lambda g: [C(spread(g, 3), "fro"), C(spread(g, 3), "nuc")],
    "matrix_rank.tensor": lambda g: [C(spread(g, 3), atol=torch.tensor(0.1, dtype=torch.float64))],
    "matrix_rank": lambda g: [C(spread(g, 3), atol=0.1), C(spread(g, 3))],
    "matrix_rank.tol": lambda g: [C(spread(g, 3), 0.1)],
    "matrix_rank.tol_tensor": lambda g: [C(spread(g, 3), torch.tensor(0.1, dtype=torch.float64))],
    "tensorinv": lambda g: [C(g.sq(4).reshape(2, 2, 4), 2)],
    "tensorsolve": lambda g: [C(g.sq(4).reshape(2, 2, 4), g.n(2, 2))],
    "linalg_diagonal": lambda g: [C(g.n(2, 3, 4)), C(g.n(3, 4), offset=1)],
    "linalg_vander": lambda g: [C(g.n(3)), C(g.n(2, 3), N=4)],
    "trace": lambda g: [C(g.n(3, 4))],
    "dist": lambda g: [C(g.n(3, 4), g.n(4)), C(g.n(3), g.n(3), 1), C(g.n(3), g.n(3), 3.5)],
    "renorm": lambda g: [C(g.n(3, 4), 2, 0, 0.5), C(g.n(3, 4), 1, 1, 1.0)],
    "nuclear_norm": lambda g: [C(tall(g, 4, 3)), C(tall(g, 4, 3), True)],
    "nuclear_norm.dim": lambda g: [C(tall(g, 2, 4, 3), (1, 2))],
    "frobenius_norm": lambda g: [C(g.n(3, 4), (0, 1)), C(g.n(3, 4), (1,), True)],
    "norm_except_dim": lambda g: [C(g.n(3, 4), 2, 0), C(g.n(3, 4), 2, 1)],
    "tall": lambda g: [C(tall(g, 4, 3)), C(tall(g, 2, 3, 3))],
    "householder": lambda g: [C(*reflectors(g))],
    "ormqr": lambda g: [C(*reflectors(g), g.x(4, 3)), C(*reflectors(g), g.x(3, 4), False, False)],
    "qr": lambda g: [C(tall(g, 4, 3)), C(tall(g, 2, 3, 3)), C(tall(g, 3, 3), "r")],
    "eigh": lambda g: [C(g.spd(3)), C(g.spd(2, 2), "U")],
    "eig": lambda g: [C(spread(g, 3)), C(spread(g, 3, 2))],
    "svd": lambda g: [C(tall(g, 4, 3), False), C(spread(g, 3))],
    "svd_old": lambda g: [C(tall(g, 4, 3)), C(spread(g, 3))],
    "lstsq": lambda g: [C(tall(g, 4, 3), g.n(4, 2)), C(spread(g, 3, 2), g.n(2, 3, 2))],
    "pinv.tensor": lambda g: [C(tall(g, 4, 3), rtol=torch.tensor(1e-6, dtype=torch.float64))],
    "pinv": lambda g: [C(tall(g, 4, 3)), C(g.spd(3), hermitian=True)],
    "pinv.rcond": lambda g: [C(tall(g, 4, 3), 1e-6)],
    "pinv.rcond_tensor": lambda g: [C(tall(g, 4, 3), torch.tensor(1e-6, dtype=torch.float64))],
    "square": lambda g: [C(g.sq(3)), C(g.sq(2, 2))],
    "small_square": lambda g: [C(g.x(3, 3)), C(g.x(2, 2, 2))],
    "positive": lambda g: [C(g.spd(3)), C(g.spd(2, 2))],
    "lu_factor": lambda g: [C(g.sq(3)), C(g.sq(2, 2)), C(tall(g, 4, 3))],
    "lu_unpack": lambda g: [C(*packed(g, 3))],
    "linalg_lu_solve": lambda g: [
        C(*packed(g, 3), g.x(3, 2)),
        C(*packed(g, 3), g.x(2, 3), left=False),
    ],
    "lu_solve": lambda g: [C(g.x(3, 2), *packed(g, 3))],
    "solve": lambda g: [
        C(g.sq(3), g.x(3, 2)),
        C(g.sq(3, 2), g.x(2, 3)),
        C(g.sq(3), g.x(2, 3), left=False),
    ],
    "solve_triangular": lambda g: [
        C(g.tri(3), g.x(3, 2), upper=False),
        C(g.tri(3).transpose(-1, -2), g.x(2, 3), upper=True, left=False),
        C(g.tri(3, 2), g.x(2, 3, 1), upper=False, unitriangular=True),
    ],
    "triangular_solve": lambda g: [
        C(g.x(3, 2), g.tri(3), False),
        C(g.x(3, 2), g.tri(3), False, True),
    ],
    "cholesky_solve": lambda g: [C(g.x(3, 2), g.tri(3)), C(g.x(3, 2), g.tri(3).mT, True)],
    "cholesky_inverse": lambda g: [C(g.tri(3)), C(g.tri(2, 2).mT, True)],
    "ldl_solve": lambda g: [C(*ldl(g, 3), g.x(3, 2))],
}
CASES.update(
    {
        "fft": lambda g: [C(g.x(3, 5)), C(g.x(3, 4), 6, 0), C(g.x(3, 4), 3, -1, "ortho")],
        "fftn": lambda g: [
            C(g.x(2, 3, 5)),
            C(g.x(3, 4), (2, 6)),
            C(g.x(3, 4), None, (0, 1), "forward"),
        ],
        "rfft": lambda g: [C(g.r(3, 5)), C(g.r(3, 4), 6, 0), C(g.r(3, 4), 3, -1, "ortho")],
        "rfftn": lambda g: [
            C(g.r(2, 3, 5)),
            C(g.r(3, 4), (2, 6)),
            C(g.r(3, 4), None, (0, 1), "forward"),
        ],
    }
)
