"""gen/registry_<family>.cpp: OpInfos with boxed trampolines; gen/registry.cpp: all."""

from emit_api import has, ident, inplace_args, out_params, params
from emit_autograd import inplace_ident


def info(e, var, fn, overload, types, num_returns, schema, inplace=False, name=None):
    # A call that writes a given tensor computes in that tensor's type.
    rule = "None" if inplace or name else e.autocast
    flags = [
        e.kind == "composite" or "decompose" in e.data,
        e.kind == "view",
        inplace or e.inplace_only,
        bool(e.data.get("random")) or any(a.type == "Generator?" for a in e.args),
        e.kind == "pointwise",
    ]
    return [
        f"extern const OpInfo {var};",
        f"const OpInfo {var} = {{",
        f'    "{name or fn}", "{overload}",',
        f'    R"({schema})",',
        f"    &Boxed<static_cast<{types}>(&{fn})>::call, {num_args(types)}, {num_returns},",
        "    " + ", ".join(str(f).lower() for f in flags) + f", AutocastRule::{rule}}};",
    ]


def num_args(types):
    depth, n, inside = 0, 0, types[types.index("(*)(") + 4 : -1]
    if not inside:
        return 0
    for c in inside:
        depth += c in "<(" and 1 or c in ">)" and -1 or 0
        n += c == "," and depth == 0
    return n + 1


def emit(family, entries):
    out = [
        f"// Generated from ops/{family}.yaml.",
        f'#include "gen/ops/{family}.h"',
        "",
        "namespace rl {",
        "",
    ]
    listed = []
    for e in entries:
        types = f"{e.cpp_return} (*)({params(e, names=False)})"
        first = True
        for o in e.overloads:
            var = f"op_{ident(e)}" if first else f"op_{ident(e)}__{o}"
            schema = (
                e.schema.replace(e.name + "(", e.name + (f".{o}" if o else "") + "(", 1)
                if not e.overload
                else e.schema
            )
            schema = schema.replace("Tensor|Scalar", "Scalar" if o == "Scalar" else "Tensor")
            out += info(e, var, e.name, o, types, len(e.returns), schema)
            listed.append(var)
            first = False
            if inplace_args(e):
                v = f"op_{inplace_ident(e)}" + ("" if var == f"op_{ident(e)}" else f"__{o}")
                t = f"Tensor (*)({params(e, names=False)})"
                out += info(
                    e, v, e.name + "_", o, t, 1, schema.replace(e.name, e.name + "_", 1), True
                )
                listed.append(v)
        if has(e, "out"):
            var = f"op_{ident(e)}_out"
            outs = ", ".join("const Tensor&" for _ in out_params(e))
            t = f"{e.cpp_return} (*)({', '.join(x for x in [params(e, names=False), outs] if x)})"
            names = ", ".join(p.replace("const Tensor&", "Tensor(a!)") for p in out_params(e))
            head, ret = e.schema.rsplit(") ->", 1)
            star = "" if any(a.kw_only for a in e.args) else "*, "
            sep = ", " if e.args else ""
            schema = head.replace("Tensor|Scalar", "Tensor") + f"{sep}{star}{names}) ->{ret}"
            over = (e.overload + "_out") if e.overload else "out"
            out += info(e, var, e.name + "_out", over, t, len(e.returns), schema, name=e.name)
            listed.append(var)
    out += [
        "",
        f"extern const OpInfo* const registry_{family}[];",
        f"const OpInfo* const registry_{family}[] = {{",
    ]
    out += [f"    &{v}," for v in listed] + ["    nullptr};", "", "}  // namespace rl", ""]
    return "\n".join(out)


def emit_all(families):
    out = [
        "// Generated: hands every family's operators to the registry.",
        '#include "core/op.h"',
        "",
        "namespace rl {",
        "",
    ]
    out += [f"extern const OpInfo* const registry_{f}[];" for f in families]
    out += [
        "",
        "void register_generated_ops();",
        "void register_generated_ops() {",
        "  for (const OpInfo* const* list : {",
    ]
    out += [f"           registry_{f}," for f in families]
    out += [
        "       }) {",
        "    size_t n = 0;",
        "    while (list[n]) ++n;",
        "    register_ops(list, n);",
        "  }",
        "}",
        "",
        "}  // namespace rl",
        "",
    ]
    return "\n".join(out)
