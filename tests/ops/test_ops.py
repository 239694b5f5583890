"""Tests made from the registry: every entry of ops/*.yaml whose samples are known runs here.

For each operator and its inputs: out= and in-place forms agree with the plain one, the meta device
gives the same shape and dtype, the result does not depend on the memory layout, and gradients agree
with finite differences (first and second order).
"""

import glob
import os
import sys

import pytest

torch = pytest.importorskip("torch")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "codegen"), os.path.dirname(os.path.abspath(__file__))]

from model import load  # noqa: E402
from samples import SAMPLES  # noqa: E402

# Functions that are not smooth at random points, or whose domain does not contain (0, 1).
NO_FINITE_DIFFERENCES = {"acosh", "copysign", "nextafter", "igamma", "igammac", "zeta"}


def random(e):
    return (
        e.data.get("random")
        or e.name.startswith(("rand", "empty", "new_empty"))
        or any(a.type == "Generator?" for a in e.args)
    )


def entries():
    for path in sorted(glob.glob(os.path.join(ROOT, "ops", "*.yaml"))):
        for e in load(path):
            if not e.internal and e.variants and e.data.get("samples") in SAMPLES and not random(e):
                yield pytest.param(e, id=e.name + ("." + e.overload if e.overload else ""))


def function(e):
    name = e.python.get("name", e.name)
    if "function" in e.variants:
        module = e.python.get("module", "torch")
        module = module[0] if isinstance(module, list) else module
        owner = torch if module == "torch" else getattr(torch._C, "_" + module)
        return getattr(owner, name)
    return getattr(torch.Tensor, name)


def float_samples(e):
    dtype = torch.complex128 if e.data.get("samples") == "complex" else torch.float64
    needs = sum(1 for a in e.args if a.default is None)
    for args, kwargs in SAMPLES[e.data["samples"]](dtype):
        if needs <= len(args) <= sum(1 for a in e.args if not a.kw_only):
            yield args, kwargs


def tensors(result):
    return [
        t
        for t in (result if isinstance(result, (tuple, list)) else [result])
        if isinstance(t, torch.Tensor)
    ]


def same(a, b):
    for x, y in zip(tensors(a), tensors(b)):
        assert x.shape == y.shape and x.dtype == y.dtype
        assert torch.allclose(x.to(torch.float64), y.to(torch.float64), equal_nan=True)


def run(e, f, args, kwargs):
    try:
        return f(*args, **kwargs)
    except (NotImplementedError, TypeError) as error:
        if "not implemented for" in str(error) or "integral" in str(error):
            pytest.skip(str(error).splitlines()[0])
        raise


@pytest.mark.parametrize("e", list(entries()))
def test_forms_agree(e):
    f = function(e)
    for args, kwargs in float_samples(e):
        if e.data["samples"] == "integers":
            continue
        expected = run(e, f, args, kwargs)
        if "method" in e.variants:
            same(getattr(args[0], e.python.get("name", e.name))(*args[1:], **kwargs), expected)
        if "out" in e.variants and "function" in e.variants and len(tensors(expected)) == 1:
            out = torch.empty(0, dtype=expected.dtype)
            assert f(*args, **kwargs, out=out) is out
            same(out, expected)
        if (
            "inplace" in e.variants
            and expected.shape == args[0].shape
            and expected.dtype == args[0].dtype
        ):
            x = args[0].clone()
            assert getattr(x, e.python.get("name", e.name) + "_")(*args[1:], **kwargs) is x
            same(x, expected)


@pytest.mark.parametrize("e", list(entries()))
def test_layout_does_not_matter(e):
    f = function(e)
    for args, kwargs in float_samples(e):
        plain = [a.contiguous() if isinstance(a, torch.Tensor) else a for a in args]
        same(run(e, f, args, kwargs), run(e, f, plain, kwargs))


@pytest.mark.parametrize("e", list(entries()))
def test_meta(e):
    f = function(e)
    for args, kwargs in float_samples(e):
        expected = run(e, f, args, kwargs)
        meta = [
            (
                torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device="meta")
                if isinstance(a, torch.Tensor)
                else a
            )
            for a in args
        ]
        try:
            got = f(*meta, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            assert "meta" in str(error)  # results that depend on values
            continue
        for x, y in zip(tensors(got), tensors(expected)):
            assert (
                x.is_meta and x.shape == y.shape and x.dtype == y.dtype and x.stride() == y.stride()
            )


def differentiable(e):
    return (
        (e.grads or e.kind == "composite")
        and not e.inplace_only
        and e.name not in NO_FINITE_DIFFERENCES
    )


@pytest.mark.parametrize("e", [p for p in entries() if differentiable(p.values[0])])
def test_gradients(e):
    f = function(e)
    for args, kwargs in float_samples(e):
        args = [
            a.detach().clone().requires_grad_() if isinstance(a, torch.Tensor) and a.numel() else a
            for a in args
        ]
        inputs = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        outputs = run(e, f, args, kwargs)
        if not inputs or not any(t.requires_grad for t in tensors(outputs)):
            continue
        if not all(torch.isfinite(t).all() for t in tensors(outputs)):
            continue  # the variance of one number

        def call(*xs):
            it = iter(xs)
            result = f(
                *[next(it) if isinstance(a, torch.Tensor) and a.requires_grad else a for a in args],
                **kwargs,
            )
            return tuple(t for t in tensors(result) if t.requires_grad)

        assert torch.autograd.gradcheck(call, tuple(inputs), atol=1e-4, rtol=1e-3)
        assert torch.autograd.gradgradcheck(call, tuple(inputs), atol=1e-3, rtol=1e-2)
