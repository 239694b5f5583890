"""gen/python_<family>.cpp: CPython functions, methods and operator slots."""

from emit_api import has, ident

ALIASES = {"dim": "axis", "keepdim": "keepdims", "input": "x", "other": "x2", "self": "a"}
TEXT = {
    "Tensor": "Tensor",
    "Tensor?": "Tensor",
    "Tensor|Scalar": "Tensor",
    "Tensor[]": "tuple of Tensors",
    "Tensor?[]": "tuple of Tensors",
    "Scalar": "Number",
    "Scalar?": "Number",
    "Scalar[]": "tuple of Numbers",
    "int[]": "tuple of ints",
    "int[]?": "tuple of ints",
    "float[]": "tuple of floats",
    "float[]?": "tuple of floats",
    "dtype": "torch.dtype",
    "dtype?": "torch.dtype",
    "device": "torch.device",
    "device?": "torch.device",
    "layout?": "torch.layout",
    "memory_format": "torch.memory_format",
    "memory_format?": "torch.memory_format",
    "Generator?": "torch.Generator",
}
MODULES = {
    "torch": "torch",
    "nn": "torch._C._nn",
    "linalg": "torch._C._linalg",
    "fft": "torch.fft",
    "special": "torch.special",
    "sparse": "torch.sparse",
    "private": "torch._C",
}
FACTORY = [
    ("dtype", None),
    ("layout", "LayoutOpt"),
    ("device", None),
    ("pin_memory", "Ignored"),
    ("requires_grad", "Bool"),
]


def converter(a, i):
    v, d = f"v[{i}]", a.cpp_default()
    size = f", {a.list_size}" if a.list_size else ""
    k = a.kind
    if k == "Tensor":
        return f"to_tensor({v})"
    if k == "Operand":
        return f"to_operand({v})" if d is None else f"({v} ? to_operand({v}) : {d})"
    if k in ("TensorList", "OptTensorList"):
        f = "to_tensor_list" if k == "OptTensorList" else "to_defined_tensor_list"
        return f"({v} ? {f}({v}) : std::vector<Tensor>())" if d else f"{f}({v})"
    if k == "IntList":
        return f"({v} ? to_int_list({v}{size}) : Dims({d}))" if d else f"to_int_list({v}{size})"
    if k == "IntListOpt":
        return f"to_int_list_opt({v}{size})"
    names = {
        "Int": ("to_int", "int64_t"),
        "Float": ("to_float", "double"),
        "Bool": ("to_bool", "bool"),
        "Str": ("to_str", "std::string_view"),
        "Scalar": ("to_scalar", "Scalar"),
        "DType": ("to_dtype", "DType"),
        "Device": ("to_device", "Device"),
        "MemoryFormat": ("to_memory_format", "MemoryFormat"),
        "FloatList": ("to_float_list", "std::vector<double>"),
        "ScalarList": ("to_scalar_list", "std::vector<Scalar>"),
    }
    if k in names:
        f, t = names[k]
        return f"({v} ? {f}({v}) : {t}({d}))" if d is not None else f"{f}({v})"
    return {
        "TensorOpt": "to_tensor_opt",
        "ScalarOpt": "to_scalar_opt",
        "IntOpt": "to_int_opt",
        "FloatOpt": "to_float_opt",
        "FloatListOpt": "to_float_list_opt",
        "BoolOpt": "to_bool_opt",
        "StrOpt": "to_str_opt",
        "DTypeOpt": "to_dtype_opt",
        "DeviceOpt": "to_device_opt",
        "LayoutOpt": "to_layout_opt",
        "MemoryFormatOpt": "to_memory_format_opt",
        "GeneratorOpt": "to_generator_opt",
    }[k] + f"({v})"


class Form:
    """One callable form of an entry: function, method, in-place method or in-place function."""

    def __init__(self, e, form):
        self.e, self.form = e, form
        self.method = form in ("method", "inplace")
        self.inplace = form in ("inplace", "inplace_function")
        self.out = form == "function" and has(e, "out")
        self.factory = bool(e.python.get("factory")) and form == "function"
        self.params = list(e.args)
        self.varargs = e.python.get("varargs")

    def names(self):
        rename = self.e.python.get("rename", {})
        return [
            "input" if a.name == "self" and not self.method else rename.get(a.name, a.name)
            for a in self.params
        ]

    def rows(self):
        rows = []
        for a, n in zip(self.params, self.names()):
            alias = ALIASES.get(n)
            rows.append((n, a.kind, a.kw_only, a.default is not None, a.list_size, alias))
        if self.out:
            rows.append(("out", "OutTuple" if self.e.multi else "Out", True, True, 0, None))
        if self.factory:
            have = {r[0] for r in rows}
            for n, k in FACTORY:
                if n not in have and k:
                    rows.append((n, k, True, True, 0, None))
        return rows

    def text(self):
        parts, star = [], False
        for a, n in zip(self.params, self.names()):
            if self.method and a is self.params[0]:
                continue
            if a.kw_only and not star:
                parts.append("*")
                star = True
            default = f"={a.default}" if a.default is not None else ""
            parts.append(f"{TEXT.get(a.type, a.type.rstrip('?'))} {n}{default}")
        if self.out:
            parts += ([] if star else ["*"]) + [
                ("tuple of Tensors" if self.e.multi else "Tensor") + " out=None"
            ]
        return "(" + ", ".join(parts) + ")"

    # ---- code
    def body(self, name):
        """static PyObject* name(PyObject* const* v)"""
        e = self.e
        args = ", ".join(converter(a, i) for i, a in enumerate(self.params))
        out = [f"PyObject* {name}(PyObject* const* v) {{"]
        operands = [i for i, a in enumerate(self.params) if a.kind == "Operand"]
        if len(operands) > 1 and not any(a.kind == "Tensor" for a in self.params):
            out.append(
                f'  check_some_tensor("{e.name}", {{{", ".join(f"v[{i}]" for i in operands)}}});'
            )
        target = e.name + "_" if self.inplace else e.name
        for flag, other in e.python.get("when", {}).items():
            at = next(i for i, a in enumerate(self.params) if a.name == flag)
            out.append(f"  if (v[{at}] && to_bool(v[{at}])) return wrap({other}(to_tensor(v[0])));")
        if self.out:
            at = len(self.params)
            n = len(e.returns)
            out.append(f"  if (v[{at}]) {{")
            sep = ", " if args else ""
            if n == 1:
                out.append(f"    return wrap({e.name}_out({args}{sep}to_out(v[{at}])));")
            else:
                out.append(f"    const std::vector<Tensor> out = to_out_tuple(v[{at}], {n});")
                outs = ", ".join(f"out[{i}]" for i in range(n))
                out.append(f"    return {self.wrap(f'{e.name}_out({args}{sep}{outs})')};")
            out.append("  }")
        if self.factory:
            names = [r[0] for r in self.rows()]
            if e.name in ("empty", "zeros"):
                at = [names.index(n) for n in ("size", "dtype", "layout", "requires_grad")]
                out.append(
                    "  if (wants_sparse(v[{2}])) return wrap_sparse_empty(v[{0}], v[{1}], v[{2}],"
                    " v[{3}]);".format(*at)
                )
            out.append(
                f"  return wrap_new({target}({args}), v[{names.index('requires_grad')}],"
                f" v[{names.index('layout')}]);"
            )
        elif e.cpp_return == "void":
            out += [f"  {target}({args});", "  Py_RETURN_NONE;"]
        else:
            out.append(f"  return {self.wrap(f'{target}({args})', self.inplace)};")
        return out + ["}", ""]

    def wrap(self, call, single=False):
        e = self.e
        if e.multi and not single:
            return f"wrap_tuple(return_{ident(e)}, {call})"
        if e.returns == ["Tensor[]"] and e.python.get("list"):
            return f"wrap_list({call})"
        return f"wrap({call})"


def group_name(e):
    return e.python.get("name", e.name)


def collect(entries):
    """(module or None for methods, python name) -> [Form]"""
    groups = {}

    def put(module, name, form):
        groups.setdefault((module, name), []).append(form)

    for e in entries:
        if e.python.get("manual"):
            continue
        modules = e.python.get("module", "torch")
        modules = modules if isinstance(modules, list) else [modules]
        name = group_name(e)
        for v in e.variants:
            if v == "out":
                continue
            form = Form(e, v)
            names = [name] + e.aliases
            for n in names:
                if v == "inplace":
                    put(None, n + "_", form)
                elif v == "method":
                    put(None, n, form)
                else:
                    for m in modules:
                        put(m, n + "_" if v == "inplace_function" else n, form)
    return groups


def table(key, forms, bodies):
    module, name = key
    tag = f"{module or 'method'}_{name}"
    method = module is None
    forms = sorted(forms, key=lambda f: f.e.python.get("order", 0))
    out, sigs = [], []
    for i, f in enumerate(forms):
        rows = f.rows()
        positional = sum(1 for r in rows if not r[2])
        lines = [
            f'    {{"{n}", Kind::{k}, {str(kw).lower()}, {str(d).lower()}, {s},'
            f' {chr(34) + al + chr(34) if al else "nullptr"}}},'
            for n, k, kw, d, s, al in rows
        ]
        if rows:
            out += [f"const Param params_{tag}_{i}[] = {{"] + lines + ["};"]
        at = next((j for j, a in enumerate(f.params) if a.name == f.varargs), 0)
        pointer = f"params_{tag}_{i}" if rows else "nullptr"
        sigs.append(
            f'    {{"{f.text()}", {pointer}, {len(rows)}, {positional},'
            f" {str(bool(f.varargs)).lower()}, {at}}},"
        )
    qualified = ("torch.Tensor." if method else MODULES[module] + ".") + name
    most = max([len(f.rows()) for f in forms] + [1])
    out += (
        [f"const Signature sigs_{tag}[] = {{"]
        + sigs
        + [
            "};",
            (
                f'const Overloads overloads_{tag} = {{"{name}", "{qualified}", sigs_{tag},'
                f" {len(forms)}, {str(method).lower()}}};"
            ),
            (
                f"PyObject* py_{tag}(PyObject* self, PyObject* const* args, Py_ssize_t nargs,"
                " PyObject* kwnames) {"
            ),
            "  return guarded([&]() -> PyObject* {",
            f"    PyObject* v[{most}] = {{}};",
            (
                f"    switch (bind(overloads_{tag}, {'self' if method else 'nullptr'}, args, nargs,"
                " kwnames, v)) {"
            ),
        ]
    )
    if not method:
        out.insert(len(out) - 3, "")
    for i, f in enumerate(forms):
        out.append(f"      case {i}: return {bodies[id(f)]}(v);")
    out += ["      default: return take_bound_result();", "    }", "  });", "}", ""]
    if not method:
        out = [x for x in out if x != ""] + [""]
    return out


def return_types(entries):
    out = []
    for e in entries:
        if not e.multi or e.python.get("manual"):
            continue
        fields = "nullptr"
        if e.named:
            out.append(
                f"const char* const fields_{ident(e)}[] = {{"
                + ", ".join(f'"{f}"' for f in e.fields)
                + "};"
            )
            fields = f"fields_{ident(e)}"
        out.append(
            f'const ReturnType return_{ident(e)} = {{"{e.python.get("name", e.name)}", {fields},'
            f" {len(e.returns)}}};"
        )
    return out


def slot_lines(entries):
    code, rows = [], []
    for e in entries:
        for slot in e.python.get("slots", []):
            tag = f"slot_{slot}"
            inplace = slot.startswith("nb_inplace")
            target = e.name + "_" if inplace else e.name
            tensors = [a for a in e.args if a.default is None]
            if len(tensors) == 1:
                code += [
                    f"PyObject* {tag}(PyObject* a) {{",
                    (
                        f"  return unary_slot(a, overloads_method_{group_name(e)}, [](const Tensor&"
                        f" x) {{ return {target}(x); }});"
                    ),
                    "}",
                ]
            else:
                fn = "inplace_slot" if inplace else "binary_slot"
                table_ = f"overloads_method_{group_name(e)}{'_' if inplace else ''}"
                code += [
                    f"PyObject* {tag}(PyObject* a, PyObject* b) {{",
                    (
                        f"  return {fn}(a, b, {table_}, [](const Tensor& x, const Tensor& y) {{"
                        f" return {target}(x, y); }});"
                    ),
                    "}",
                ]
            rows.append(f'    {{"{slot}", reinterpret_cast<void*>(&{tag})}},')
    return code, rows


def method_def(fn, name, forms):
    from emit_docs import c_string, docstring

    doc = c_string(docstring(name, forms))
    return (
        f'    {{"{name}", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&{fn})),'
        f" METH_FASTCALL | METH_KEYWORDS,\n     {doc}}},"
    )


def emit(family, entries):
    groups = collect(entries)
    out = [
        f"// Generated from ops/{family}.yaml.",
        '#include "python/binder.h"',
        '#include "python/generated.h"',
        f'#include "gen/ops/{family}.h"',
        "",
        "namespace rl::py {",
        "namespace {",
        "",
    ]
    out += return_types(entries)
    bodies, done = {}, {}
    for forms in groups.values():
        for f in forms:
            key = (id(f.e), f.inplace, f.out, f.factory)
            if key not in done:
                suffix = "_inplace" * f.inplace + "_out" * f.out + "_new" * f.factory
                done[key] = f"do_{ident(f.e)}{suffix}"
                out += f.body(done[key])
            bodies[id(f)] = done[key]
    for key, forms in groups.items():
        out += table(key, forms, bodies)
    code, slots = slot_lines(entries)
    out += code + ["}  // namespace", ""]
    out += [f"extern PyMethodDef methods_{family}[];", f"PyMethodDef methods_{family}[] = {{"]
    out += [method_def(f"py_method_{n}", n, groups[m, n]) for (m, n) in groups if m is None]
    out += ["    {}};"]
    modules = sorted({m for m, _ in groups if m})
    for m in modules:
        out += [
            f"extern PyMethodDef functions_{family}_{m}[];",
            f"PyMethodDef functions_{family}_{m}[] = {{",
        ]
        out += [method_def(f"py_{m}_{n}", n, groups[mm, n]) for (mm, n) in groups if mm == m]
        out += ["    {}};"]
    out += (
        [
            f"extern const GeneratedSlot slots_{family}[];",
            f"const GeneratedSlot slots_{family}[] = {{",
        ]
        + slots
        + ["    {}};"]
    )
    named = [ident(e) for e in entries if e.multi and e.named and not e.python.get("manual")]
    out += (
        [
            f"extern const ReturnType* const return_types_{family}[];",
            f"const ReturnType* const return_types_{family}[] = {{",
        ]
        + [f"    &return_{n}," for n in named]
        + ["    nullptr};"]
    )
    return "\n".join(out + ["", "}  // namespace rl::py", ""]), modules


def emit_all(families):
    """families: name -> modules"""
    out = [
        "// Generated: the tables that python/module.cpp reads.",
        '#include "python/generated.h"',
        "",
        "namespace rl::py {",
        "",
    ]
    for f, modules in families.items():
        out += [
            f"extern PyMethodDef methods_{f}[];",
            f"extern const GeneratedSlot slots_{f}[];",
            f"extern const ReturnType* const return_types_{f}[];",
        ]
        out += [f"extern PyMethodDef functions_{f}_{m}[];" for m in modules]
    out += (
        ["", "PyMethodDef* const generated_tensor_methods[] = {"]
        + [f"    methods_{f}," for f in families]
        + ["    nullptr};"]
    )
    out += ["const FunctionTable generated_functions[] = {"]
    out += [f'    {{"{m}", functions_{f}_{m}}},' for f, ms in families.items() for m in ms] + [
        "    {nullptr, nullptr}};"
    ]
    out += (
        ["const GeneratedSlot* const generated_slots[] = {"]
        + [f"    slots_{f}," for f in families]
        + ["    nullptr};"]
    )
    out += ["const ReturnType* const* const generated_return_types[] = {"] + [
        f"    return_types_{f}," for f in families
    ]
    out += ["    nullptr};", "", "}  // namespace rl::py", ""]
    return "\n".join(out)
