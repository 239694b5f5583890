"""__torch_function__, function modes, devices as context managers."""

import pytest

import torch
from torch.overrides import TorchFunctionMode, handle_torch_function, has_torch_function


class Logged(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "duck", func.__name__


def test_every_way_in():
    x = torch.ones(2, 2)
    t = x.as_subclass(Logged)
    Logged.calls.clear()
    t + 1, 2 - t, t.sum(), t.shape, t[0], torch.cat([x, t]), -t, t == 1, t.dim()
    t *= 2
    t[0] = 1
    assert Logged.calls == ["add", "__rsub__", "sum", "__get__", "__getitem__", "cat", "neg", "eq",
                            "dim", "mul_", "__setitem__"]


def test_duck_types():
    assert torch.add(Duck(), torch.ones(1)) == ("duck", "add")
    assert torch.cat([Duck(), torch.ones(1)]) == ("duck", "cat")


def test_subclasses_are_asked_first():
    order = []

    class A(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            order.append(cls.__name__)
            return NotImplemented

    class B(A):
        pass

    a, b = torch.ones(1).as_subclass(A), torch.ones(1).as_subclass(B)
    order.clear()
    with pytest.raises(TypeError, match="__torch_function__"):
        torch.add(a, b)
    assert order == ["B", "A"]


def test_modes():
    class Mode(TorchFunctionMode):
        def __init__(self):
            self.seen = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen.append(getattr(func, "__name__", str(func)))
            return func(*args, **(kwargs or {}))

    with Mode() as outer:
        with Mode() as inner:
            (torch.ones(2) + 1).sum()
    assert outer.seen == inner.seen == ["ones", "add", "sum"]
    with Mode() as mode, torch._C.DisableTorchFunction():
        torch.ones(2)
    assert mode.seen == []


def test_disabled():
    t = torch.ones(1).as_subclass(Logged)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(t + 1) is torch.Tensor


def test_python_functions():
    def api(x):
        if has_torch_function((x,)):
            return handle_torch_function(api, (x,), x)
        return x

    assert api(Duck()) == ("duck", "api") and api(3) == 3


def test_device_context():
    with torch.device("meta"):
        assert torch.ones(2).is_meta and torch.tensor([1.0]).is_meta
        assert not torch.ones(2, device="cpu").is_meta
    assert not torch.ones(2).is_meta
    torch.set_default_device("meta")
    try:
        assert torch.zeros(1).is_meta and torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)
    assert not torch.zeros(1).is_meta
