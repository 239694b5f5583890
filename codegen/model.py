"""The op entry: parse the schema language, validate an entry, and derive what every product needs.

All error messages about entries live here; each carries the file and line of the entry.
"""

import ast
import functools
import glob
import os
import re

import yaml

KEYS = {
    "op",
    "variants",
    "aliases",
    "python",
    "kind",
    "dtypes",
    "kernel",
    "infer",
    "impl",
    "layout",
    "grad",
    "nondiff",
    "node",
    "autocast",
    "onnx",
    "samples",
    "doc",
    "decompose",
    "jvp",
    "batch",
    "random",
    "attrs",
    "promote",
    "result",
    "fixed",
    "cost",
    "error_name",
    "sparse",
    "sparse_inplace",
    "number",
    "out",
    "refuse",
    "check",
    "no_grad",
    "no_complex_grad",
}
PYTHON_KEYS = {
    "module",
    "name",
    "slots",
    "varargs",
    "factory",
    "list",
    "hidden",
    "manual",
    "order",
    "rename",
    "when",
}
KINDS = {"pointwise", "structured", "view", "composite"}
VARIANTS = {"function", "method", "inplace", "inplace_function", "out"}
AUTOCAST = {
    "low": "Low",
    "fp32": "Fp32",
    "promote": "Promote",
    "fp32_set_dtype": "Fp32SetDtype",
    "banned": "Banned",
    None: "None",
}

# schema type -> (C++ parameter type, storage type in a node, binder kind)
TYPES = {
    "Tensor": ("const Tensor&", "SavedTensor", "Tensor"),
    "Tensor?": ("const Tensor&", "SavedTensor", "TensorOpt"),
    "Tensor|Scalar": ("const Tensor&", "SavedTensor", "Operand"),
    "Tensor[]": ("TensorList", "SavedList", "TensorList"),
    "Tensor?[]": ("TensorList", "SavedList", "OptTensorList"),
    "Scalar": ("const Scalar&", "Scalar", "Scalar"),
    "Scalar?": ("const std::optional<Scalar>&", "std::optional<Scalar>", "ScalarOpt"),
    "Scalar[]": ("ArrayRef<Scalar>", "std::vector<Scalar>", "ScalarList"),
    "int": ("int64_t", "int64_t", "Int"),
    "int?": ("std::optional<int64_t>", "std::optional<int64_t>", "IntOpt"),
    "int[]": ("IntRef", "Dims", "IntList"),
    "int[]?": ("std::optional<IntRef>", "StoredInts", "IntListOpt"),
    "float": ("double", "double", "Float"),
    "float?": ("std::optional<double>", "std::optional<double>", "FloatOpt"),
    "float[]": ("ArrayRef<double>", "std::vector<double>", "FloatList"),
    "float[]?": ("std::optional<ArrayRef<double>>", "StoredFloats", "FloatListOpt"),
    "bool": ("bool", "bool", "Bool"),
    "bool?": ("std::optional<bool>", "std::optional<bool>", "BoolOpt"),
    "str": ("std::string_view", "std::string", "Str"),
    "str?": ("std::optional<std::string_view>", "std::optional<std::string>", "StrOpt"),
    "dtype": ("DType", "DType", "DType"),
    "dtype?": ("std::optional<DType>", "std::optional<DType>", "DTypeOpt"),
    "device": ("Device", "Device", "Device"),
    "device?": ("std::optional<Device>", "std::optional<Device>", "DeviceOpt"),
    "layout?": ("std::optional<Layout>", "std::optional<Layout>", "LayoutOpt"),
    "memory_format": ("MemoryFormat", "MemoryFormat", "MemoryFormat"),
    "memory_format?": (
        "std::optional<MemoryFormat>",
        "std::optional<MemoryFormat>",
        "MemoryFormatOpt",
    ),
    "Generator?": ("Generator*", "Generator*", "GeneratorOpt"),
}
RETURNS = {
    "Tensor": "Tensor",
    "Tensor[]": "std::vector<Tensor>",
    "bool": "bool",
    "int": "int64_t",
    "float": "double",
    "Scalar": "Scalar",
}


class EntryError(Exception):
    pass


class Arg:
    def __init__(self, type_, name, default, kw_only, list_size, alias):
        self.type, self.name, self.default, self.kw_only = type_, name, default, kw_only
        self.list_size, self.alias = list_size, alias
        self.cpp, self.stored, self.kind = TYPES[type_]

    @property
    def is_tensor(self):
        return self.type.startswith("Tensor") and not self.is_list

    @property
    def is_list(self):
        return self.type in ("Tensor[]", "Tensor?[]")

    def cpp_default(self):
        return (
            None if self.default is None else cpp_default(self.type, self.default, self.list_size)
        )


def cpp_default(type_, text, list_size):
    """The C++ expression of a schema default."""
    if type_.startswith("Tensor"):
        return "Tensor()" if text == "None" else f"wrapped_number(Scalar({text}))"
    if text == "None":
        return "nullptr" if type_ == "Generator?" else "std::nullopt"
    if text in ("True", "False"):
        return f"Scalar({text.lower()})" if type_.startswith("Scalar") else text.lower()
    if type_.startswith("int[]") or type_.startswith("float[]"):
        values = text.strip("[]").replace(" ", "")
        if "[" not in text:
            values = ",".join([text] * max(list_size, 1))
        if not values:
            return "IntRef()"
        return f"IntRef(int_array<{values.replace(',', ', ')}>)"
    if type_.startswith("Scalar"):
        return f"Scalar({float_text(text)})"
    if type_.startswith("float"):
        return float_text(text)
    if type_.startswith("str"):
        return '"' + text.strip("'\"") + '"'
    if type_.startswith("memory_format"):
        return (
            "MemoryFormat::"
            + {"contiguous_format": "Contiguous", "preserve_format": "Preserve"}[text]
        )
    return text


def float_text(text):
    return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(text, text)


def split_top(text):
    """Split at commas outside brackets and quotes."""
    out, depth, cur, quote = [], 0, "", None
    for c in text:
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if c == "," and depth == 0 and not quote:
            out.append(cur.strip())
            cur = ""
        else:
            cur += c
    if cur.strip():
        out.append(cur.strip())
    return out


ARG = re.compile(
    r"^(?P<type>[A-Za-z_|]+(\([a-z!*]+\))?(\[\d*\])?\??(\[\d*\])?\??)"
    r"\s+(?P<name>\w+)(\s*=\s*(?P<default>.+))?$"
)


def parse_type(text, fail):
    """-> (plain type, list size, alias annotation)"""
    alias = re.search(r"\(([a-z!*]+)\)", text)
    plain = re.sub(r"\([a-z!*]+\)", "", text)
    size = re.search(r"\[(\d+)\]", plain)
    plain = re.sub(r"\[\d+\]", "[]", plain)
    if plain not in TYPES:
        fail(f"unknown type '{text}'")
    return plain, int(size.group(1)) if size else 0, alias.group(1) if alias else None


class Entry:
    def __init__(self, data, file, line):
        self.file, self.line, self.data = file, line, data
        for k in data:
            if k not in KEYS:
                self.fail(f"unknown key '{k}'")
        self.parse_schema()
        self.kind = data.get("kind") or self.fail("missing key 'kind'")
        if self.kind not in KINDS:
            self.fail(f"unknown kind '{self.kind}'; one of {sorted(KINDS)}")
        self.variants = data.get("variants", ["function", "method"])
        for v in self.variants:
            if v not in VARIANTS:
                self.fail(f"unknown variant '{v}'")
        self.python = data.get("python") or {}
        for k in self.python:
            if k not in PYTHON_KEYS:
                self.fail(f"unknown key 'python.{k}'")
        self.aliases = data.get("aliases", [])
        self.out_rule = data.get("out", "cast" if self.kind == "pointwise" else "exact")
        if self.out_rule not in ("cast", "exact"):
            self.fail(f"unknown rule 'out: {self.out_rule}'; cast or exact")
        self.parse_grad()
        self.autocast = AUTOCAST.get(data.get("autocast")) or self.fail(
            f"unknown autocast rule {data['autocast']}"
        )
        if "decompose" in data and self.autocast == "None":
            self.fail("'decompose' needs an autocast rule: without one the kernel would be skipped")
        self.doc = data.get("doc") or self.fail("missing key 'doc'")
        if not self.internal:
            self.check_samples()

    def fail(self, message):
        raise EntryError(f"{self.file}:{self.line}: {self.data.get('op', '?')}: {message}")

    def check_samples(self):
        name = self.data.get("samples") or self.fail("missing key 'samples'")
        known = sample_names(os.path.dirname(os.path.abspath(self.file)))
        if known and name not in known:
            self.fail(f"missing samples '{name}': no such row in the tables of tests/ops/samples")

    @property
    def internal(self):
        return isinstance(self.doc, dict) and self.doc.get("internal", False)

    # ---- schema
    def parse_schema(self):
        text = self.data.get("op") or self.fail("missing key 'op'")
        m = re.match(r"^(\w+)(\.(\w+))?\((.*)\)\s*->\s*(.+)$", text.strip(), re.S)
        if not m:
            self.fail("schema is not 'name[.overload](args) -> returns'")
        self.name, self.overload, self.schema = m.group(1), m.group(3) or "", " ".join(text.split())
        self.args, kw = [], False
        for a in split_top(m.group(4)):
            if a == "*":
                kw = True
                continue
            am = ARG.match(a) or self.fail(f"cannot parse argument '{a}'")
            t, size, alias = parse_type(am.group("type"), self.fail)
            self.args.append(Arg(t, am.group("name"), am.group("default"), kw, size, alias))
        self.parse_returns(m.group(5).strip())
        self.base = (
            self.name.rstrip("_")
            if self.name.endswith("_") and not self.name.endswith("__")
            else self.name
        )
        self.inplace_only = self.name != self.base

    def parse_returns(self, text):
        self.fields = []
        if text.startswith("("):
            self.returns = []
            for r in split_top(text[1:-1]):
                parts = r.split()
                self.returns.append(re.sub(r"\([a-z!*]+\)", "", parts[0]))
                self.fields.append(parts[1] if len(parts) > 1 else f"result{len(self.fields)}")
            self.named = all(len(r.split()) > 1 for r in split_top(text[1:-1]))
        else:
            self.returns = [] if text == "()" else [re.sub(r"\([a-z!*]+\)", "", text.split()[0])]
            self.fields, self.named = ["result"], False
        for r in self.returns:
            if r not in RETURNS:
                self.fail(f"unknown return type '{r}'")

    @property
    def cpp_return(self):
        types = [RETURNS[r] for r in self.returns]
        if not types:
            return "void"
        return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"

    @property
    def multi(self):
        return len(self.returns) > 1

    # ---- gradients
    def parse_grad(self):
        grad = self.data.get("grad") or {}
        self.grads = []  # [([arg names], formula)]
        names = {a.name: a for a in self.args}
        for key, formula in grad.items():
            group = [k.strip() for k in str(key).strip("()").split(",")]
            for g in group:
                if g not in names or not (names[g].is_tensor or names[g].is_list):
                    self.fail(f"grad: '{g}' is no tensor argument")
            self.grads.append((group, " ".join(str(formula).split())))
        if (
            self.kind in ("pointwise", "structured", "view")
            and not self.grads
            and not self.data.get("nondiff")
        ):
            self.fail("needs 'grad' or 'nondiff: true'")
        self.diff_args = [a for a in self.args if any(a.name in g for g, _ in self.grads)]

    @property
    def node_name(self):
        if self.data.get("node"):
            return self.data["node"]
        camel = "".join(p[:1].upper() + p[1:] for p in self.base.split("_") if p)
        return camel + "Backward0"

    @property
    def overloads(self):
        """Names under which torch.ops finds it."""
        if self.overload:
            return [self.overload]
        unions = [a for a in self.args if a.type == "Tensor|Scalar"]
        return ["Tensor", "Scalar"] if unions else [""]


@functools.lru_cache(maxsize=None)
def sample_names(ops):
    """The rows of the CASES tables beside a folder of entries (empty where tests are absent)."""
    names = set()
    for path in glob.glob(os.path.join(os.path.dirname(ops), "tests", "ops", "samples", "*.py")):
        with open(path, encoding="utf-8") as f:
            tree = ast.parse(f.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                names |= {k.value for k in node.keys if isinstance(k, ast.Constant)}
    return names


class Lines(yaml.SafeLoader):
    """A strict loader that remembers the line of each entry and refuses duplicate keys."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            k = self.construct_object(key, deep=True)
            if k in seen:
                raise EntryError(
                    f"{node.start_mark.name}:{key.start_mark.line + 1}: duplicate key '{k}'"
                )
            seen.add(k)
        out = super().construct_mapping(node, deep=deep)
        if "op" in out:
            out["__line__"] = node.start_mark.line + 1
        return out


def load(path):
    with open(path, encoding="utf-8") as f:
        loader = Lines(f)
        try:
            data = loader.get_single_data() or []
        except yaml.YAMLError as e:
            raise EntryError(str(e)) from None
    return [
        Entry({k: v for k, v in d.items() if k != "__line__"}, path, d.get("__line__", 0))
        for d in data
    ]
