"""Tests made from the registry: every entry of ops/*.yaml runs with the inputs of samples/.

For each operator: out=, in-place and method forms agree with the function; memory layout does not
matter; the meta device gives the same shapes, strides and dtypes; gradients agree with finite
differences in first and second order, backward and forward, real and complex.
"""

import os
import sys

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import probe  # noqa: E402
from probe import calls, ident, mapped, tensors  # noqa: E402

ENTRIES = list(probe.entries())
# Results that are unspecified memory.
UNINITIALISED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty"}
UNINITIALISED |= {"new_empty_strided", "resize_", "resize_as_"}
# Results that depend on how numbers lie in memory, or are only given up to a factor.
LAYOUT_MATTERS = {"as_strided", "as_strided_copy", "as_strided_scatter", "linalg_eig", "linalg_svd"}
LAYOUT_MATTERS |= {"svd", "resize_", "resize_as_", "linalg_eigh", "view", "view.dtype"}
LAYOUT_MATTERS |= {"view_as_complex", "view_copy", "view_copy.dtype", "view_as_complex_copy"}
# Results in the order that a factorisation left, which the meta device does not imitate.
STRIDES_OF_LAPACK = {"linalg_pinv", "pinverse", "linalg_matrix_sqrth"}
# Functions whose gradient is not the slope at the samples: defined as zero, or as an estimator.
NO_SLOPE = {"floor_divide", "nextafter", "bernoulli", "bernoulli.p", "poisson", "_standard_gamma"}
NO_SLOPE |= {"bernoulli_.Tensor", "bernoulli_.float", "copysign", "embedding_renorm_", "heaviside"}
NO_SLOPE |= {"normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor"}
NO_SLOPE |= {"_fused_sgd_", "_fused_adam_", "_fused_adamw_", "_fused_adagrad_"}
# PyTorch keeps the slice that is replaced; the loss assumes normalised probabilities (see below).
NO_SLOPE |= {"as_strided_scatter", "ctc_loss.IntList", "ctc_loss.Tensor"}
# Arguments that an operator documents as contiguous on the CPU.
CONTIGUOUS = {"lu_unpack", "lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data", "view_as"}
# Hermitian matrices and triangles of which half is read: (position, projection).
HALVES = {
    "linalg_eigh": (0, "hermitian"),
    "linalg_eigvalsh": (0, "hermitian"),
    "linalg_cholesky": (0, "hermitian"),
    "linalg_cholesky_ex": (0, "hermitian"),
    "linalg_matrix_sqrth": (0, "hermitian"),
    "linalg_pinv.atol_rtol_float": (0, "hermitian"),
    "cholesky_solve": (1, "triangle"),
    "cholesky_inverse": (0, "triangle"),
}


def each(entries=None):
    entries = ENTRIES if entries is None else entries
    return pytest.mark.parametrize("e", [pytest.param(e, id=ident(e)) for e in entries])


def main_dtype(e):
    """float64 where the operator takes it, else complex128 or int64."""
    takes = REFERENCE.get(ident(e), {}).get("dtypes", "f64").replace(":", ",").split(",")
    for short in ("f64", "c128", "i64", "f32", "b"):
        if short in takes and calls(e.data["samples"], probe.DTYPES[short]):
            return probe.DTYPES[short]
    return torch.float64


def main_calls(e):
    return calls(e.data["samples"], main_dtype(e))


REFERENCE = probe.read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.tsv"))


def same(got, expected, exact=False):
    got, expected = tensors(got), tensors(expected)
    assert len(got) == len(expected)
    for x, y in zip(got, expected):
        assert x.shape == y.shape and x.dtype == y.dtype
        if exact:
            assert torch.equal(x.isnan(), y.isnan()) and torch.equal(x[~x.isnan()], y[~y.isnan()])
        else:
            assert close(x, y, 1e-7, 1e-5)


def close(x, y, rtol, atol):
    if not probe.inexact(x):
        return torch.equal(x, y)
    return torch.allclose(x, y.to(x.dtype), rtol=rtol, atol=atol, equal_nan=True)


def seeded(f, *args, **kwargs):
    torch.manual_seed(7)
    return f(*args, **kwargs)


def copies(args):
    return mapped(list(args), lambda t: t.clone())


@each([e for e in ENTRIES if e.name not in UNINITIALISED])
def test_forms_agree(e):
    name = probe.public_name(e)
    for args, kwargs in main_calls(e):
        expected = probe.call(e, args, kwargs)
        if isinstance(args[0], torch.Tensor) and "method" in e.variants and not probe.writes(e):
            same(seeded(getattr(args[0], name), *args[1:], **kwargs), expected)
        if "out" in e.variants and "function" in e.variants and tensors(expected):
            check_out(e, args, kwargs, expected)
        check_in_place(e, args, kwargs, expected)


def check_out(e, args, kwargs, expected):
    out = [torch.empty(0, dtype=t.dtype) for t in tensors(expected)]
    out = out[0] if isinstance(expected, torch.Tensor) else tuple(out)
    got = seeded(probe.function(e), *args, **kwargs, out=out)
    same(got, expected)
    same(out, expected)
    assert all(a is b for a, b in zip(tensors(got), tensors(out)))


def check_in_place(e, args, kwargs, expected):
    forms = {"inplace": torch.Tensor, "inplace_function": None} if not e.inplace_only else {}
    for variant, where in forms.items():
        first = args[0]
        fits = isinstance(expected, torch.Tensor) and isinstance(first, torch.Tensor)
        if variant not in e.variants or not fits or expected.dtype != first.dtype:
            continue
        if expected.shape != first.shape and e.kind != "view":
            continue
        f = getattr(where or in_place_owner(e), probe.public_name(e) + "_")
        x = first.clone()
        assert seeded(f, x, *args[1:], **kwargs) is x
        same(x, expected)


def in_place_owner(e):
    module = e.python.get("module", "torch")
    module = module[0] if isinstance(module, list) else module
    return probe.owner(module, probe.public_name(e) + "_")


def transposed(t):
    if t.dim() < 2:
        return t
    order = list(range(t.dim()))[::-1]
    return t.permute(order).contiguous().permute(order)


def strided(t):
    wide = t.new_zeros([2 * s + 1 for s in t.shape])
    view = wide[tuple(slice(1, 2 * s + 1, 2) for s in t.shape)]
    return view.copy_(t)


def channels_last(t):
    if t.dim() not in (4, 5):
        return strided(t)
    return t.contiguous(
        memory_format=torch.channels_last if t.dim() == 4 else torch.channels_last_3d
    )


def random(e):
    return (
        e.data.get("random") or "dropout" in e.name or any(a.type == "Generator?" for a in e.args)
    )


def layout_is_free(e):
    fixed = UNINITIALISED | LAYOUT_MATTERS | CONTIGUOUS
    return e.name not in fixed and ident(e) not in fixed and not random(e)


@each([e for e in ENTRIES if layout_is_free(e)])
def test_layout_does_not_matter(e):
    for args, kwargs in main_calls(e):
        expected = probe.call(e, args, kwargs)
        for change in (transposed, strided, channels_last):
            got = probe.call(e, mapped(list(args), change), kwargs)
            same(got, expected, exact=e.kind == "pointwise")


@each([e for e in ENTRIES if e.kind in ("pointwise", "structured") and not probe.writes(e)])
def test_expanded_inputs(e):
    """Each tensor alone, as an expanded row, against its copy."""
    for args, kwargs in main_calls(e)[:2]:
        for i, a in enumerate(args):
            if not isinstance(a, torch.Tensor) or a.dim() < 2 or not probe.inexact(a):
                continue
            row = a[:1].expand(a.shape)
            try:
                expected = probe.call(e, [*args[:i], row.clone(), *args[i + 1 :]], kwargs)
            except RuntimeError:
                continue  # a matrix of equal rows is singular
            if e.name in UNINITIALISED or ident(e) in LAYOUT_MATTERS:
                continue
            same(probe.call(e, [*args[:i], row, *args[i + 1 :]], kwargs), expected)


@each()
def test_meta(e):
    for args, kwargs in main_calls(e):
        expected = probe.call(e, args, kwargs)
        if not tensors(list(args)):
            kwargs = dict(kwargs, device="meta")
        on_meta = mapped(list(args), lambda t: t.to("meta"))
        try:
            got = probe.call(e, on_meta, kwargs)
        except (NotImplementedError, RuntimeError, TypeError) as error:
            assert any(w in str(error) for w in ("meta", "device", "CPU")), error
            continue  # the shape of the result depends on values
        assert len(tensors(got)) == len(tensors(expected))
        for x, y in zip(tensors(got), tensors(expected)):
            assert x.is_meta and x.shape == y.shape and x.dtype == y.dtype
            assert x.stride() == y.stride() or e.name in STRIDES_OF_LAPACK


def lacking():
    """Operator -> dtypes whose gradients differences.txt says are missing."""
    out = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.txt")) as f:
        for line in f:
            words = line.split()
            if len(words) > 2 and words[1] == "gradients" and words[2].startswith("-"):
                out[words[0]] = words[2][1:].split("+")[0].split(",")
    return out


LACKING = lacking()


def differentiable(short):
    for e in ENTRIES:
        gradients = REFERENCE.get(ident(e), {}).get("gradients", "-").replace(":", ",")
        missing = LACKING.get(ident(e), "")
        if short in gradients.split(",") and ident(e) not in NO_SLOPE and short not in missing:
            yield e


def with_gradient(e, short):
    """The calls that have a gradient in the reference."""
    todo = calls(e.data["samples"], probe.DTYPES[short])
    known = REFERENCE[ident(e)]["gradients"].split(",")
    bits = next((k.partition(":")[2] for k in known if k.split(":")[0] == short), "")
    return [c for i, c in enumerate(todo) if not bits or bits[i] == "1"]


def halved(e, args, kwargs):
    """args with the half of a matrix that the operator does not read made to follow."""
    position, kind = HALVES[ident(e)]
    args, a = list(args), args[position]
    if kind == "hermitian" and (kwargs.get("hermitian") or "pinv" not in e.name):
        args[position] = (a + a.transpose(-2, -1).conj()) / 2
    elif kind == "triangle":
        upper = kwargs.get("upper", (list(args[position + 1 :]) + [False])[0])
        a = a.triu() if upper else a.tril()
        if a.is_complex():  # the imaginary part of the diagonal is not read
            a = a - 1j * torch.diag_embed(torch.diagonal(a, 0, -2, -1).imag)
        args[position] = a
    return args


def check_gradients(e, short):
    for args, kwargs in with_gradient(e, short):
        args = mapped(list(args), lambda t: t.detach().clone())
        places = [t for t in tensors(args) if probe.inexact(t) and t.numel()]

        def f(*xs):
            swap = {id(t): x for t, x in zip(places, xs)}
            now = mapped(args, lambda t: swap.get(id(t), t))
            now = halved(e, now, kwargs) if ident(e) in HALVES else now
            return tuple(t for t in tensors(probe.call(e, now, kwargs)) if t.requires_grad)

        leaves = tuple(t.requires_grad_() for t in places)
        if not leaves or not f(*leaves):
            continue
        options = dict(fast_mode=True, atol=1e-5, rtol=1e-4, nondet_tol=1e-12)
        assert torch.autograd.gradcheck(f, leaves, **options)
        if has_second(e, args, kwargs):
            options.update(atol=1e-4, rtol=1e-3)
            assert torch.autograd.gradgradcheck(f, leaves, **options)
        if forward_works(e, args, kwargs):
            check_forward(e, args, kwargs)


def has_second(e, args, kwargs):
    try:
        return probe.second_order(e, args, kwargs)
    except (RuntimeError, NotImplementedError):
        return False  # test_reference says whether that is right


def forward_works(e, args, kwargs):
    try:
        return probe.forward_mode(e, mapped(args, lambda t: t.detach()), kwargs)
    except (RuntimeError, NotImplementedError):
        return False


@each(differentiable("f64"))
def test_gradients(e):
    check_gradients(e, "f64")


@each(differentiable("c128"))
def test_complex_gradients(e):
    check_gradients(e, "c128")


def check_forward(e, args, kwargs):
    """<u, J v> from forward mode equals <J* u, v> from reverse mode."""
    ad = torch.autograd.forward_ad
    torch.manual_seed(3)
    places = [t.detach() for t in tensors(args) if probe.inexact(t)]
    vs = [torch.randn_like(t) for t in places]
    with ad.dual_level():
        it = iter([ad.make_dual(t, v) for t, v in zip(places, vs)])
        dual = mapped(args, lambda t: next(it) if probe.inexact(t) else t)
        outs = [ad.unpack_dual(t) for t in tensors(probe.call(e, dual, kwargs)) if probe.inexact(t)]
        tangents = [o.tangent for o in outs]
    it = iter([t.clone().requires_grad_() for t in places])
    fresh = mapped(args, lambda t: next(it) if probe.inexact(t) else t)
    ys = [t for t in tensors(probe.call(e, fresh, kwargs)) if probe.inexact(t)]
    leaves = [t for t in tensors(fresh) if t.requires_grad]
    torch.manual_seed(5)
    used = [(y, t, torch.randn_like(y)) for y, t in zip(ys, tangents) if y.requires_grad]
    gs = torch.autograd.grad(
        [y for y, _, _ in used], leaves, [u for _, _, u in used], allow_unused=True
    )
    left = sum(inner(u, t) for _, t, u in used if t is not None)
    right = sum(inner(g, v) for g, v in zip(gs, vs) if g is not None)
    assert close(torch.as_tensor(left), torch.as_tensor(right), 1e-7, 1e-8)


def inner(a, b):
    value = (a.conj() * b).sum() if a.is_complex() else (a * b).sum()
    return value.real if value.is_complex() else value
