"""gen/ops/<family>.h: the public functions `rl::f`, their variants and OpInfos."""


def params(e, defaults=False, names=True, extra=()):
    out = []
    for a in e.args:
        p = f"{a.cpp} {a.name}" if names else a.cpp
        d = a.cpp_default() if defaults else None
        out.append(f"{p} = {d}" if d is not None else p)
    return ", ".join(out + list(extra))


def out_names(e):
    return ["out"] if not e.multi else [f"out{i}" for i in range(len(e.returns))]


def out_params(e):
    return [f"const Tensor& {n}" for n in out_names(e)]


def ident(e):
    return e.name + (f"_{e.overload}" if e.overload else "")


def has(e, variant):
    return variant in e.variants


def inplace_args(e):
    return any(has(e, v) for v in ("inplace", "inplace_function"))


def declarations(e):
    """Lines that declare everything callable of the entry (with default arguments)."""
    out = []
    trailing = _trailing_defaults(e)
    sig = ", ".join(trailing)
    out.append(f"{e.cpp_return} {e.name}({sig});")
    if inplace_args(e):
        out.append(f"Tensor {e.name}_({sig});")
    if has(e, "out"):
        out.append(f"{e.cpp_return} {e.name}_out({params(e, extra=out_params(e))});")
    return out


def _trailing_defaults(e):
    """C++ allows defaults only at the end; earlier ones are dropped."""
    out, open_ = [], True
    for a in reversed(e.args):
        d = a.cpp_default()
        open_ = open_ and d is not None
        out.append(f"{a.cpp} {a.name} = {d}" if open_ else f"{a.cpp} {a.name}")
    return out[::-1]


def info_names(e):
    """Identifiers of the entry's OpInfo constants that wrappers use."""
    over = f"_{e.overload}" if e.overload else ""
    out = [ident(e)]
    if inplace_args(e):
        out.append(f"{e.name}_{over}")
    if has(e, "out"):
        out.append(ident(e) + "_out")
    return out


def emit(family, entries):
    lines = [
        (
            f"// Generated from ops/{family}.yaml. Public functions; definitions in"
            f" autograd_{family}*.cpp."
        ),
        "#pragma once",
        "#include <cmath>",
        "#include <vector>",
        "",
        '#include "core/op.h"',
        '#include "ops/int_array.h"',
        "",
        "namespace rl {",
        "",
    ]
    for e in entries:
        lines += declarations(e)
    lines.append("")
    for e in entries:
        lines += [f"extern const OpInfo op_{n};" for n in info_names(e)]
    lines += ["", "}  // namespace rl", ""]
    return "\n".join(lines)
