"""Element-wise operators: the per-ISA loops, their descriptors, and the native functions.

An entry of kind pointwise says: kernel (functors/FILE.h / functor), dtypes (compute classes: float
wide complex int uint bool), promote (types float first none), result (same bool real int32 int64),
attrs, fixed ({argument: dtype}), cost (of an element, in additions).
"""

from emit_api import out_names, out_params, params

TYPES = {
    "float": "float, double",
    "wide": "float, double",
    "complex": "cfloat, cdouble",
    "int": "int64_t, int32_t, int16_t, int8_t, uint8_t",
    "uint": "uint64_t, uint32_t, uint16_t",
    "bool": "bool",
}
BITS = {
    "float": "kFloatDTypes",
    "wide": "kWideDTypes",
    "byte": "dtype_bit(DType::UInt8)",
    "long": "dtype_bit(DType::Int64)",
    "half": "dtype_bit(DType::Half) | dtype_bit(DType::BFloat16)",
    "complex": "kComplexDTypes",
    "int": "kIntDTypes",
    "uint": "kUIntDTypes",
    "bool": "kBoolDType",
}
PROMOTE = {"types": "Types", "float": "ToFloat", "first": "First", "none": "None"}
RESULT = {"same": "Same", "bool": "Bool", "real": "Real", "int32": "Int32", "int64": "Int64"}


def classes(e):
    words = str(e.data.get("dtypes", "")).split()
    for w in words:
        if w not in BITS or (e.kind == "pointwise" and w not in TYPES):
            e.fail(f"dtypes: unknown class '{w}'; any of {list(BITS)}")
    return words or e.fail("pointwise needs 'dtypes'")


def functor(e):
    file, _, name = str(e.data.get("kernel", "")).partition("/")
    return (file, name) if name else e.fail("pointwise needs 'kernel: FILE/functor_'")


def attrs(e):
    return e.data.get("attrs", [])


def tensor_args(e):
    return [a for a in e.args if a.is_tensor]


def pointwise(entries):
    return [e for e in entries if e.kind == "pointwise"]


def ident(e):
    return e.name + (f"_{e.overload}" if e.overload else "")


def header(family, entries):
    out = [
        f"// Generated from ops/{family}.yaml: native forms of the element-wise operators.",
        "#pragma once",
        '#include "core/tensor.h"',
        "",
        "namespace rl::native {",
        "",
    ]
    for e in pointwise(entries):
        out.append(f"{e.cpp_return} {e.name}({params(e)});")
        outs = ", ".join(out_params(e))
        sep = ", " if e.args else ""
        out.append(f"void {e.name}_into({params(e)}{sep}{outs}, bool inplace);")
    return "\n".join(out + ["", "}  // namespace rl::native", ""])


def descriptors(family, entries):
    out = [
        f"// Generated from ops/{family}.yaml.",
        '#include "kernels/iter/pointwise.h"',
        f'#include "gen/pointwise_{family}.h"',
        "",
        "namespace rl {",
        "namespace cpu {",
        "",
    ]
    ops = pointwise(entries)
    out += [f"RL_POINTWISE_DECLARE({ident(e)});" for e in ops]
    out += ["", "}  // namespace cpu", "", "namespace native {", ""]
    if any(e.data.get("number") for e in ops):
        out += [
            "static bool is_float_and_number(const Tensor& a, const Tensor& b) {",
            "  return b.is_wrapped_number() && !b.is_complex() && !a.is_wrapped_number() &&",
            "         (dtype_bit(a.dtype()) & kFloatDTypes);",
            "}",
            "",
        ]
    for e in ops:
        out += descriptor(e) + functions(e)
    return "\n".join(out + ["}  // namespace native", "}  // namespace rl", ""])


def descriptor(e):
    promote = e.data.get("promote", "types")
    if promote not in PROMOTE:
        e.fail(f"promote: unknown rule '{promote}'")
    bits = [BITS[c] for c in classes(e)]
    if promote == "float":  # integers are converted before the loop
        bits += [b for b in ("kIntDTypes", "kBoolDType", "kUIntDTypes") if b not in bits]
    result = e.data.get("result", "same")
    results = result if isinstance(result, list) else [result]
    for r in results:
        if r not in RESULT:
            e.fail(f"result: unknown rule '{r}'")
    fields = [f'.name = "{e.name}"']
    if "error_name" in e.data:
        fields.append(f'.error_name = "{e.data["error_name"]}"')
    fields += [
        f".inputs = {len(tensor_args(e))}",
        f".outputs = {len(e.returns)}",
        f".dtypes = {' | '.join(bits)}",
        f".promote = Promote::{PROMOTE[promote]}",
        ".results = {" + ", ".join(f"Result::{RESULT[r]}" for r in (results * 2)[:2]) + "}",
    ]
    if "fixed" in e.data:
        names = [e.data["fixed"].get(a.name) for a in tensor_args(e)]
        fields.append(
            ".fixed = {"
            + ", ".join(f"DType::{n or 'Undefined'}" for n in names + [None] * (4 - len(names)))
            + "}"
        )
    fields += [f".loop = &cpu::{ident(e)}_loop", f".cost = {e.data.get('cost', 1)}"]
    for kind, text in e.data.get("refuse", {}).items():
        if kind not in ("complex", "bool"):
            e.fail(f"refuse: unknown class '{kind}'; complex or bool")
        fields.append(f'.{kind}_refusal = "{text}"')
    if e.out_rule == "exact":
        fields.append(".exact_out = true")
    if attrs(e) == ["alpha"]:
        fields.append(".check_attrs = &check_alpha")
    return [f"static constexpr PointwiseOp pw_{ident(e)} = {{{', '.join(fields)}}};"]


def by_number(e, into):
    """Where the last operand is a number that does not change the dtype: another kernel."""
    other = e.data.get("number")
    if not other:
        return []
    first, number = (a.name for a in tensor_args(e))
    given = f"(inplace ? out : {first})" if into else first
    call = f"{other}_into({first}, item({number}), out, inplace)" if into else (
        f"{other}({first}, item({number}))"
    )
    return [f"  if (is_float_and_number({given}, {number})) return {call};"]


def functions(e):
    """The native function, and its form that writes given outputs (out= or self)."""
    ins = tensor_args(e)
    names = [a.name for a in e.args]
    inputs = "const Tensor* in[] = {" + ", ".join(f"&{a.name}" for a in ins) + "};"
    scalars = (
        f"  const Scalar attrs[] = {{{', '.join(f'Scalar({n})' for n in attrs(e))}}};"
        if attrs(e)
        else "  const Scalar* attrs = nullptr;"
    )
    for n in attrs(e):
        if n not in names:
            e.fail(f"attrs: '{n}' is no argument")
    out = [f"{e.cpp_return} {e.name}({params(e)}) {{"] + by_number(e, False) + [scalars]
    n, pw = len(ins), f"pw_{ident(e)}"
    if not e.multi:
        out += [f"  {inputs}", f"  return run_pointwise({pw}, in, {n}, attrs);", "}"]
    else:
        out += [
            f"  {inputs}",
            f"  Tensor r[{len(e.returns)}];",
            f"  run_pointwise_into({pw}, in, {n}, attrs, r);",
            f"  return {{{', '.join(f'r[{i}]' for i in range(len(e.returns)))}}};",
            "}",
        ]
    outs = ", ".join(out_params(e))
    out += [
        f"void {e.name}_into({params(e)}{', ' if e.args else ''}{outs}, bool inplace) {{",
        *by_number(e, True),
        scalars,
    ]
    if e.multi:
        out += [
            f"  {inputs}",
            f"  Tensor r[] = {{{', '.join(out_names(e))}}};",
            f"  run_pointwise_into({pw}, in, {n}, attrs, r);",
            "  (void)inplace;",
            "}",
            "",
        ]
    else:
        first = f"inplace ? &out : &{ins[0].name}"
        rest = "".join(f", &{a.name}" for a in ins[1:])
        out += [
            f"  const Tensor* in[] = {{{first}{rest}}};",
            f"  run_pointwise({pw}, in, {n}, attrs, &out);",
            "}",
            "",
        ]
    return out


def kernels(family, entries):
    ops = pointwise(entries)
    files = sorted({functor(e)[0] for e in ops})
    out = [
        f"// Generated from ops/{family}.yaml; compiled once per instruction set.",
        '#include "kernels/iter/pointwise_loops.h"',
    ] + [f'#include "kernels/functors/{f}.h"' for f in files]
    out += ["", "namespace rl::cpu::RL_ISA {", ""]
    for e in ops:
        types = ", ".join(TYPES[c] for c in classes(e))
        extra = "".join(f", {member(e, a)}" for a in attrs(e))
        out.append(f"RL_POINTWISE({ident(e)}, functor::{functor(e)[1]}, RL_TYPES({types}){extra})")
    return "\n".join(out + ["", "}  // namespace rl::cpu::RL_ISA", ""])


def member(e, name):
    """The functor's member for an attribute."""
    return e.data.get("rename_attrs", {}).get(name, name)
