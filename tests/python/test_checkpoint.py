"""torch.utils.checkpoint, both ways."""
import pytest

import torch
from torch.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def f(x, scale=1.0):
    return ((x * x).exp() * x * scale).sum()


@pytest.mark.parametrize("reentrant", [False, True])
def test_same_gradients(reentrant):
    x, y = leaf(0.5, -1.0), leaf(0.5, -1.0)
    f(x).backward()
    calls = []

    def counted(v):
        calls.append(torch.is_grad_enabled())
        return f(v)

    checkpoint(counted, y, use_reentrant=reentrant).backward()
    assert y.grad.tolist() == x.grad.tolist()
    assert len(calls) == 2


def test_grad_of_inputs():
    x = leaf(0.5)
    g, = torch.autograd.grad(checkpoint(f, x, use_reentrant=False), x)
    w, = torch.autograd.grad(f(x), x)
    assert g.item() == w.item()
    with pytest.raises(RuntimeError, match="incompatible with .grad()"):
        torch.autograd.grad(checkpoint(f, x, use_reentrant=True), x)


def test_keywords_and_decorator():
    x = leaf(0.5)
    checkpoint(f, x, scale=2.0, use_reentrant=False).backward()
    y = leaf(0.5)
    checkpoint(use_reentrant=False)(f)(y, scale=2.0).backward()
    z = leaf(0.5)
    f(z, 2.0).backward()
    assert x.grad.item() == y.grad.item() == z.grad.item()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(f, x, scale=2.0, use_reentrant=True)


@pytest.mark.parametrize("reentrant", [False, True])
def test_random_state(reentrant):
    x = torch.ones(100, requires_grad=True)
    masks = []

    def drop(v):
        m = (torch.rand(100) > 0.5).float()
        masks.append(m)
        return (v * m * v).sum()

    checkpoint(drop, x, use_reentrant=reentrant).backward()
    assert torch.equal(masks[0], masks[1])
    assert torch.equal(x.grad, 2 * masks[0])


def test_nested():
    x, y = leaf(0.5), leaf(0.5)

    def outer(v):
        return checkpoint(lambda u: (u * u).exp() * u, v.exp() * v, use_reentrant=False) * v

    checkpoint(outer, x, use_reentrant=False).backward()
    h = y.exp() * y
    ((h * h).exp() * h * y).backward()
    assert x.grad.item() == pytest.approx(y.grad.item(), rel=1e-6)


def test_retain_and_double():
    x = leaf(0.5)
    y = checkpoint(f, x, use_reentrant=False)
    y.backward(retain_graph=True)
    first = x.grad.item()
    y.backward()
    assert x.grad.item() == pytest.approx(2 * first)
    z = leaf(0.5)
    g, = torch.autograd.grad(checkpoint(f, z, use_reentrant=False), z, create_graph=True)
    gg, = torch.autograd.grad(g, z)
    w = leaf(0.5)
    h, = torch.autograd.grad(f(w), w, create_graph=True)
    hh, = torch.autograd.grad(h, w)
    assert gg.item() == pytest.approx(hh.item())


def test_mismatch():
    runs = []

    def fewer(x):
        runs.append(1)
        return x.sin().exp() if len(runs) == 1 else x * 2

    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(fewer, leaf(1.0), use_reentrant=False).backward()
    runs.clear()

    def other(x):
        runs.append(1)
        return x.sin().exp() if len(runs) == 1 else x.double().sin().exp()

    with pytest.raises(CheckpointError, match="different metadata than during the forward pass"):
        checkpoint(other, leaf(1.0), use_reentrant=False).backward()


def test_warnings():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(f, leaf(1.0))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(f, torch.ones(1), use_reentrant=True)


@pytest.mark.parametrize("reentrant", [False, True])
def test_sequential(reentrant):
    layers = [lambda v: v * 2, lambda v: v.exp(), lambda v: v * v]
    x = leaf(0.5)
    checkpoint_sequential(layers, 2, x, use_reentrant=reentrant).backward()
    y = leaf(0.5)
    (y * 2).exp().square().backward()
    assert x.grad.item() == pytest.approx(y.grad.item())


def test_groups_run_a_function_again_once():
    from torch.utils.checkpoint import CheckpointPolicy, GraphExecGroup

    runs = []

    def function(x):
        runs.append(1)
        return x.sin(), x.exp()

    x = torch.ones(2, requires_grad=True)
    a, b = checkpoint(function, x, use_reentrant=False)
    with GraphExecGroup() as group:
        assert GraphExecGroup._get_current_group() is group
        with pytest.raises(RuntimeError, match="cannot be nested"):
            with GraphExecGroup():
                pass
        a.sum().backward()
        b.sum().backward()
    assert len(runs) == 2
    assert torch.allclose(x.grad, torch.ones(2).cos() + torch.ones(2).exp())
    assert CheckpointPolicy.MUST_SAVE.value == 0


def test_selective_checkpointing_keeps_what_the_policy_says():
    from torch.utils.checkpoint import (
        CheckpointPolicy,
        create_selective_checkpoint_contexts,
    )

    def run(policy):
        ran.clear()
        x = torch.arange(9.0).reshape(3, 3).div(9).requires_grad_()

        def function(x):
            return torch.sigmoid(torch.relu(x @ x) @ x).sin()

        def contexts():
            return create_selective_checkpoint_contexts(policy)

        options = {} if policy is None else {"context_fn": contexts}
        checkpoint(function, x, use_reentrant=False, **options).sum().backward()
        return x.grad

    ran = []

    def policy(ctx, op, *args, **kwargs):
        ran.append((ctx.is_recompute, str(op)))
        return (CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.mm.default
                else CheckpointPolicy.PREFER_RECOMPUTE)

    expected = run(None)
    assert torch.allclose(run(policy), expected)
    assert ran == [(False, f"aten.{name}.default") for name in
                   ("mm", "relu", "mm", "sigmoid", "sin")]
    assert torch.allclose(run([torch.ops.aten.mm.default]), expected)
    with pytest.raises(ValueError, match="to be an OpOverload"):
        create_selective_checkpoint_contexts([3])
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)
