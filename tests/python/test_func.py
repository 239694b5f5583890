"""torch.func."""
import pytest

import torch
from torch.func import (functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp,
                        linearize, stack_module_state, vjp, vmap)


def x3():
    return torch.tensor([1.0, 2.0, 3.0])


def test_grad():
    x = x3()
    assert grad(lambda v: (v * v).sum())(x).tolist() == [2, 4, 6]
    assert not grad(lambda v: (v * v).sum())(x).requires_grad
    g, value = grad_and_value(lambda v: (v * v).sum())(x)
    assert g.tolist() == [2, 4, 6] and value.item() == 14
    a, b = grad(lambda u, v: (u * v).sum(), argnums=(0, 1))(x, x)
    assert a.tolist() == b.tolist() == [1, 2, 3]
    d = grad(lambda t: (t["a"] * t["b"]).sum())({"a": x, "b": x})
    assert sorted(d) == ["a", "b"]
    g, aux = grad(lambda v: (v.sum(), v * 2), has_aux=True)(x)
    assert aux.tolist() == [2, 4, 6]
    assert grad(lambda u, v: (u * u).sum(), argnums=1)(x, x).tolist() == [0, 0, 0]
    with torch.no_grad():
        assert grad(lambda v: (v * v).sum())(x).tolist() == [2, 4, 6]


def test_nesting_and_outer_autograd():
    x = x3()
    assert grad(lambda u: grad(lambda v: (u * v * v).sum())(u).sum())(x).tolist() == [4, 8, 12]
    w = x3().requires_grad_()
    grad(lambda v: (v * v * v).sum())(w).sum().backward()
    assert w.grad.tolist() == [6, 12, 18]
    p = torch.tensor(3.0, requires_grad=True)
    grad(lambda v: (v * v * p).sum())(x).sum().backward()
    assert p.grad.item() == 12


def test_grad_errors():
    x = x3()
    with pytest.raises(RuntimeError, match="to return a scalar Tensor, got tensor with 1 dims"):
        grad(lambda v: v)(x)
    with pytest.raises(RuntimeError, match="Expected f.* to return a Tensor, got <class 'float'>"):
        grad(lambda v: 3.0)(x)
    with pytest.raises(RuntimeError, match="Got argnum=2, but only 1 positional inputs"):
        grad(lambda v: v.sum(), argnums=2)(x)
    with pytest.raises(RuntimeError, match="should be a tuple: .output, aux. if has_aux is True"):
        grad(lambda v: v.sum(), has_aux=True)(x)


def test_products():
    x = x3()
    out, pull = vjp(lambda v: v * v, x)
    assert out.tolist() == [1, 4, 9] and pull(x)[0].tolist() == [2, 8, 18]
    out, push = jvp(lambda v: v * v, (x,), (x,))
    assert out.tolist() == [1, 4, 9] and push.tolist() == [2, 8, 18]
    out, f = linearize(lambda v: v * v, x)
    assert f(x).tolist() == [2, 8, 18] and f(2 * x).tolist() == [4, 16, 36]
    with pytest.raises(RuntimeError, match="Expected primals to be a tuple"):
        jvp(lambda v: v * v, x, x)
    with pytest.raises(RuntimeError, match="Expected pytree structure of cotangents"):
        vjp(lambda v: (v, v), x)[1](x)


def test_jacobians():
    x = x3()
    diagonal = [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert jacrev(lambda v: v * v)(x).tolist() == diagonal
    assert jacfwd(lambda v: v * v)(x).tolist() == diagonal
    a, b = jacrev(lambda v: (v * v, v.sum()))(x)
    assert a.tolist() == diagonal and b.tolist() == [1, 1, 1]
    assert jacrev(lambda v: {"k": v * v}, chunk_size=1)(x)["k"].tolist() == diagonal
    assert hessian(lambda v: (v ** 3).sum())(x).tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]
    j = jacfwd(lambda u, v: u * v, argnums=(0, 1))(x, x)
    assert j[0].tolist() == j[1].tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]


def test_vmap():
    x = torch.arange(6.0).view(2, 3)
    assert vmap(lambda v: v.sum())(x).tolist() == [3, 12]
    assert vmap(lambda v: v.sum(), in_dims=1)(x).tolist() == [3, 5, 7]
    assert vmap(lambda u, v: u + v, in_dims=(0, None))(x, torch.ones(3)).shape == (2, 3)
    assert vmap(lambda v: (v, v.sum()), out_dims=(1, 0))(x)[0].shape == (3, 2)
    assert vmap(vmap(lambda v: v * 2))(x).tolist() == (x * 2).tolist()
    assert vmap(grad(lambda v: (v * v).sum()))(x).tolist() == (2 * x).tolist()
    assert grad(lambda v: vmap(lambda r: (r * r).sum())(v).sum())(x).tolist() == (2 * x).tolist()
    assert vmap(lambda d: d["a"] * 2)({"a": x}).tolist() == (x * 2).tolist()
    assert vmap(lambda v: v)(torch.ones(0, 3)).shape == (0, 3)
    same = vmap(lambda v: v * 0 + torch.randn(3), randomness="same")(x)
    assert same[0].tolist() == same[1].tolist()
    different = vmap(lambda v: v * 0 + torch.randn(3), randomness="different")(x)
    assert different[0].tolist() != different[1].tolist()


def test_vmap_errors():
    x = torch.ones(3)
    cases = [(lambda: vmap(lambda v: v)(3), "Got in_dim=0 for an input but the input is of type"),
             (lambda: vmap(lambda v: v, in_dims=1)(x), "to satisfy -1 <= in_dim < 1"),
             (lambda: vmap(lambda u, v: u)(x, torch.ones(2)), "the same size in the mapped"),
             (lambda: vmap(lambda u: u, in_dims=(None,))(x), "Expected at least one Tensor"),
             (lambda: vmap(lambda v: 3)(x), "must only return Tensors, got type <class 'int'>"),
             (lambda: vmap(lambda: 3)(), "got no inputs")]
    for f, text in cases:
        with pytest.raises(ValueError, match=text):
            f()
    with pytest.raises(RuntimeError, match="random operation while in randomness error mode"):
        vmap(lambda v: v + torch.randn(1))(x)


def test_modules():
    m = torch.nn.Linear(3, 2)
    x = x3()
    assert functional_call(m, {"weight": torch.zeros(2, 3), "bias": torch.ones(2)},
                           (x,)).tolist() == [1, 1]
    assert m.weight.abs().sum() > 0
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        functional_call(m, ({"weight": x}, {"weight": x}), x)
    models = [torch.nn.Linear(3, 2) for _ in range(2)]
    params, buffers = stack_module_state(models)
    assert params["weight"].shape == (2, 2, 3) and params["weight"].is_leaf and buffers == {}
    out = vmap(lambda p, v: functional_call(models[0], p, (v,)), in_dims=(0, None))(params, x)
    want = torch.stack([f(x) for f in models])
    assert (out - want).abs().max() < 1e-6
