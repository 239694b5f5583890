"""What people read: docstrings, the stub torch/_C.pyi, and a page for each family."""

import keyword

from emit_python import MODULES, collect

PY_TYPES = {
    "Tensor": "Tensor",
    "Tensor|Scalar": "Tensor | Number",
    "Tensor[]": "Sequence[Tensor]",
    "Tensor?[]": "Sequence[Tensor | None]",
    "Scalar": "Number",
    "Scalar[]": "Sequence[Number]",
    "int[]": "Sequence[int]",
    "float[]": "Sequence[float]",
    "dtype": "dtype",
    "device": "device",
    "layout": "layout",
    "memory_format": "memory_format",
    "Generator": "Generator",
}
DEFAULTS = {
    "contiguous_format": "torch.contiguous_format",
    "preserve_format": "torch.preserve_format",
}


def py_type(type_):
    optional = type_.endswith("?")
    plain = type_.rstrip("?")
    name = PY_TYPES.get(plain, plain)
    return f"{name} | None" if optional else name


def parameters(form, annotate):
    out, star = [], False
    for a, n in zip(form.params, form.names()):
        if form.method and a is form.params[0]:
            out.append("self")
            continue
        if a.kw_only and not star:
            out.append("*")
            star = True
        if annotate and keyword.iskeyword(n):
            n += "_"
        text = f"{n}: {py_type(a.type)}" if annotate else n
        if a.default is not None:
            text += "=" + DEFAULTS.get(a.default, a.default)
        out.append(text)
    if form.out:
        out += ([] if star else ["*"]) + (["out: Tensor | None=None"] if annotate else ["out=None"])
    return ", ".join(out)


def returns(e):
    names = {
        "Tensor": "Tensor",
        "Tensor[]": "tuple[Tensor, ...]",
        "bool": "bool",
        "int": "int",
        "float": "float",
        "Scalar": "Number",
    }
    kinds = [names[r] for r in e.returns]
    return "None" if not kinds else kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def text_of(e):
    return "" if e.internal else str(e.doc).strip()


def docstring(name, forms):
    lines = [f"{name}({parameters(f, False)}) -> {returns(f.e)}" for f in forms]
    texts = list(dict.fromkeys(t for t in (text_of(f.e) for f in forms) if t))
    if any(f.inplace for f in forms):
        texts.append("In place: the result is written into the first argument, which is returned.")
    return "\n".join(lines) + ("\n\n" + "\n\n".join(texts) if texts else "")


def c_string(text):
    return (
        '"'
        + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("?", "\\?")
        + '"'
    )


def stub(families):
    """torch/_C.pyi: every function and method with its types."""
    out = [
        '"""Generated: the functions of the core and the methods of Tensor."""',
        "from collections.abc import Sequence",
        "from typing import overload",
        "",
        "from torch import Generator, Tensor, device, dtype, layout, memory_format",
        "",
        "Number = bool | int | float | complex",
        "",
    ]
    methods = ["class TensorBase:"]
    for entries in families.values():
        for (module, name), forms in collect(entries).items():
            for f in forms:
                lines = ["@overload"] if len(forms) > 1 else []
                lines.append(f"def {name}({parameters(f, True)}) -> {returns(f.e)}: ...")
                if module is None:
                    methods += ["    " + line for line in lines]
                elif module == "torch":
                    out += lines
    return "\n".join(out + [""] + methods + [""])


def page(family, entries):
    """docs/ops/<family>.md"""
    out = [f"# {family}", ""]
    for (module, name), forms in sorted(
        collect(entries).items(), key=lambda x: (x[0][1], x[0][0] or "")
    ):
        if all(f.e.internal for f in forms):
            continue
        if module == "linalg":  # torch.linalg gives the core's names out without their prefix
            qualified = "torch.linalg." + name[len("linalg_"):]
        else:
            qualified = ("Tensor." if module is None else MODULES[module] + ".") + name
        out += [f"## {qualified}", "", "```python"]
        out += [f"{name}({parameters(f, True)}) -> {returns(f.e)}" for f in forms]
        out += ["```", ""] + [t + "\n" for t in dict.fromkeys(text_of(f.e) for f in forms) if t]
    return "\n".join(out)
