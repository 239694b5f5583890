"""The text of tensors."""

import pytest

import torch

inf, nan = float("inf"), float("nan")


@pytest.fixture(autouse=True)
def default_options():
    yield
    torch.set_printoptions(profile="default")


CASES = [
    (lambda: torch.tensor([0.0, inf, -inf, nan]), "tensor([0., inf, -inf, nan])"),
    (lambda: torch.tensor([1.5, nan]), "tensor([1.5000,    nan])"),
    (lambda: torch.tensor([1e-10, 1]), "tensor([1.0000e-10, 1.0000e+00])"),
    (lambda: torch.tensor([1e5, 2e5]), "tensor([100000., 200000.])"),
    (lambda: torch.tensor([1.0, 1000.5]), "tensor([1.0000e+00, 1.0005e+03])"),
    (lambda: torch.tensor([True, False]), "tensor([ True, False])"),
    (lambda: torch.tensor([100, -5]), "tensor([100,  -5])"),
    (lambda: torch.tensor(1 + 2j), "tensor(1.+2.j)"),
    (lambda: torch.tensor([1.5 + 2j, 3e5 - 1j]), "tensor([1.5000e+00+2.j, 3.0000e+05-1.j])"),
    (lambda: torch.ones(2, dtype=torch.float64), "tensor([1., 1.], dtype=torch.float64)"),
    (lambda: torch.zeros(2, 0, dtype=torch.int), "tensor([], size=(2, 0), dtype=torch.int32)"),
    (lambda: torch.zeros(0, requires_grad=True), "tensor([], requires_grad=True)"),
    (lambda: torch.ones(2, 3, device="meta"), "tensor(..., device='meta', size=(2, 3))"),
    (lambda: torch.ones(3, requires_grad=True) + 1,
     "tensor([2., 2., 2.], grad_fn=<AddBackward0>)"),
    (lambda: torch.ones(2, 1, 2), "tensor([[[1., 1.]],\n\n        [[1., 1.]]])"),
]


@pytest.mark.parametrize("make, text", CASES, ids=[c[1][:40] for c in CASES])
def test_text(make, text):
    assert repr(make()) == text


def test_summary():
    big = torch.tensor(list(range(3000)))
    assert repr(big) == "tensor([   0,    1,    2,  ..., 2997, 2998, 2999])"
    text = repr(big.view(30, 100))
    assert text.count("...") == 7 and len(text.splitlines()) == 7


def test_options():
    torch.set_printoptions(precision=2)
    assert repr(torch.tensor([1.12345, 2])) == "tensor([1.12, 2.00])"
    torch.set_printoptions(profile="default", sci_mode=True)
    assert repr(torch.tensor([1.12345])) == "tensor([1.1235e+00])"
    torch.set_printoptions(profile="default", linewidth=40)
    assert repr(torch.tensor(list(range(10)))) == "tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])"


def test_format():
    assert f"{torch.tensor(1.5):.3f}" == "1.500" and f"{torch.tensor([1.0])}" == "tensor([1.])"
    with pytest.raises(TypeError, match="unsupported format string passed to Tensor.__format__"):
        format(torch.tensor([1.0]), ".3f")


def test_limits():
    assert repr(torch.finfo(torch.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"
    )
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert torch.finfo(torch.float16).max == 65504.0
    with pytest.raises(TypeError, match="requires a floating point input type"):
        torch.finfo(torch.int32)
