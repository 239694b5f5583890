"""Operator schemas as text, parsed: ``aten::mul.Tensor(Tensor self, Tensor other) -> Tensor``.

Knows how to put the arguments of a call into schema order and to check their types.
"""

import re

import torch

__all__ = ["Argument", "FunctionSchema", "parse"]

_KEYWORDS = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2}


class Argument:
    """One argument or result of a schema."""

    def __init__(self, type, name, default, has_default, kwarg_only, alias, size):
        self.type, self.name = type, name
        self.default_value, self._has_default = default, has_default
        self.kwarg_only, self.N = kwarg_only, size
        self.alias_info = alias

    def has_default_value(self):
        return self._has_default

    @property
    def is_out(self):
        return self.kwarg_only and self.alias_info is not None and self.alias_info.is_write

    def __repr__(self):
        return str(self)

    def __str__(self):
        text = self.type
        if self.alias_info is not None:
            text = text.replace("Tensor", f"Tensor({self.alias_info})", 1)
        if self.name:
            text += " " + self.name
        return text + (f"={self.default_text}" if self._has_default else "")

    default_text = ""


class _Alias:
    def __init__(self, text):
        self.text = text
        self.is_write = "!" in text
        self.before_set = self.after_set = set(re.findall(r"[a-z]\w*", text))

    def __str__(self):
        return self.text


def _default(text, type):
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if text.startswith("[") or text.startswith("{"):
        inner = text[1:-1].strip()
        return [_default(x.strip(), "") for x in inner.split(",")] if inner else []
    if text.startswith(("'", '"')):
        return text[1:-1]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        pass
    found = getattr(torch, text, None)
    return found if found is not None else text


def _split(text):
    """At the commas that stand outside of brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    if current.strip():
        parts.append(current)
    return [p.strip() for p in parts]


def _argument(text, kwarg_only):
    head, _, default = text.partition("=")
    alias = None
    found = re.search(r"\(([^)]*)\)", head)
    if found and head.startswith("Tensor("):
        alias = _Alias(found[1])
        head = head[: found.start()] + head[found.end() :]
    type, _, name = head.strip().rpartition(" ")
    if not type:
        type, name = name, ""
    size = re.search(r"\[(\d+)\]", type)
    has = "=" in text
    value = _default(default.strip(), type) if has else None
    out = Argument(type.strip(), name, value, has, kwarg_only, alias,
                   int(size[1]) if size else None)
    out.default_text = default.strip()
    return out


def _is_number(x):
    return isinstance(x, (int, float, complex, bool))


def _is_int(x):
    return isinstance(x, int) and not isinstance(x, bool) or (
        hasattr(x, "__index__") and not isinstance(x, bool) and not isinstance(x, torch.Tensor)
    )


_CHECKS = {
    "Tensor": lambda x: isinstance(x, torch.Tensor) or _is_number(x),
    "Tensor|Scalar": lambda x: isinstance(x, torch.Tensor) or _is_number(x),
    "Scalar": lambda x: _is_number(x) or (isinstance(x, torch.Tensor) and x.dim() == 0),
    "int": _is_int,
    "SymInt": _is_int,
    "float": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "bool": lambda x: isinstance(x, (bool, int)),
    "str": lambda x: isinstance(x, str),
}


def _fits(type, value):
    """False only where the value is surely of another kind."""
    if type.endswith("?"):
        return value is None or _fits(type[:-1], value)
    if type.endswith("]"):
        base = type[: type.rindex("[")]
        if isinstance(value, (list, tuple)):
            return all(_fits(base, v) for v in value)
        sized = type[type.rindex("[") + 1 : -1]
        return bool(sized) and _fits(base, value)
    check = _CHECKS.get(type)
    return check is None or check(value)


class FunctionSchema:
    """A parsed schema."""

    def __init__(self, text):
        m = re.match(r"(?:(\w+)::)?(\w+)(?:\.(\w+))?\((.*)\)\s*->\s*(.*)$", text.strip(), re.S)
        if not m:
            raise ValueError(f"not a function schema: {text!r}")
        self._text = text
        self.name = f"{m[1]}::{m[2]}" if m[1] else m[2]
        self.overload_name = m[3] or ""
        self.arguments, kwarg_only = [], False
        for part in _split(m[4]):
            if part == "*":
                kwarg_only = True
            else:
                self.arguments.append(_argument(part, kwarg_only))
        results = m[5].strip()
        multiple = results.startswith("(") and results.endswith(")")
        parts = _split(results[1:-1]) if multiple else [results]
        self.returns = [_argument(p, False) for p in parts if p]
        self.is_vararg = self.is_varret = False

    @property
    def is_mutable(self):
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)

    @property
    def is_view(self):
        return any(r.alias_info is not None and not r.alias_info.is_write for r in self.returns)

    def _wrong(self, message):
        return RuntimeError(f"{self.name}() {message} Declaration: {self._text}")

    def bind(self, args, kwargs):
        """The arguments in schema order, defaults filled in. RuntimeError where they do not fit."""
        positional = [a for a in self.arguments if not a.kwarg_only]
        if len(args) > len(positional):
            raise self._wrong(
                f"expected at most {len(positional)} argument(s) but received {len(args)} "
                "argument(s)."
            )
        kwargs = dict(kwargs)
        out = []
        for i, a in enumerate(self.arguments):
            if i < len(args) and not a.kwarg_only:
                value = args[i]
                if a.name in kwargs:
                    raise self._wrong(f"got multiple values for argument '{a.name}'.")
            elif a.name in kwargs:
                value = kwargs.pop(a.name)
            elif a.has_default_value():
                value = a.default_value
            else:
                raise self._wrong(f"is missing value for argument '{a.name}'.")
            if not _fits(a.type, value):
                raise self._wrong(
                    f"Expected a value of type '{a.type}' for argument '{a.name}' but instead "
                    f"found type '{type(value).__name__}'."
                )
            out.append(self._spread(a, value))
        if kwargs:
            raise self._wrong(f"Unknown keyword argument '{next(iter(kwargs))}'.")
        return out

    @staticmethod
    def _spread(a, value):
        """One number where a list of N is wanted stands for N of them."""
        if a.N and value is not None and not isinstance(value, (list, tuple)):
            return [value] * a.N if not isinstance(value, str) else value
        return value

    def __str__(self):
        return self._text

    def __repr__(self):
        return self._text

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self):
        return hash(self._text)


def parse(text):
    """A `FunctionSchema` from its text."""
    return FunctionSchema(text)
