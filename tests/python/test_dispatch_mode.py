"""TorchDispatchMode, __torch_dispatch__ of tensor subclasses, FlopCounterMode."""
import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def logged(f):
    with Log() as mode:
        f()
    return mode.seen


def test_a_mode_sees_forward_and_backward():
    x, w, b = torch.ones(2, 3, requires_grad=True), torch.ones(4, 3), torch.ones(4)
    seen = logged(lambda: F.linear(x * 2 + 1, w, b).sum().backward())
    forward = ["aten.mul.Tensor", "aten.add.Tensor", "aten.t.default", "aten.addmm.default",
               "aten.sum.default"]
    assert [s for s in seen if s in forward][:5] == forward
    assert "aten.mm.default" in seen[5:]
    assert x.grad.tolist() == [[8.0] * 3] * 2


def test_arguments_and_results():
    got = {}

    class Double(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            got[str(func)] = args, kwargs
            out = func(*args, **(kwargs or {}))
            return out * 10 if func is torch.ops.aten.mul.Tensor else out

    x = torch.ones(2, requires_grad=True)
    with Double():
        y = x * 3
        x.detach().add_(1, alpha=2)
    args, kwargs = got["aten.mul.Tensor"]
    assert args[0] is x and args[1] == 3 and type(args[1]) is int and kwargs == {}
    assert got["aten.add_.Tensor"][1] == {"alpha": 2}
    assert y.tolist() == [30.0, 30.0] and y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]        # autograd is above the mode


def test_overloads_for_numbers():
    x = torch.ones(2)
    assert logged(lambda: (x > 0, x + 1, x % 2)) == [
        "aten.gt.Scalar", "aten.add.Tensor", "aten.remainder.Scalar"]


def test_modes_nest_and_end():
    outer, inner = Log(), Log()
    x = torch.ones(2)
    with outer:
        with inner:
            x + x
        x - x
    x * x
    assert inner.seen == ["aten.add.Tensor"]
    assert outer.seen == ["aten.add.Tensor", "aten.sub.Tensor"]
    with pytest.raises(ZeroDivisionError):
        with Log():
            1 / 0
    assert logged(lambda: None) == []


def test_views_and_in_place():
    x = torch.zeros(2, 3)
    seen = logged(lambda: x[0].add_(1))
    assert seen == ["aten.select.int", "aten.add_.Tensor"]
    assert x.tolist() == [[1, 1, 1], [0, 0, 0]]
    y = torch.ones(3, requires_grad=True)
    with Log():
        z = (y * 2).view(3, 1)
        z.mul_(5)
    z.sum().backward()
    assert y.grad.tolist() == [10.0] * 3


def test_custom_operators():
    @torch.library.custom_op("modes_test::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    x = torch.ones(2)
    assert logged(lambda: twice(x))[0] == "modes_test.twice.default"
    assert twice(Wrapper(x)).inner.tolist() == [2.0, 2.0]


# ---------------------------------------------------------------- subclasses


class Wrapper(torch.Tensor):
    """Holds a tensor; every operator on it is done with what it holds, and counted."""

    calls = []
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=inner.device,
            requires_grad=requires_grad)

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    def __repr__(self):
        return f"Wrapper({self.inner})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(str(func))
        args, kwargs = tree_map(lambda t: t.inner if isinstance(t, cls) else t,
                                (args, kwargs or {}))
        out = func(*args, **kwargs)
        return tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, out)


def test_wrapper_subclass():
    Wrapper.calls.clear()
    x = Wrapper(torch.arange(6.0).view(2, 3))
    y = x + 1
    assert type(y) is Wrapper and y.inner.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert Wrapper.calls == ["aten.add.Tensor"] and y.shape == (2, 3) and y.stride() == (3, 1)
    assert type(torch.ones(2, 2) @ x) is Wrapper
    assert (x.t() @ y).inner.shape == (3, 3)
    values, indices = x.max(1)
    assert values.inner.tolist() == [2, 5] and indices.inner.tolist() == [2, 2]
    assert torch.cat([x, y]).inner.shape == (4, 3)
    x.mul_(2)
    assert x.inner[1, 2] == 10
    assert type(x.detach()) is Wrapper
    with pytest.raises(RuntimeError):
        x.numpy()


def test_autograd_through_a_wrapper():
    x = Wrapper(torch.ones(2, 3), requires_grad=True)
    w = torch.ones(3, 2, requires_grad=True)
    loss = (x @ w).relu().sum()
    assert type(loss) is Wrapper and loss.grad_fn.name() == "SumBackward0"
    loss.backward()
    assert type(x.grad) is Wrapper and x.grad.inner.tolist() == [[2.0] * 3] * 2
    assert torch.equal(w.grad.inner if type(w.grad) is Wrapper else w.grad, torch.full((3, 2), 2.0))


def test_make_subclass_dispatches():
    class Counted(torch.Tensor):
        n = 0
        __torch_function__ = torch._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.n += 1
            assert types == (cls,)
            plain = args
            with torch._C._DisableTorchDispatch():
                return func(*plain, **(kwargs or {}))

    x = torch.Tensor._make_subclass(Counted, torch.ones(3))
    assert (x + x).tolist() == [2, 2, 2] and Counted.n == 1


def test_errors():
    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(torch.nn.Parameter, (2,))

    class Refuses(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch._ops.aten.neg"):
        -Refuses(torch.ones(2))


# ---------------------------------------------------------------- counting


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.seq = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.ReLU(),
                                       torch.nn.Linear(8, 2))

    def forward(self, x):
        return self.seq(self.conv(x).flatten(1))


def test_flop_counter():
    net = Net()
    with FlopCounterMode(display=False) as counter:
        net(torch.ones(2, 3, 4, 4)).sum().backward()
    counts = {k: {str(op): n for op, n in v.items()} for k, v in counter.get_flop_counts().items()}
    assert counts["Global"] == {"aten.convolution": 1728, "aten.addmm": 576, "aten.mm": 1152,
                                "aten._conv_grad_weight": 1728}
    assert counter.get_total_flops() == 5184
    assert counts["Net.seq.0"] == {"aten.addmm": 512, "aten.mm": 1024}
    assert counts["Net.conv"] == {"aten.convolution": 1728, "aten._conv_grad_weight": 1728}
    with FlopCounterMode(display=False) as counter:
        F.scaled_dot_product_attention(*[torch.ones(1, 2, 4, 8)] * 3)
        torch.bmm(torch.ones(2, 3, 3), torch.ones(2, 3, 3))
    assert counter.get_total_flops() == 1024 + 108
    assert "Global" in counter.get_table()
