"""Dtypes of out= tensors, and operators whose rules about dtypes are their own."""

import pytest

import torch


@pytest.mark.parametrize("name", ["exp", "add", "sum", "logsumexp", "cat"])
def test_out_may_be_wider(name):
    x = torch.rand(3, 4)
    args = {"add": (x, x), "logsumexp": (x, 0), "cat": ([x, x],), "sum": (x, 0)}.get(
        name, (x,))
    f = getattr(torch, name)
    expected = f(*args)
    out = torch.empty(expected.shape, dtype=torch.float64)
    f(*args, out=out)
    assert torch.equal(out, expected.double()) or torch.allclose(out, expected.double())


@pytest.mark.parametrize(("name", "args"), [
    ("mm", 2), ("topk", 1), ("sort", 0), ("triu", 0), ("gather", 3), ("matmul", 2), ("neg", 0),
    ("round", 0), ("abs", 0), ("softmax", 1)])
def test_out_must_have_the_dtype(name, args):
    x = torch.rand(4, 4)
    given = {"mm": (x, x), "matmul": (x, x), "topk": (x, 2), "softmax": (x, 0),
             "gather": (x, 0, torch.zeros(4, 4, dtype=torch.int64))}.get(name, (x,))
    expected = getattr(torch, name)(*given)
    if isinstance(expected, tuple):
        out = tuple(torch.empty(t.shape, dtype=torch.float64) for t in expected)
    else:
        out = torch.empty(expected.shape, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="dtype"):
        getattr(torch, name)(*given, out=out)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_results_are_rounded_before_they_are_widened(dtype):
    x = torch.linspace(-0.9, 0.9, 37).to(dtype)
    for f in (torch.asin, torch.tanh, torch.erf, torch.deg2rad):
        out = torch.empty(37)
        assert torch.equal(f(x, out=out), f(x).float())


def test_bounds_of_sequences_may_be_tensors():
    two, five = torch.tensor(2), torch.tensor(5.0)
    for bounds in [(two, five), (two, 5), (2, five)]:
        assert torch.equal(torch.linspace(*bounds, 4), torch.linspace(2, 5, 4))
        assert torch.equal(torch.logspace(*bounds, 4, base=2), torch.logspace(2, 5, 4, base=2))
    with pytest.raises(RuntimeError, match="only supports 0-dimensional start and end tensors"):
        torch.linspace(torch.ones(2), 3, 3)


def test_frexp():
    x = torch.tensor([0.0, 1.0, -3.5, 1e-40, 2.0**100], dtype=torch.float64, requires_grad=True)
    mantissa, exponent = torch.frexp(x)
    assert exponent.tolist() == [0, 1, 2, -132, 101]
    assert torch.equal(torch.ldexp(mantissa, exponent), x)
    mantissa.sum().backward()
    assert torch.equal(x.grad, 2.0 ** -exponent.double())


def test_ldexp_keeps_half_types():
    assert torch.ldexp(torch.ones(2, dtype=torch.bfloat16), torch.tensor([1, 20])).tolist() == [
        2.0, 1048576.0]
    assert torch.ldexp(torch.ones(2).half(), torch.tensor([1, 2])).dtype == torch.float16


def test_errors_name_what_is_not_supported():
    z = torch.ones(2) + 0j
    for f in (torch.maximum, torch.fmin):
        with pytest.raises(TypeError, match="not implemented for complex tensors"):
            f(z, z)
    with pytest.raises(NotImplementedError, match="Negation, the `-` operator, on a bool tensor"):
        -torch.tensor([True])
    with pytest.raises(NotImplementedError, match='"airy_ai_cpu" not implemented for \'Half\''):
        torch.special.airy_ai(torch.ones(2).half())
    with pytest.raises(IndexError, match="Dimension specified as 0"):
        torch.roll(torch.tensor(1.0), 0, 0)


def test_products_over_nothing():
    assert torch.einsum("ij,jk->ik", torch.ones(0, 3), torch.ones(3, 2)).shape == (0, 2)
    assert torch.einsum("ij,jk->ik", torch.ones(2, 0), torch.ones(0, 2)).tolist() == [[0, 0]] * 2


def test_conj_of_expanded_tensors_stays_expanded():
    z = torch.tensor([1 + 2j]).expand(3, 4)
    assert z.conj().stride() == z.stride()
    assert torch.equal(z.conj(), torch.full((3, 4), 1 - 2j))


@pytest.mark.parametrize("write", [
    lambda x: x.true_divide_(torch.tensor(2)), lambda x: x.polygamma_(1), lambda x: x.logit_(),
    lambda x: x.ldexp_(torch.tensor(2))])
def test_in_place_results_do_not_lose_their_category(write):
    x = torch.ones(3, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        write(x)
    assert x.tolist() == [1, 1, 1]
