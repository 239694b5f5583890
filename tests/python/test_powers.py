"""Powers with a number as exponent are multiplications and roots, bit for bit."""

import pytest

import torch


@pytest.mark.parametrize("exponent, same", [
    (2, lambda x: x * x), (3.0, lambda x: x * x * x), (0.5, torch.sqrt),
    (-1, torch.reciprocal), (-2, lambda x: 1 / (x * x)), (1, lambda x: x), (0, torch.ones_like),
])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_frequent_exponents(exponent, same, dtype):
    x = torch.rand(77, dtype=dtype, generator=torch.Generator().manual_seed(1)) + 0.1
    assert torch.equal(x ** exponent, same(x))
    assert torch.equal(torch.cat([v ** exponent for v in x.split(1)]), same(x))
    assert torch.equal(x.clone().pow_(exponent), same(x))
    out = torch.empty(0, dtype=dtype)
    assert torch.equal(torch.pow(x, exponent, out=out), same(x)) and out.shape == x.shape


def test_types_and_gradients():
    assert (torch.tensor([3]) ** 2).dtype == torch.int64
    assert (torch.tensor([4]) ** 0.5).tolist() == [2.0]
    assert (torch.tensor([2.0]) ** 2j).is_complex()
    assert (torch.tensor([3.0], dtype=torch.float16) ** 2).dtype == torch.float16
    assert (torch.tensor([float("nan"), -2.0, float("inf")]) ** 2).tolist()[1:] == [4, float("inf")]
    assert (torch.tensor([-0.0]) ** -1).tolist() == [float("-inf")]
    x = torch.tensor([3.0], requires_grad=True)
    (x ** 3).backward()
    assert x.grad.tolist() == [27] and (x ** 3).grad_fn.name() == "PowBackward0"
    assert x.square().grad_fn.name() == "PowBackward0"
