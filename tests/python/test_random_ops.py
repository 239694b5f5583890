"""Random operators: the streams through the public functions, parameter errors, dropout."""

import pytest

import torch


def test_factories_follow_the_stream():
    g = torch.Generator().manual_seed(0)
    assert [round(v, 4) for v in torch.rand(3, generator=g).tolist()] == [0.4963, 0.7682, 0.0885]
    torch.manual_seed(1)
    assert [round(v, 4) for v in torch.randn(2).tolist()] == [0.6614, 0.2669]
    torch.manual_seed(1)
    assert torch.randperm(3, dtype=torch.float32).tolist() == [1, 2, 0]
    torch.manual_seed(1)
    assert torch.zeros(3, dtype=torch.uint8).random_(0, 256).tolist() == [37, 235, 140]


@pytest.mark.parametrize(
    "f, error, words",
    [
        (lambda: torch.zeros(3).normal_(0, -1), RuntimeError, "std >= 0.0, but found std -1"),
        (lambda: torch.zeros(3).bernoulli_(2), RuntimeError, r"p to be in \[0, 1\], but got p=2"),
        (lambda: torch.zeros(3).uniform_(2, 1), RuntimeError, "found from=2 > to=1"),
        (lambda: torch.zeros(3).random_(5, 5), RuntimeError, "'from' to be less than 'to'"),
        (lambda: torch.randint(300, (2,), dtype=torch.uint8), RuntimeError, "for unsigned char"),
        (lambda: torch.rand(2, dtype=torch.int64), NotImplementedError, "check_uniform_bounds"),
        (lambda: torch.multinomial(torch.zeros(3), 1), RuntimeError, "sum of probabilities <= 0"),
        (lambda: torch.dropout(torch.zeros(3), 2, True), RuntimeError, "0 and 1, but got 2"),
    ],
)
def test_parameter_errors(f, error, words):
    with pytest.raises(error, match=words):
        f()


def test_dropout():
    x = torch.ones(1000, requires_grad=True)
    torch.manual_seed(0)
    y = torch.dropout(x, 0.25, True)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
    assert set(y.tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert torch.dropout(x, 0.5, False) is x
    channels = torch.feature_dropout(torch.ones(2, 8, 5), 0.5, True)
    assert (channels.amax(2) == channels.amin(2)).all()


def test_gamma_gradient():
    got = torch._standard_gamma_grad(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 3.0]))
    assert torch.allclose(got, torch.tensor([0.8070, 1.3217]), atol=2e-4)
    x, alpha = torch.tensor([0.2, 0.8]), torch.tensor([1.0, 2.0])
    got = torch._dirichlet_grad(x, alpha, torch.tensor([3.0, 3.0]))
    assert torch.allclose(got, torch.tensor([0.3277, 0.4463]), atol=2e-4)
