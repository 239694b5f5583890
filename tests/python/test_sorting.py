"""Sorting, selections, distinct elements, counts; index operators and their gradients."""

import math

import pytest

import torch

NAN, INF = math.nan, math.inf


def test_sort_puts_nan_last_and_keeps_ties():
    x = torch.tensor([[3.0, 1, 2, 1], [5, NAN, -0.0, 0.0]])
    values, indices = torch.sort(x)
    assert indices.tolist() == [[1, 3, 2, 0], [2, 3, 0, 1]]
    assert math.isnan(values[1, 3]) and math.copysign(1, values[1, 0]) == -1
    assert torch.sort(x, descending=True).indices.tolist() == [[0, 2, 1, 3], [1, 0, 2, 3]]
    assert torch.sort(x.t(), 0).values.stride() == (1, 4)
    long = torch.arange(5000).remainder(7).to(torch.int16)
    assert torch.argsort(long, stable=True)[:3].tolist() == [0, 7, 14]


DTYPES = [torch.uint8, torch.int32, torch.int64, torch.float16, torch.float64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_of_long_lines(dtype):
    x = torch.arange(4000).mul(2654435761).remainder(97).to(dtype)
    values, indices = torch.sort(x)
    assert values.tolist() == sorted(x.tolist())
    assert torch.equal(x[indices], values)


def test_selections():
    x = torch.tensor([[3, 1, 2, 1, 3, 3], [0, 0, 0, 1, 1, 0]], dtype=torch.int8)
    assert torch.mode(x).indices.tolist() == [5, 5]
    assert torch.median(x, 1).values.tolist() == [2, 0]
    assert torch.kthvalue(x, 3).values.tolist() == [2, 0]
    assert torch.topk(x, 3).values.tolist() == [[3, 3, 3], [1, 1, 0]]
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        torch.topk(x, 9)
    with pytest.raises(IndexError, match="to have non-zero size"):
        torch.mode(torch.zeros(2, 0))


def test_quantile():
    x = torch.tensor([3.0, 1, 2, 1])
    assert torch.quantile(x, 0.3, interpolation="lower") == 1
    assert torch.allclose(torch.quantile(x, torch.tensor([0.3, 0.6])), torch.tensor([1.0, 1.8]))
    assert torch.isnan(torch.quantile(torch.tensor([1.0, NAN]), 0.5))
    assert torch.nanquantile(torch.tensor([1.0, NAN]), 0.5) == 1
    two = torch.tensor([0.5, 0.1])
    assert torch.quantile(torch.rand(2, 3, 4), two, dim=1).stride() == (1, 8, 2)


def test_unique():
    x = torch.tensor([[3, 1, 2], [1, 3, 3]])
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 3] and counts.tolist() == [2, 1, 3]
    assert torch.equal(values[inverse], x)
    assert torch.unique(x, dim=1).tolist() == [[1, 2, 3], [3, 3, 1]]
    assert torch.unique_consecutive(torch.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]


def test_counts():
    assert torch.bincount(torch.tensor([1, 1, 3])).tolist() == [0, 2, 0, 1]
    assert torch.histc(torch.tensor([3.0, 1, 2, 1]), 4).tolist() == [2, 0, 1, 1]
    hist, edges = torch.histogram(torch.tensor([3.0, 1, 2, 1]), 2)
    assert hist.tolist() == [2, 2] and edges.tolist() == [1, 2, 3]
    edges = torch.tensor([1, 3, 5])
    assert torch.searchsorted(edges, torch.tensor([0, 1, 6])).tolist() == [0, 0, 3]
    assert torch.bucketize(torch.tensor([3]), edges, right=True).tolist() == [2]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: x[i, :, i],
        lambda x, i: x.index_select(1, i),
        lambda x, i: x.index_put((i,), x[i] * 2, accumulate=True),
        lambda x, i: x.gather(0, i.view(-1, 1, 1).expand(-1, 3, 3)),
        lambda x, i: x.scatter_reduce(0, i.view(-1, 1, 1).expand(-1, 3, 3), x, "prod"),
        lambda x, i: x.scatter_reduce(0, i.view(-1, 1, 1).expand(-1, 3, 3), x * 2, "mean"),
        lambda x, i: x.index_reduce(0, i, x, "amax"),
        lambda x, i: x.take(i),
        lambda x, i: x.masked_select(x > 0),
        lambda x, i: x.sort(1)[0],
        lambda x, i: x.roll((1, 2), (0, 2)),
        lambda x, i: x.repeat(1, 2, 1),
        lambda x, i: torch.gradient(x, dim=(0, 1))[1],
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_gradients(f):
    torch.manual_seed(3)
    x = torch.randn(3, 3, 3, dtype=torch.float64, requires_grad=True)
    i = torch.tensor([2, 0, 2])
    assert torch.autograd.gradcheck(lambda t: f(t, i), (x,))


def test_index_layout_follows_memory():
    p = torch.arange(24).view(2, 3, 4).permute(2, 0, 1)
    i = torch.tensor([0, 1])
    assert p[i].stride() == (6, 3, 1)
    assert p[:, i].stride() == (1, 4, 8)
    assert p[:, :, i].stride() == (2, 8, 1)


def test_errors_of_indexing():
    x = torch.zeros(3, 4)
    with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 3"):
        x.scatter(0, torch.tensor([[0, 5]]), 1.0)
    with pytest.raises(IndexError, match="index out of range in self"):
        x.index_select(0, torch.tensor([-1]))
    with pytest.raises(RuntimeError, match="only supports boolean masks"):
        x.masked_fill(torch.tensor([1, 0, 1, 0]), 1)
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        torch.index_put(x, (torch.tensor([0]),), torch.tensor(2))
