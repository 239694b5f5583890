"""vmap of every operator of the registry equals a loop over the examples, with every tensor
argument mapped and with the first one only; derivatives inside and outside; common operators run
on the whole batch at once."""

import importlib
import os
import sys

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import probe  # noqa: E402
from test_ops import ENTRIES, REFERENCE, UNINITIALISED, close, main_dtype, random  # noqa: E402
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402

F = torch.nn.functional


def mapped_entries():
    for e in ENTRIES:
        # PyTorch refuses to resize under vmap; steps of optimizers are no functions.
        skip = e.name in UNINITIALISED or e.name.startswith("_fused") or random(e)
        if not skip and REFERENCE.get(probe.ident(e)):
            yield pytest.param(e, id=probe.ident(e))


def other(e, dtype, n):
    """The same call with other numbers."""
    return probe.tensors(list(probe.calls(e.data["samples"], dtype, seed=1)[n][0]))


def pairs(first, second):
    """Two examples of each tensor: indices and masks stay as they are."""
    return [torch.stack([a, b if probe.inexact(a) and b.shape == a.shape else a])
            for a, b in zip(first, second)]  # fmt: skip


@pytest.mark.parametrize("e", list(mapped_entries()))
def test_equals_loop(e):
    dtype = main_dtype(e)
    for n, (args, kwargs) in enumerate(probe.calls(e.data["samples"], dtype)):
        leaves = probe.tensors(list(args))
        for count in {len(leaves), min(1, len(leaves))} - {0}:

            def one(*parts):
                rest, taken = iter(parts), []

                def swap(t):
                    taken.append(t)
                    return next(rest) if len(taken) <= len(parts) else t

                return tuple(probe.tensors(probe.call(e, probe.mapped(list(args), swap), kwargs)))

            batch = pairs(leaves[:count], other(e, dtype, n))
            rows = [one(*[b[i] for b in batch]) for i in range(2)]
            if not rows[0] or any(a.shape != b.shape for a, b in zip(*rows)):
                continue
            try:
                got = vmap(one)(*batch)
            except RuntimeError as error:
                assert "running_mean" in str(error)
                continue
            for x, column in zip(got, zip(*rows)):
                want = torch.stack(column)
                assert x.shape == want.shape and x.dtype == want.dtype
                assert close(x, want, 1e-7, 1e-9), (x, want)


class Loops:
    """Counts the operators that go example by example, and runs of whole functions."""

    def __enter__(self):
        self.rules = importlib.import_module("torch.func._batching_rules")
        self.before = self.rules.by_example
        self.names = []

        def counted(call):
            self.names.append(call.info["name"])
            return self.before(call)

        self.rules.by_example = counted
        return self

    def __exit__(self, *error):
        self.rules.by_example = self.before


COMMON = """add mul exp sum.dim_IntList mean.dim var.correction amax softmax.int log_softmax.int
matmul mm bmm mv dot addmm linear conv1d conv2d conv3d conv_transpose2d.input max_pool2d avg_pool2d
adaptive_avg_pool2d layer_norm group_norm cat stack view reshape permute transpose select.int
narrow unsqueeze squeeze flip roll cumsum sort topk gather scatter_add index_select mse_loss
cross_entropy_loss embedding scaled_dot_product_attention linalg_inv linalg_solve linalg_cholesky
fft_fft einsum where.self masked_fill.Scalar clamp pad tril upsample_bilinear2d
lstm.input""".split()


@pytest.mark.parametrize("name", COMMON)
def test_runs_at_once(name):
    e = next(e for e in ENTRIES if probe.ident(e) == name)
    args, kwargs = probe.calls(e.data["samples"], torch.float64)[0]
    leaves = probe.tensors(list(args))
    runs = []

    def one(*parts):
        runs.append(0)
        rest = iter(parts)
        return tuple(
            probe.tensors(probe.call(e, probe.mapped(list(args), lambda t: next(rest)), kwargs))
        )

    with Loops() as loops:
        vmap(one)(*[torch.stack([t] * 3) for t in leaves])
    assert len(runs) == 1 and not loops.names


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3),
        torch.nn.GroupNorm(1, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(3 * 9, 4),
    )


def test_gradients_of_single_samples():
    net = network()
    weights = {k: v.detach() for k, v in net.named_parameters()}
    x, y = torch.randn(5, 1, 8, 8), torch.randint(0, 4, (5,))

    def loss(w, a, b):
        return F.cross_entropy(functional_call(net, w, (a.unsqueeze(0),)), b.unsqueeze(0))

    with Loops() as loops:
        got = vmap(grad(loss), (None, 0, 0))(weights, x, y)
    assert not loops.names
    for i in range(5):
        net.zero_grad()
        F.cross_entropy(net(x[i : i + 1]), y[i : i + 1]).backward()
        for name, p in net.named_parameters():
            assert torch.allclose(got[name][i], p.grad, atol=1e-6)


X = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)


def rough(a):
    return (a.sin() * a.sum()).sum()


def test_derivatives_nest():
    stack = torch.stack
    assert torch.allclose(vmap(grad(rough))(X), stack([grad(rough)(a) for a in X]))
    assert torch.allclose(vmap(hessian(rough))(X), stack([hessian(rough)(a) for a in X]))
    f = lambda a: a.cumsum(0) * a[0]  # noqa: E731
    assert torch.allclose(vmap(jacrev(f))(X), stack([jacrev(f)(a) for a in X]))
    assert torch.allclose(jacrev(f)(X[0]), jacfwd(f)(X[0]))
    twice = grad(lambda a: vmap(grad(rough))(a).pow(2).sum())
    rows = [grad(lambda a: grad(rough)(a).pow(2).sum())(a) for a in X]
    assert torch.allclose(twice(X), stack(rows))
    push = vmap(lambda a, v: jvp(f, (a,), (v,))[1])
    assert torch.allclose(push(X, X + 1), stack([jvp(f, (a,), (a + 1,))[1] for a in X]))
    pull = vmap(lambda a, v: vjp(f, a)[1](v)[0])
    assert torch.allclose(pull(X, X + 1), stack([vjp(f, a)[1](a + 1)[0] for a in X]))


def test_ordinary_autograd_goes_through():
    x = X.clone().requires_grad_()
    vmap(rough)(x).sum().backward()
    y = X.clone().requires_grad_()
    sum(rough(a) for a in y).backward()
    assert torch.allclose(x.grad, y.grad)


def test_levels_and_dims():
    a, b = torch.randn(3, 4), torch.randn(5, 4)
    got = vmap(vmap(torch.dot, (None, 0)), (0, None))(a, b)
    assert torch.allclose(got, a @ b.t(), atol=1e-6)
    assert torch.equal(vmap(lambda t: t * 2, 1, 1)(a), a * 2)
    assert vmap(lambda t: (t, torch.ones(2)), 0, (1, None))(a)[0].shape == (4, 3)
    both = vmap(lambda d: d["x"] + d["y"], ({"x": 0, "y": None},))({"x": a, "y": torch.ones(4)})
    assert torch.equal(both, a + 1)


def test_control_flow_and_functions_of_users_still_work():
    a = torch.tensor([1.0, -2.0, 3.0])
    assert vmap(lambda t: t * 2 if t > 0 else -t)(a).tolist() == [2, 2, 6]
    assert vmap(lambda t: t * t.item())(a).tolist() == [1, 4, 9]


def test_random_numbers():
    a = torch.zeros(4, 3)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda t: t + torch.rand(3))(a)
    same = vmap(lambda t: t + torch.rand(3), randomness="same")(a)
    assert (same == same[0]).all()
    different = vmap(lambda t: t + torch.rand(3), randomness="different")(a)
    assert different.unique().numel() == 12
    torch.manual_seed(3)
    whole = torch.rand(4, 3)
    torch.manual_seed(3)
    assert torch.equal(vmap(lambda t: t + torch.rand(3), randomness="different")(a), whole)


def test_writes():
    a, b = torch.ones(3, 2), torch.arange(3.0)
    got = vmap(lambda t, s: t.clone().mul_(2).add_(s))(a, b)
    assert got.tolist() == [[2, 2], [3, 3], [4, 4]]

    def fill(t):
        out = t.clone()
        out[0] = 7
        return out

    assert vmap(fill)(a).tolist() == [[7, 1]] * 3
    with pytest.raises(RuntimeError, match="vmapped over"):
        vmap(lambda s: torch.zeros(()).add_(s))(b)
