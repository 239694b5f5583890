"""docs/ACCURACY.md: errors of transcendental functions in units in the last place, and of
reductions relative to exact sums.

    PYTHONPATH=. python tools/accuracy.py            rewrite the table (needs mpmath)
    python tools/accuracy.py --record OUT.tsv        figures of whatever `torch` is imported

docs/accuracy_pytorch.tsv holds the figures of PyTorch 2.15, recorded with the second form.
"""

import math
import os
import sys

import mpmath
import torch

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "ACCURACY.md")
RECORDED = os.path.join(ROOT, "docs", "accuracy_pytorch.tsv")
DTYPES = {"float32": torch.float32, "float64": torch.float64}
m = mpmath.mp
m.prec = 160

# name -> (function of torch, reference, intervals of arguments)
ALL = [(-80.0, 80.0), (-1.0, 1.0), (-1e-4, 1e-4)]
POSITIVE = [(1e-6, 1.0), (0.5, 2.0), (1.0, 1e6)]
UNIT = [(-0.999, 0.999), (-1e-3, 1e-3)]
special = torch.special


def ndtr(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


FUNCTIONS = {
    "exp": (torch.exp, mpmath.exp, ALL),
    "exp2": (torch.exp2, lambda x: mpmath.power(2, x), ALL),
    "expm1": (torch.expm1, mpmath.expm1, ALL),
    "log": (torch.log, mpmath.log, POSITIVE),
    "log2": (torch.log2, lambda x: mpmath.log(x) / mpmath.log(2), POSITIVE),
    "log10": (torch.log10, mpmath.log10, POSITIVE),
    "log1p": (torch.log1p, mpmath.log1p, [(-0.99, 1.0), (-1e-4, 1e-4), (1.0, 1e6)]),
    "sin": (torch.sin, mpmath.sin, ALL + [(-1e5, 1e5)]),
    "cos": (torch.cos, mpmath.cos, ALL + [(-1e5, 1e5)]),
    "tan": (torch.tan, mpmath.tan, ALL),
    "asin": (torch.asin, mpmath.asin, UNIT),
    "acos": (torch.acos, mpmath.acos, UNIT),
    "atan": (torch.atan, mpmath.atan, ALL),
    "sinh": (torch.sinh, mpmath.sinh, ALL),
    "cosh": (torch.cosh, mpmath.cosh, ALL),
    "tanh": (torch.tanh, mpmath.tanh, ALL),
    "asinh": (torch.asinh, mpmath.asinh, ALL),
    "acosh": (torch.acosh, mpmath.acosh, [(1.0001, 2.0), (2.0, 1e6)]),
    "atanh": (torch.atanh, mpmath.atanh, UNIT),
    "sqrt": (torch.sqrt, mpmath.sqrt, POSITIVE),
    "rsqrt": (torch.rsqrt, lambda x: 1 / mpmath.sqrt(x), POSITIVE),
    "sigmoid": (torch.sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), ALL),
    "erf": (torch.erf, mpmath.erf, [(-6.0, 6.0), (-1e-3, 1e-3)]),
    "erfc": (torch.erfc, mpmath.erfc, [(-3.0, 3.0), (0.0, 9.0)]),
    "erfinv": (torch.erfinv, mpmath.erfinv, UNIT),
    "lgamma": (
        torch.lgamma,
        lambda x: mpmath.log(abs(mpmath.gamma(x))),
        [(0.1, 0.9), (2.5, 100.0)],
    ),
    "digamma": (torch.digamma, mpmath.digamma, [(0.1, 1.0), (2.0, 100.0)]),
    "i0": (torch.i0, lambda x: mpmath.besseli(0, x), [(-20.0, 20.0)]),
    "i1": (special.i1, lambda x: mpmath.besseli(1, x), [(-20.0, 20.0)]),
    "i0e": (special.i0e, lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), [(-20.0, 20.0)]),
    "ndtr": (special.ndtr, ndtr, [(-5.0, 5.0)]),
    "log_ndtr": (special.log_ndtr, lambda x: mpmath.log(ndtr(x)), [(-10.0, 5.0)]),
    "erfcx": (special.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), [(-3.0, 20.0)]),
    "softplus": (
        torch.nn.functional.softplus,
        lambda x: mpmath.log1p(mpmath.exp(x)),
        [(-60.0, 19.0)],
    ),
    "gelu": (torch.nn.functional.gelu, lambda x: x * ndtr(x), [(-4.0, 10.0)]),
    "silu": (torch.nn.functional.silu, lambda x: x / (1 + mpmath.exp(-x)), [(-60.0, 60.0)]),
    "logit": (torch.logit, lambda x: mpmath.log(x / (1 - x)), [(0.01, 0.4), (0.6, 0.99)]),
    "sinc": (torch.sinc, lambda x: mpmath.sincpi(x), [(-3.3, 3.3)]),
    "bessel_j0": (special.bessel_j0, lambda x: mpmath.besselj(0, x), [(-2.0, 2.0), (6.0, 8.0)]),
}
POINTS = 400


def arguments(intervals, dtype, seed):
    g = torch.Generator().manual_seed(seed)
    rows = [
        torch.rand(POINTS, dtype=torch.float64, generator=g) * (b - a) + a for a, b in intervals
    ]
    return torch.cat(rows).to(dtype)


def ulp(exact, dtype):
    """The distance of neighbouring numbers at `exact`."""
    bits, least = (24, -149) if dtype == torch.float32 else (53, -1074)
    if exact == 0:
        return mpmath.ldexp(1, least)
    return mpmath.ldexp(1, max(int(mpmath.floor(mpmath.log(abs(exact), 2))) - bits + 1, least))


def worst(f, reference, intervals, dtype):
    x = arguments(intervals, dtype, 1)
    most = mpmath.mpf(0)
    for a, b in zip(x.tolist(), f(x).tolist()):
        exact = reference(mpmath.mpf(a))
        most = max(most, abs(mpmath.mpf(b) - exact) / ulp(exact, dtype))
    return float(most)


def lines(n, dtype, positive):
    g = torch.Generator().manual_seed(3)
    x = torch.randn(n, dtype=torch.float64, generator=g)
    return (x.abs() if positive else x).to(dtype)


def exact_sum(x):
    return math.fsum(x.tolist())


def deviation(x):
    v = x.tolist()
    mean = math.fsum(v) / len(v)
    return math.sqrt(math.fsum((a - mean) ** 2 for a in v) / (len(v) - 1))


REDUCTIONS = {
    "sum": (torch.sum, exact_sum, True),
    "mean": (torch.mean, lambda x: exact_sum(x) / x.numel(), True),
    "norm": (
        torch.linalg.vector_norm,
        lambda x: math.sqrt(math.fsum(a * a for a in x.tolist())),
        False,
    ),
    "std": (torch.std, deviation, False),
    "logsumexp": (
        lambda x: torch.logsumexp(x, 0),
        lambda x: math.log(math.fsum(math.exp(a) for a in x.tolist())),
        False,
    ),
    "cumsum (last)": (lambda x: torch.cumsum(x, 0)[-1], exact_sum, True),
    "dot": (lambda x: torch.dot(x, x), lambda x: math.fsum(a * a for a in x.tolist()), False),
    "sum of rows": (
        lambda x: x.reshape(-1, 8).sum(0)[3],
        lambda x: math.fsum(x.reshape(-1, 8)[:, 3].tolist()),
        True,
    ),
}


def figures():
    found = {}
    for name, (f, reference, intervals) in FUNCTIONS.items():
        found[name] = [worst(f, reference, intervals, d) for d in DTYPES.values()]
    for name, (f, reference, positive) in REDUCTIONS.items():
        found["sum:" + name] = []
        for dtype in (torch.float32, torch.bfloat16):
            x = lines(1_000_000, dtype, positive)
            exact = reference(x)
            found["sum:" + name].append(abs(float(f(x)) - exact) / abs(exact))
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return {
            x.split("\t")[0]: [float(v) for v in x.split("\t")[1:]] for x in f.read().splitlines()
        }


def page(ours, theirs):
    out = [
        "# Accuracy",
        "",
        "Largest error in units in the last place against 160-bit arithmetic (mpmath), over"
        f" {POINTS} points of each interval in `tools/accuracy.py`, ours beside PyTorch 2.15's"
        " (same points, recorded once). 0.5 is a correctly rounded result.",
        "",
        "| function | float32 | PyTorch | float64 | PyTorch |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in FUNCTIONS:
        a, b = ours[name], theirs[name]
        out.append(f"| {name} | {a[0]:.3g} | {b[0]:.3g} | {a[1]:.3g} | {b[1]:.3g} |")
    out += [
        "",
        "Relative errors of reductions of a million elements against exactly rounded sums.",
        "",
        "| reduction | float32 | PyTorch | bfloat16 | PyTorch |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in REDUCTIONS:
        a, b = ours["sum:" + name], theirs["sum:" + name]
        out.append(f"| {name} | {a[0]:.1e} | {b[0]:.1e} | {a[1]:.1e} | {b[1]:.1e} |")
    return "\n".join(out) + "\n"


def main():
    torch.set_num_threads(1)
    if "--record" in sys.argv:
        with open(sys.argv[-1], "w", encoding="utf-8") as f:
            for name, values in figures().items():
                f.write("\t".join([name] + [f"{v:.4g}" for v in values]) + "\n")
        return
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(page(figures(), read(RECORDED)))


if __name__ == "__main__":
    main()
