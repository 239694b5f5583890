"""torch.nn as a whole: a model that learns, what stays the same object, what import costs."""
import copy
import io
import subprocess
import sys

import pytest

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(4 * 4 * 4, 2)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def halves(n):
    """Images that are bright in their upper (0) or lower (1) half."""
    x = torch.rand(n, 1, 8, 8) * 0.1
    y = torch.arange(n) % 2
    for i in range(n):
        top = 4 * int(y[i])
        x[i, 0, top:top + 4] += 1
    return x, y


def test_a_model_learns():
    torch.manual_seed(0)
    model, loss_of = Classifier(), nn.CrossEntropyLoss()
    x, y = halves(32)
    losses = []
    for _ in range(20):
        model.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        with torch.no_grad():
            for param in model.parameters():
                param -= 0.1 * param.grad
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]
    model.eval()
    assert (model(x).argmax(1) == y).all()
    assert model.features[1].num_batches_tracked == 20


def test_state_dict_restores_the_output():
    torch.manual_seed(0)
    x = torch.randn(3, 1, 8, 8)
    first, second = Classifier().eval(), Classifier().eval()
    assert not torch.equal(first(x), second(x))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x), second(x))


def test_conversion_keeps_parameters_and_buffers_registered():
    model = Classifier()
    params = list(model.parameters())
    model.double()
    assert all(a is b for a, b in zip(params, model.parameters()))
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    assert model.features[1].running_mean.dtype == torch.float64
    assert model.features[1].num_batches_tracked.dtype == torch.int64


def test_copy_shares_nothing():
    model = Classifier()
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.head.weight.zero_()
    assert model.head.weight.abs().sum() > 0


def test_save_and_load_of_a_whole_module():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    x = torch.ones(1, 3)
    assert torch.equal(model(x), loaded(x))
    assert isinstance(loaded[0].weight, nn.Parameter)


@pytest.mark.parametrize("override", ["__getattr__", "__call__", "_call_impl"])
def test_overridden_methods_are_respected(override):
    """The fast attribute reads and calls must give way to a subclass's own."""
    def own(self, *args):
        if override == "__getattr__":
            if args[0] == "magic":
                return "own"
            return nn.Module.__getattr__(self, *args)
        return "own"

    Own = type("Own", (nn.Module,), {override: own, "forward": lambda self, x: x})
    assert (Own().magic if override == "__getattr__" else Own()(1)) == "own"
    Child = type("Child", (Own,), {})
    assert (Child().magic if override == "__getattr__" else Child()(1)) == "own"


def test_methods_patched_later_are_respected(monkeypatch):
    class Layer(nn.Module):
        def forward(self, x):
            return x

    layer = Layer()
    assert layer(1) == 1
    monkeypatch.setattr(nn.Module, "__call__", lambda self, x: "patched")
    assert layer(1) == "patched"
    monkeypatch.undo()
    assert layer(1) == 1
    original = nn.Module.__getattr__
    monkeypatch.setattr(nn.Module, "__getattr__",
                        lambda self, name: 5 if name == "new" else original(self, name))
    assert layer.new == 5
    monkeypatch.undo()
    with pytest.raises(AttributeError, match="'Layer' object has no attribute 'new'"):
        layer.new


def test_property_that_raises_attribute_error():
    class Layer(nn.Module):
        @property
        def broken(self):
            raise AttributeError("inside")

        @property
        def wrong(self):
            raise ValueError("inside")

    with pytest.raises(AttributeError, match="has no attribute 'broken'"):
        Layer().broken
    with pytest.raises(ValueError, match="inside"):
        Layer().wrong


def test_import_loads_nothing_heavy():
    code = ("import sys, torch.nn; heavy = {'inspect', 'dataclasses', 'numpy', 'unittest', "
            "'multiprocessing', 'torch.nn.utils', 'torch.nn.parallel'}; "
            "print(sorted(heavy & set(sys.modules)))")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         check=True)
    assert out.stdout.strip() == "[]"


def test_star_import_and_dir():
    names = {}
    exec("from torch.nn import *", names)
    for name in ("Linear", "LSTM", "MaxPool2d", "CrossEntropyLoss", "Parameter", "functional"):
        assert name in names and name in dir(nn)


def test_initialisers_on_the_meta_device():
    with torch.device("meta"):
        w = torch.empty(4, 3)
        for name in ("trunc_normal_", "eye_", "orthogonal_", "kaiming_normal_"):
            assert getattr(torch.nn.init, name)(w) is w
    assert w.device.type == "meta"
