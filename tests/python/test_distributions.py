"""torch.distributions against recorded results of the reference.

data/distributions.json has inputs, distributions (as expressions) with the outcome of every
method after `torch.manual_seed(1)`, KL divergences, and single expressions with their repr,
error or warning.
"""
import json
import pathlib
import re
import subprocess
import sys
import warnings

import pytest

import torch
import torch.distributions as d

RECORD = json.loads((pathlib.Path(__file__).parent / "data/distributions.json").read_text())
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")
SPACE = {"torch": torch, "d": d, "c": d.constraints, "t": torch.tensor}
for _name, _values in RECORD["inputs"].items():
    SPACE[_name] = torch.tensor(_values)


def plain(value):
    """Tensors as [dtype, shape, numbers], sequences as lists, everything else as its repr."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().double().reshape(-1).tolist()
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": flat}
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return [plain(v) for v in value]
    return {"repr": repr(value)}


def outcome(expression, space):
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(expression, dict(space)))
        except Exception as error:
            return {"error": type(error).__name__, "text": str(error)}


def same_text(want, got):
    want_numbers = [float(n) for n in NUMBER.findall(want)]
    got_numbers = [float(n) for n in NUMBER.findall(got)]
    assert re.sub(r"\s+", "", NUMBER.sub("#", got)) == re.sub(r"\s+", "", NUMBER.sub("#", want))
    assert got_numbers == pytest.approx(want_numbers, rel=1e-3, abs=1e-3)


def check(want, got):
    if isinstance(want, list):
        assert isinstance(got, list) and len(want) == len(got)
        for one, other in zip(want, got):
            check(one, other)
    elif "values" in want:
        assert (got.get("dtype"), got.get("shape")) == (want["dtype"], want["shape"]), got
        assert got["values"] == pytest.approx(want["values"], rel=1e-4, abs=2e-5, nan_ok=True)
    elif "error" in want:
        assert got.get("error") == want["error"], got
        same_text(want["text"], got["text"])
    else:
        assert "repr" in got, got
        same_text(want["repr"], got["repr"])


@pytest.mark.parametrize("name", sorted(RECORD["distributions"]))
def test_distribution(name):
    record = RECORD["distributions"][name]
    space = dict(SPACE, v=torch.tensor(record["value"]))
    for call, want in record["calls"].items():
        expression = call.replace("@", "(" + record["make"] + ")")
        try:
            check(want, outcome(expression, space))
        except AssertionError as error:
            raise AssertionError(f"{expression}: {error}") from error


@pytest.mark.parametrize("expression", RECORD["expressions"])
def test_expression(expression):
    check(RECORD["expressions"][expression], outcome(expression, SPACE))


@pytest.mark.parametrize("name", RECORD["gradients"])
def test_gradient(name):
    record = RECORD["gradients"][name]
    leaves = {n: SPACE[n].clone().requires_grad_() for n in record["of"]}
    torch.manual_seed(1)
    result = eval(record["expression"], dict(SPACE, **leaves))
    weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape)
    (result * weights).sum().backward()
    for leaf, want in zip(leaves.values(), record["values"]):
        assert leaf.grad.reshape(-1).tolist() == pytest.approx(want, rel=1e-3, abs=1e-4)


def test_import_is_lazy():
    code = ("import sys, torch; assert 'torch.distributions' not in sys.modules; "
            "import torch.distributions; assert 'torch.distributions.kl' not in sys.modules; "
            "assert torch.distributions.Normal(0., 1.).sample().shape == ()")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_exists():
    for name in d.__all__:
        assert getattr(d, name) is not None


def test_transform_cache_returns_the_same_object():
    transform = d.SigmoidTransform(cache_size=1)
    x = torch.tensor([30.0])
    y = transform(x)
    assert transform(x) is y
    assert transform.inv(y) is x
    assert transform.inv.inv is transform


def test_register_kl_dispatches_to_the_most_specific():
    class Left(d.Normal):
        pass

    d.register_kl(Left, d.Normal)(lambda p, q: "left")
    left, normal = Left(0.0, 1.0), d.Normal(0.0, 1.0)
    assert d.kl_divergence(left, normal) == "left"
    assert d.kl_divergence(normal, left).item() == 0
    d.register_kl(d.Normal, Left)(lambda p, q: "right")
    with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
        d.kl_divergence(left, left)
    for key in [k for k in d.kl._KL_REGISTRY if Left in k]:
        del d.kl._KL_REGISTRY[key]
    d.kl._KL_MEMOIZE.clear()


def test_expand_needs_an_override_after_a_custom_init():
    class Standard(d.Normal):
        def __init__(self):
            super().__init__(0.0, 1.0)

    with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
        Standard().expand((2,))


def test_validation_can_be_turned_off():
    d.Distribution.set_default_validate_args(False)
    try:
        d.Normal(0.0, -1.0)
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
        d.Normal(0.0, -1.0)


def test_warnings():
    with pytest.warns(UserWarning, match="Low df values detected"):
        d.Wishart(torch.tensor(1.5), torch.eye(2))
    with pytest.warns(FutureWarning, match="will be deprecated"):
        d.Normal(0.0, 1.0).sample_n(2)
