"""Calls of indexing, gathering and scattering."""

import torch

from . import C


def unique_index(g, high, n):
    return torch.argsort(g.uniform(high))[:n]


CASES = {
    "index_put": lambda g: [
        C(g.x(3, 4), (torch.tensor([0, 2]), torch.tensor([1, 3])), g.x(2)),
        C(g.x(3, 4), (torch.tensor([0, 2, 0]),), g.x(3, 4), True),
        C(g.x(3, 4), (g.m(3, 4),), g.x()),
    ],
    "index_select": lambda g: [C(g.x(3, 4), 1, g.i(4, 5)), C(g.x(3, 4), 0, g.i(3, 2))],
    "index_add": lambda g: [C(g.x(3, 4), 1, g.i(4, 3), g.x(3, 3)), C(g.x(3), 0, g.i(3, 5), g.x(5))],
    "index_copy": lambda g: [C(g.x(3, 4), 1, unique_index(g, 4, 3), g.x(3, 3))],
    "index_fill.int_Scalar": lambda g: [C(g.x(3, 4), 1, g.i(4, 3), 1)],
    "index_fill.int_Tensor": lambda g: [C(g.x(3, 4), 1, g.i(4, 3), g.x())],
    "index_reduce": lambda g: [
        C(g.distinct(3, 4), 1, g.i(4, 3), g.distinct(3, 3) + 1, "amax"),
        C(g.x(3, 4), 0, g.i(3, 3), g.x(3, 4), "prod"),
        C(g.x(3, 4), 1, g.i(4, 3), g.x(3, 3), "mean", include_self=False),
        C(g.distinct(3, 4), 1, g.i(4, 3), g.distinct(3, 3) + 1, "amin"),
    ],
    "masked_fill.Scalar": lambda g: [C(g.x(3, 4), g.m(3, 4), 1), C(g.x(3, 4), g.m(4), 0)],
    "masked_fill.Tensor": lambda g: [C(g.x(3, 4), g.m(3, 1), g.x())],
    "masked_select": lambda g: [C(g.x(3, 4), g.m(3, 4)), C(g.x(3, 4), g.m(4))],
    "masked_scatter": lambda g: [C(g.x(3, 4), g.m(3, 4), g.x(12)), C(g.x(3, 4), g.m(4), g.x(3, 4))],
    "take": lambda g: [C(g.x(3, 4), g.i(12, 2, 3)), C(g.x(3, 4), g.i(12, 5) - 12)],
    "put": lambda g: [
        C(g.x(3, 4), unique_index(g, 12, 5), g.x(5)),
        C(g.x(3, 4), g.i(12, 5), g.x(5), True),
    ],
    "nonzero": lambda g: [C(g.n(3, 4)), C(torch.tensor([[0, 1], [1, 0]]).to(g.d))],
    "nonzero_static": lambda g: [C(torch.tensor([[0, 1], [1, 0]]).to(g.d), size=3)],
    "gather": lambda g: [C(g.x(3, 4), 1, g.i(4, 3, 2)), C(g.x(3, 4), 0, g.i(3, 2, 4))],
    "take_along_dim": lambda g: [C(g.x(3, 4), g.i(4, 3, 2), 1), C(g.x(3, 4), g.i(12, 5))],
    "scatter.src": lambda g: [C(g.x(3, 4), 1, torch.argsort(g.uniform(3, 4), 1)[:, :2], g.x(3, 3))],
    "scatter.value": lambda g: [C(g.x(3, 4), 1, g.i(4, 3, 2), 1)],
    "scatter.reduce": lambda g: [
        C(g.x(3, 4), 1, g.i(4, 3, 2), g.x(3, 2), reduce="add"),
        C(g.x(3, 4), 0, g.i(3, 3, 2), g.x(3, 2), reduce="multiply"),
    ],
    "scatter.value_reduce": lambda g: [
        C(g.x(3, 4), 1, g.i(4, 3, 2), 2, reduce="add"),
        C(g.x(3, 4), 1, g.i(4, 3, 2), 2, reduce="multiply"),
    ],
    "scatter_add": lambda g: [
        C(g.x(3, 4), 1, g.i(4, 3, 6), g.x(3, 6)),
        C(g.x(3), 0, g.i(3, 5), g.x(5)),
    ],
    "scatter_reduce": lambda g: [
        C(g.x(3, 4), 1, g.i(4, 3, 2), g.x(3, 2), "sum"),
        C(g.x(3, 4), 1, g.i(4, 3, 6), g.x(3, 6), "prod"),
        C(g.x(3, 4), 0, g.i(3, 3, 4), g.x(3, 4), "mean", include_self=False),
        C(g.distinct(3, 4), 1, g.i(4, 3, 6), g.distinct(3, 6) + 2, "amax"),
        C(g.distinct(3, 4), 1, g.i(4, 3, 6), g.distinct(3, 6) + 2, "amin"),
    ],
    "embedding": lambda g: [C(g.x(5, 3), g.i(5, 2, 4)), C(g.x(5, 3), g.i(5, 4))],
    "embedding_dense_backward": lambda g: [C(g.x(4, 3), g.i(5, 4), 5, -1, False)],
    "embedding_renorm_": lambda g: [C(g.x(5, 3), g.i(5, 4), 0.5, 2.0)],
    "one_hot": lambda g: [C(g.i(4, 5)), C(g.i(4, 2, 3), 6)],
    "embedding_bag": lambda g: [
        C(g.x(5, 3), g.i(5, 6), torch.tensor([0, 2, 4])),
        C(g.x(5, 3), g.i(5, 6), torch.tensor([0, 2, 4]), False, 1),
        C(g.distinct(5, 3), g.i(5, 6), torch.tensor([0, 2, 4]), False, 2),
        C(g.x(5, 3), g.i(5, 6), torch.tensor([0, 2, 4]), False, 0, False, g.x(6)),
    ],
    "embedding_bag.padding_idx": lambda g: [
        C(g.x(5, 3), g.i(5, 6), torch.tensor([0, 2, 4]), False, 0, False, None, False, 1)
    ],
}
