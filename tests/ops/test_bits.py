"""Results do not depend, bit for bit, on the length or alignment of a tensor, its strides, or the
number of threads: for every element-wise operator and every reduction of the registry."""

import os
import sys

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import probe  # noqa: E402
from probe import ident, tensors  # noqa: E402

REFERENCE = probe.read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.tsv"))
DTYPES = ("f32", "f64", "bf16", "f16", "i32", "c64")
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, -1e-40, 5e-324, 1e30, -1e30]
SPECIAL += [0.5, -0.5, 1.0, -1.0, 2.5, 88.9, -104.0, 20.0, 3e38]
LENGTHS = list(range(1, 36)) + [63, 64, 65, 70]
# Structured operators that map each element.
MAPS = {
    "gelu",
    "round.decimals",
    "clamp",
    "nan_to_num",
    "elu",
    "selu",
    "celu",
    "softshrink",
    "logit",
}
MAPS |= {"softsign", "tanhshrink", "div.Tensor_mode", "float_power", "xlogy", "mvlgamma", "isclose"}
REDUCTIONS = {"sum", "mean", "prod", "nansum", "nanmean", "var", "std", "var_mean", "std_mean"}
REDUCTIONS |= {
    "amax",
    "amin",
    "aminmax",
    "max",
    "min",
    "argmax",
    "argmin",
    "all",
    "any",
    "logsumexp",
}
REDUCTIONS |= {"count_nonzero", "linalg_vector_norm", "softmax.int", "log_softmax.int", "cumsum"}
REDUCTIONS |= {"cumprod", "logcumsumexp", "cummax", "cummin", "median", "norm", "trace", "dist"}


def maps():
    for e in probe.entries():
        plain = e.kind == "pointwise" or ident(e) in MAPS
        if plain and not probe.writes(e) and not e.data.get("random"):
            yield pytest.param(e, id=ident(e))


def base(dtype, n, seed):
    """Random numbers of all magnitudes with the special values among them."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, dtype=torch.float64, generator=g)
    x = x * torch.exp2(torch.randint(-6, 7, (n,), generator=g).to(torch.float64))
    if dtype.is_floating_point or dtype.is_complex:
        places = torch.randperm(n, generator=g)[: n // 3]
        values = torch.tensor(SPECIAL, dtype=torch.float64)
        x[places] = values[torch.randint(0, len(SPECIAL), (len(places),), generator=g)]
    if dtype.is_complex:
        return torch.complex(x.to(torch.float32), x.flip(0).to(torch.float32)).to(dtype)
    return x.to(dtype) if dtype.is_floating_point else x.to(torch.int64).to(dtype) | 1


def bits(t):
    """Bit patterns, with one pattern for all NaNs."""
    t = torch.view_as_real(t.contiguous()) if t.is_complex() else t.contiguous()
    if t.is_floating_point():
        t = torch.where(t.isnan(), torch.full_like(t, float("nan")), t)
    return t.view(BITS[t.element_size()]) if t.dtype != torch.bool else t


def same(got, expected, what):
    for x, y in zip(tensors(got), tensors(expected)):
        if not torch.equal(bits(x), bits(y)):
            at = (bits(x) != bits(y)).nonzero()[0].tolist()
            pytest.fail(f"{what}: {x[tuple(at[:x.dim()])]} and {y[tuple(at[:y.dim()])]} at {at}")


def operands(e, dtype, n):
    """Tensor operands of n elements and the rest of the first call of the tables."""
    args, kwargs = probe.calls(e.data["samples"], dtype)[0]
    places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    full = {}
    for k, i in enumerate(places):
        own = args[i].dtype
        full[i] = base(own, n, k + 1) if own != torch.bool else base(torch.float32, n, k) > 0

    def call(cut):
        return probe.call(e, [cut(full[i]) if i in full else a for i, a in enumerate(args)], kwargs)

    return call if places and all(args[i].dim() for i in places) else None


def supported(e, short):
    row = REFERENCE.get(ident(e), {}).get("dtypes", "-")
    return short in row.replace(":", ",").split(",")


@pytest.mark.parametrize("e", list(maps()))
def test_maps(e):
    for short in DTYPES:
        if not supported(e, short) or not probe.calls(e.data["samples"], probe.DTYPES[short]):
            continue
        call = operands(e, probe.DTYPES[short], 83)
        if call is None:
            continue
        whole = tensors(call(lambda t: t))
        for n in LENGTHS:
            first = n % 13
            part = call(lambda t: t[first : first + n])
            same(part, [w[first : first + n] for w in whole], f"{short}, {n} elements at {first}")
        same(call(lambda t: t[1::3]), [w[1::3] for w in whole], f"{short}, every third")
        columns = call(lambda t: t[:80].reshape(8, 10).t())
        same(columns, [w[:80].reshape(8, 10).t() for w in whole], f"{short}, transposed")


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("e", list(maps()))
def test_maps_with_threads(e, threads):
    if not supported(e, "f32"):
        return
    call = operands(e, torch.float32, 40_003)
    if call is None:
        return
    threads(1)
    one = call(lambda t: t)
    threads(3)
    same(call(lambda t: t), one, "three threads")


def reductions():
    for e in probe.entries():
        if (e.name in REDUCTIONS or ident(e) in REDUCTIONS) and supported(e, "f32"):
            yield pytest.param(e, id=ident(e))


def with_first(e, dtype, x):
    """The calls of the tables on x: along its last dimension where the call has one."""
    dims = {"dim", "axis"}
    for args, kwargs in probe.calls(e.data["samples"], dtype):
        names = [a.name for a in e.args]
        rest = list(args[1:])
        for i, a in enumerate(rest):
            if names[i + 1] in dims and a is not None:
                rest[i] = -1 if isinstance(a, int) else (-1,)
            elif isinstance(a, torch.Tensor):
                return
        if "dim" in kwargs:
            kwargs = dict(kwargs, dim=-1)
        yield [x, *rest], kwargs


def numbers(dtype, *size):
    g = torch.Generator().manual_seed(4)
    x = torch.randn(size, dtype=torch.float64, generator=g)
    x = x * torch.exp2(torch.randint(-8, 9, size, generator=g).to(torch.float64))
    return x.to(dtype) if dtype.is_floating_point else (x * 10).to(torch.int64).to(dtype)


@pytest.mark.parametrize("e", list(reductions()))
@pytest.mark.parametrize("short", ["f32", "f64", "bf16"])
def test_reductions(e, short):
    dtype = probe.DTYPES[short]
    if not supported(e, short) or e.name in ("trace", "dist"):
        return
    for n in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 200, 1031, 5003]:
        x = numbers(dtype, 2 * n + 5)
        for args, kwargs in with_first(e, dtype, x[:n].clone()):
            expected = probe.call(e, args, kwargs)
            for offset in (1, 3):
                view = x.clone()
                view[offset : offset + n] = x[:n]
                got = probe.call(e, [view[offset : offset + n], *args[1:]], kwargs)
                same(got, expected, f"{n} elements at {offset}")
            wide = torch.zeros(2 * n, dtype=dtype)
            wide[::2] = x[:n]
            same(probe.call(e, [wide[::2], *args[1:]], kwargs), expected, f"{n} elements, strided")
            rows = x[:n].clone().expand(3, n).contiguous()
            got = probe.call(e, [rows, *args[1:]], kwargs)
            if all(t.dim() and t.shape[0] == 3 for t in tensors(got)):
                same([t[1] for t in tensors(got)], expected, f"{n} elements, as a row")


@pytest.mark.parametrize("e", list(reductions()))
def test_reductions_with_threads(e, threads):
    for shape in [(300_007,), (7, 40_001), (40_001, 7)]:
        x = numbers(torch.float32, *shape)
        if e.name == "dist" or (e.name == "trace" and len(shape) == 1):
            continue
        for args, kwargs in list(with_first(e, torch.float32, x))[:1]:
            threads(1)
            one = probe.call(e, args, kwargs)
            threads(3)
            same(probe.call(e, args, kwargs), one, f"three threads, {shape}")
