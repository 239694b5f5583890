"""Calls of reductions, scans, sorting and counting."""

import torch

from . import C

INF = float("inf")


def stretch(a, low, high):
    """Values below one spread over a range of integers."""
    return a if not a.is_floating_point() else a * (high - low) + low


CASES = {
    "reduce_all": lambda g: [C(g.n(3, 4)), C(g.n())],
    "reduce": lambda g: [
        C(g.n(2, 3, 4), 1),
        C(g.n(2, 3, 4), (0, -1), True),
        C(g.n(3), 0),
        C(g.n(3, 0, 2), 1),
    ],
    "nansum": lambda g: [C(g.n(3, 4)), C(g.n(2, 3, 4), (0, 2)), C(g.n(3, 4), 1, True)],
    "reduce_one": lambda g: [C(g.n(2, 3, 4), 1), C(g.n(2, 3, 4), -1, True), C(g.n(), 0)],
    "argmax": lambda g: [C(g.distinct(3, 4)), C(g.distinct(3, 4), 0), C(g.distinct(3, 4), 1, True)],
    "extremum_one": lambda g: [C(g.distinct(3, 4), 0), C(g.distinct(3, 4), -1, True)],
    "amax": lambda g: [C(g.distinct(3, 4)), C(g.distinct(3, 4), 1), C(g.distinct(2, 3, 2), (0, 2))],
    "aminmax": lambda g: [C(g.distinct(3, 4)), C(g.distinct(3, 4), dim=1, keepdim=True)],
    "along_dim": lambda g: [C(g.n(3, 4), 0), C(g.n(3, 4), -1), C(g.n(), 0)],
    "cumulative_extremum": lambda g: [C(g.distinct(3, 4), 0), C(g.distinct(3, 4), 1)],
    "any": lambda g: [C(g.x(3, 4))],
    "count_nonzero": lambda g: [C(g.n(3, 4)), C(g.n(3, 4), 1), C(g.n(2, 3, 4), (0, 2))],
    "var.correction": lambda g: [
        C(g.n(3, 4)),
        C(g.n(3, 4), 1, correction=0),
        C(g.n(2, 3, 4), (0, 2), correction=2, keepdim=True),
    ],
    "var": lambda g: [C(g.n(3, 4)), C(g.n(3, 4), False)],
    "var.dim": lambda g: [C(g.n(3, 4), 1), C(g.n(2, 3, 4), (0, 2), False, True)],
    "vector_norm": lambda g: [
        C(g.n(3, 4), 2),
        C(g.n(3, 4), 1, 1, True),
        C(g.n(3, 4), 3.5, 0),
        C(g.n(3, 4), INF),
        C(g.n(2, 3, 4), -INF, (0, 2)),
        C(g.n(3, 4), 0),
    ],
    "softmax": lambda g: [C(g.n(3, 4), 0), C(g.n(2, 3, 4), 1), C(g.n(), 0)],
    "logsumexp": lambda g: [C(g.n(3, 4), 0), C(g.n(2, 3, 4), (0, 2), True)],
    "sort": lambda g: [C(g.distinct(3, 4)), C(g.distinct(3, 4), 0, True), C(g.distinct(6))],
    "sort.stable": lambda g: [C(g.distinct(3, 4), stable=True, dim=0, descending=True)],
    "topk": lambda g: [C(g.distinct(3, 4), 2), C(g.distinct(3, 4), 2, 0, False)],
    "kthvalue": lambda g: [C(g.distinct(3, 4), 2), C(g.distinct(3, 4), 1, 0, True)],
    "distinct": lambda g: [C(g.distinct(3, 4)), C(g.distinct(5))],
    "median.dim": lambda g: [C(g.distinct(3, 4), 1), C(g.distinct(3, 4), 0, True)],
    "mode": lambda g: [C(g.distinct(3, 4)), C(g.distinct(3, 4), 0, True)],
    "quantile": lambda g: [
        C(g.distinct(3, 4), torch.tensor([0.2, 0.7], dtype=g.real)),
        C(g.distinct(3, 4), torch.tensor(0.4, dtype=g.real), 1, True),
    ],
    "quantile.scalar": lambda g: [
        C(g.distinct(3, 4), 0.4),
        C(g.distinct(3, 4), 0.3, 0),
        C(g.distinct(3, 4), 0.3, 1, True, interpolation="midpoint"),
    ],
    "unique": lambda g: [C(g.x(12)), C(g.x(3, 4), True, True)],
    "unique_dim": lambda g: [C(g.x(3, 2), 0), C(g.x(3, 4), 1, True, True, True)],
    "unique_consecutive": lambda g: [C(g.x(12)), C(g.x(3, 4), True, True), C(g.x(3, 4), dim=0)],
    "isin": lambda g: [C(g.x(3, 4), g.x(5)), C(g.x(3), g.x(2), invert=True)],
    "isin.Tensor_Scalar": lambda g: [C(g.x(3, 4), 2)],
    "isin.Scalar_Tensor": lambda g: [C(2, g.x(3, 4))],
    "searchsorted": lambda g: [
        C(torch.sort(g.distinct(6))[0], g.x(3, 4)),
        C(torch.sort(g.distinct(3, 4))[0], g.x(3, 2), right=True, out_int32=True),
    ],
    "searchsorted.Scalar": lambda g: [C(torch.sort(g.distinct(6))[0], 1)],
    "bucketize": lambda g: [C(g.x(3, 4), torch.sort(g.distinct(6))[0])],
    "bucketize.Scalar": lambda g: [C(1, torch.sort(g.distinct(6))[0], right=True)],
    "bincount": lambda g: [C(g.x(9)), C(g.x(4), minlength=12)],
    "histc": lambda g: [C(g.x(9), 4), C(g.x(9), 4, 0, 2)],
    "histogram.bins_tensor": lambda g: [C(g.x(9), torch.sort(g.distinct(4))[0])],
    "histogram.bin_ct": lambda g: [C(g.x(9), 4), C(g.x(9), 4, range=(0.0, 1.0), density=True)],
    "histogramdd": lambda g: [C(g.x(9, 2), [2, 3])],
    "histogramdd.int_bins": lambda g: [C(g.x(9, 2), 3)],
    "histogramdd.TensorList_bins": lambda g: [
        C(g.x(9, 2), [torch.sort(g.distinct(4))[0], torch.sort(g.distinct(3))[0]])
    ],
    "hash_tensor": lambda g: [C(g.x(3, 4)), C(g.x(3, 4), 1, keepdim=True)],
    "sum_to_size": lambda g: [C(g.x(2, 3, 4), (3, 1)), C(g.x(3, 4), (3, 4))],
    "cov": lambda g: [C(g.n(3, 4)), C(g.n(5), correction=0)],
    "corrcoef": lambda g: [C(g.n(3, 5))],
    "one": lambda g: [C(g.x(1)), C(g.x())],
    "pair_flag": lambda g: [C(g.x(3, 4), g.x(3, 4))],
    "diff": lambda g: [C(g.n(3, 4)), C(g.n(3, 4), 2, 0), C(g.n(3, 4), 1, 1, g.n(3, 1), g.n(3, 2))],
    "trapezoid.x": lambda g: [C(g.n(3, 4), g.n(4)), C(g.n(3, 4), g.n(3, 4), dim=0)],
    "trapezoid.dx": lambda g: [C(g.n(3, 4)), C(g.n(3, 4), dx=2, dim=0)],
    "gradient.scalarint": lambda g: [C(g.n(4, 5)), C(g.n(4, 5), spacing=2, dim=1, edge_order=2)],
    "gradient.scalararray": lambda g: [C(g.n(4, 5), spacing=2, dim=(0, 1))],
    "gradient.array": lambda g: [C(g.n(4, 5), dim=(0, 1))],
    "gradient.scalarrayint": lambda g: [C(g.n(4, 5), spacing=[2, 3])],
    "gradient.scalarrayarray": lambda g: [C(g.n(4, 5), spacing=[2, 3], dim=(0, 1))],
    "gradient.tensorarrayint": lambda g: [C(g.n(4), spacing=[torch.tensor([0.0, 1.0, 3.0, 4.0])])],
    "gradient.tensorarray": lambda g: [
        C(g.n(3, 4), spacing=[torch.tensor([0.0, 1.0, 3.0, 4.0])], dim=[1])
    ],
}
