"""What an operator of the registry can do, found out by calling it: dtypes, gradients, vmap.

Works with any implementation imported as `torch`. Run as a program it writes the table that
reference.tsv was recorded with (from PyTorch 2.15), one line for each entry:
    python tests/ops/probe.py OUT.tsv
"""

import glob
import os
import sys
import warnings

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "codegen"), os.path.dirname(os.path.abspath(__file__))]

from model import load  # noqa: E402
from samples import C, calls  # noqa: E402

FLOATS = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
DTYPES = {
    "b": torch.bool,
    "u8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    **FLOATS,
}
COLUMNS = ("dtypes", "gradients", "twice", "forward", "vmap")


def entries():
    for path in sorted(glob.glob(os.path.join(ROOT, "ops", "*.yaml"))):
        for e in load(path):
            if not e.internal and e.data["samples"] not in ("none", "sparse") and public(e):
                yield e


def ident(e):
    return e.name + ("." + e.overload if e.overload else "")


def public_name(e):
    return e.python.get("name") or e.name


def public(e):
    return {"function", "method", "inplace", "inplace_function"} & set(e.variants)


def owner(module, name):
    """The namespace that holds a function; some are found in torch.nn.functional only."""
    if module == "nn":
        return torch._C._nn if hasattr(torch._C._nn, name) else torch.nn.functional
    return getattr(torch, module) if module in ("linalg", "fft", "special", "sparse") else torch


def function(e):
    """The public Python function (or method) of an entry."""
    name = public_name(e)
    module = e.python.get("module", "torch")
    module = module[0] if isinstance(module, list) else module
    if module == "linalg":
        name = name.replace("linalg_", "")
    if "function" in e.variants:
        where = owner(module, name)
        return getattr(where if hasattr(where, name) else torch._C._VariableFunctions, name)
    if "method" in e.variants:
        return getattr(torch.Tensor, name)
    return getattr(torch.Tensor, name + "_")


def call(e, args, kwargs):
    """Runs a call of the tables; what is written in place is a copy."""
    torch.manual_seed(7)
    if writes(e):
        args = [copied(a) if i in writes(e) else a for i, a in enumerate(args)]
        result = function(e)(*args, **kwargs)
        return [args[i] for i in writes(e)] if result is None else result
    return function(e)(*args, **kwargs)


def writes(e):
    """Positions of arguments that are written."""
    return [i for i, a in enumerate(e.args) if a.alias and "!" in a.alias]


def copied(a):
    return [t.clone() for t in a] if isinstance(a, (list, tuple)) else a.clone()


def mapped(value, f):
    """value with f applied to every tensor in it."""
    if isinstance(value, torch.Tensor):
        return f(value)
    if isinstance(value, (list, tuple)) and tensors(value):
        return type(value)(mapped(v, f) for v in value)
    return value


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors(v)]
    if isinstance(value, dict):
        return tensors(list(value.values()))
    return []


def inexact(t):
    return t.is_floating_point() or t.is_complex()


def with_grad(args):
    """Copies of the arguments whose inexact tensors are leaves that require gradients."""
    return mapped(list(args), lambda t: t.detach().clone().requires_grad_(inexact(t)))


def differentiable(result):
    return [t for t in tensors(result) if t.requires_grad]


def total(outputs):
    return sum((t.abs() if t.is_complex() else t).sum() for t in outputs)


def gradients_of(e, args, kwargs, create_graph=False):
    """-> (leaves, gradients); None when nothing is differentiable."""
    args = with_grad(args)
    outputs = differentiable(call(e, args, kwargs))
    if not outputs:
        return None
    leaves = [t for t in tensors(args) if t.requires_grad]
    seeds = [torch.ones_like(t) for t in outputs]
    return leaves, torch.autograd.grad(
        outputs, leaves, seeds, allow_unused=True, create_graph=create_graph
    )


def first_order(e, args, kwargs):
    return gradients_of(e, args, kwargs) is not None


def second_order(e, args, kwargs):
    found = gradients_of(e, args, kwargs, create_graph=True)
    if found is None:
        return False
    rough = [g for g in found[1] if g is not None and g.requires_grad]
    if rough:
        torch.autograd.grad(rough, found[0], [torch.ones_like(g) for g in rough], allow_unused=True)
    return True


def forward_mode(e, args, kwargs):
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        dual = mapped(
            list(args), lambda t: ad.make_dual(t, torch.ones_like(t)) if inexact(t) else t
        )
        out = tensors(call(e, dual, kwargs))
        return any(inexact(t) and ad.unpack_dual(t).tangent is not None for t in out)


def batched(e, args, kwargs):
    """vmap over every tensor argument, two examples; True when it runs."""
    args = list(args)
    leaves = tensors(args)
    if not leaves:
        return False
    stacked = [torch.stack([t, t]) for t in leaves]

    def one(*parts):
        rest = iter(parts)
        out = call(e, mapped(args, lambda t: next(rest)), kwargs)
        return tuple(tensors(out))

    torch.func.vmap(one, randomness="different")(*stacked)
    return True


def outcome(probe, e, dtype):
    """The samples for which a probe succeeds, as '' (none), '*' (all) or their bits."""
    bits = ""
    try:
        todo = calls(e.data["samples"], dtype)
    except Exception:  # the operators that make samples lack the dtype too
        return ""
    for args, kwargs in todo:
        try:
            bits += "1" if probe(e, args, kwargs) else "0"
        except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError):
            bits += "0"
    return "" if "1" not in bits else "*" if "0" not in bits else bits


def runs(e, args, kwargs):
    call(e, args, kwargs)
    return True


def joined(results):
    return ",".join(k if v == "*" else f"{k}:{v}" for k, v in results if v) or "-"


def row(e):
    wide = torch.float64
    if not calls(e.data["samples"], wide):
        wide = torch.complex128
    single = [(second_order, "twice"), (forward_mode, "forward"), (batched, "vmap")]
    out = {
        "dtypes": joined((k, outcome(runs, e, d)) for k, d in DTYPES.items()),
        "gradients": joined((k, outcome(first_order, e, d)) for k, d in FLOATS.items()),
    }
    for probe, column in single:
        out[column] = outcome(probe, e, wide) or "-"
    return out


def table():
    lines = ["\t".join(("operator",) + COLUMNS)]
    for e in entries():
        try:
            found = row(e)
        except AttributeError:  # a name that this implementation does not have
            continue
        lines.append("\t".join([ident(e)] + [found[c] for c in COLUMNS]))
    return "\n".join(lines) + "\n"


def read(path):
    with open(path, encoding="utf-8") as f:
        head, *lines = f.read().splitlines()
    names = head.split("\t")[1:]
    return {x.split("\t")[0]: dict(zip(names, x.split("\t")[1:])) for x in lines}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write(table())
