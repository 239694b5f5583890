"""Operator schemas as objects: ``aten::mul.Tensor(Tensor self, Tensor other) -> Tensor``.

The core parses the text; here are the objects that programs look at, the order of a call's
arguments, and their types.
"""

import torch
from torch import _C

__all__ = ["Argument", "FunctionSchema", "SchemaType", "parse", "parse_schema"]

# Names in schemas: the kind of the type and its name in annotations.
_KINDS = {
    "Tensor": ("TensorType", "Tensor"), "Scalar": ("NumberType", "number"),
    "int": ("IntType", "int"), "SymInt": ("SymIntType", "SymInt"),
    "float": ("FloatType", "float"), "complex": ("ComplexType", "complex"),
    "bool": ("BoolType", "bool"), "SymBool": ("SymBoolType", "SymBool"),
    "str": ("StringType", "str"), "ScalarType": ("IntType", "int"), "Layout": ("IntType", "int"),
    "MemoryFormat": ("IntType", "int"), "Device": ("DeviceObjType", "Device"),
    "Generator": ("GeneratorType", "Generator"), "Stream": ("StreamObjType", "Stream"),
    "Storage": ("StorageType", "Storage"), "Any": ("AnyType", "Any"),
    "NoneType": ("NoneType", "NoneType"),
}


class SchemaType:
    """The type of an argument or a result. ``text`` is its spelling in the schema."""

    __slots__ = ("text", "size", "alias", "inner", "_kind", "annotation_str")

    def __init__(self, parts):
        self.text, self.size, self.alias, inner = parts
        self.inner = [SchemaType(p) for p in inner]
        if self.text.endswith("?"):
            self._kind = "OptionalType"
            self.annotation_str = f"Optional[{self.inner[0].annotation_str}]"
        elif self.text.endswith("]"):
            self._kind = "ListType"
            self.annotation_str = f"List[{self.inner[0].annotation_str}]"
        elif self.text.startswith("("):
            self._kind = "TupleType"
            inside = ", ".join(t.annotation_str for t in self.inner)
            self.annotation_str = f"Tuple[{inside}]"
        elif self.text.startswith("Dict("):
            self._kind = "DictType"
            self.annotation_str = "Dict[" + ", ".join(t.annotation_str for t in self.inner) + "]"
        else:
            self._kind, self.annotation_str = _KINDS.get(self.text, ("ClassType", self.text))

    def kind(self):
        return self._kind

    def getElementType(self):
        if not self.inner:
            raise RuntimeError(f"{self} has no element type")
        return self.inner[0]

    def elements(self):
        return list(self.inner)

    def isSubtypeOf(self, other):
        return self == other or (other.kind() == "OptionalType" and
                                 self.isSubtypeOf(other.getElementType()))

    def __str__(self):
        return self.annotation_str

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, SchemaType) and self.annotation_str == other.annotation_str

    def __hash__(self):
        return hash(self.annotation_str)


class _AliasInfo:
    """What an annotation such as ``(a!)`` says."""

    def __init__(self, text):
        self.text = text
        self.is_write = "!" in text
        before, _, after = text.partition("->")
        self.before_set = {p.strip() for p in before.replace("!", "").split("|")}
        self.after_set = {p.strip() for p in after.split("|")} if after else set(self.before_set)

    def __str__(self):
        return self.text


def _annotation(type):
    if type.alias or not type.inner or type.kind() == "TupleType":
        return type.alias
    return _annotation(type.inner[0])


class Argument:
    """One argument or result of a schema."""

    def __init__(self, type, name, has_default, default, kwarg_only):
        self.type = SchemaType(type)
        self.name, self.default_value = name, default
        self._has_default, self.kwarg_only = bool(has_default), bool(kwarg_only)
        inner = self.type.inner[0] if self.type.kind() == "OptionalType" else self.type
        self.N = inner.size if inner.kind() == "ListType" and inner.size >= 0 else None
        alias = _annotation(self.type)
        self.alias_info = _AliasInfo(alias) if alias else None

    @property
    def real_type(self):
        return self.type

    @property
    def is_write(self):
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self):
        return self.kwarg_only and self.is_write

    def has_default_value(self):
        return self._has_default


def _is_number(x):
    return isinstance(x, (int, float, complex, bool, torch.SymInt, torch.SymFloat)) or (
        hasattr(x, "__float__") and hasattr(x, "dtype") and not isinstance(x, torch.Tensor)
    )


def _is_int(x):
    return not isinstance(x, bool) and (
        isinstance(x, int) or (hasattr(x, "__index__") and not isinstance(x, torch.Tensor))
    )


def _is_device(x):
    return isinstance(x, (torch.device, str, int))


def _zero_dim(x):
    return isinstance(x, torch.Tensor) and x.dim() == 0


_CHECKS = {
    "Tensor": lambda x: isinstance(x, torch.Tensor),
    "Scalar": lambda x: _is_number(x) or _zero_dim(x),
    "int": lambda x: _is_int(x) or isinstance(x, (torch.dtype, torch.layout)) or _zero_dim(x),
    "SymInt": lambda x: _is_int(x) or _zero_dim(x),
    "float": lambda x: not isinstance(x, (bool, complex)) and _is_number(x) or _zero_dim(x),
    "complex": _is_number,
    "bool": lambda x: isinstance(x, bool) or type(x).__name__ in ("bool", "bool_", "SymBool"),
    "str": lambda x: isinstance(x, str),
    "ScalarType": lambda x: isinstance(x, (torch.dtype, int, type)),
    "Layout": lambda x: isinstance(x, (torch.layout, int)),
    "MemoryFormat": lambda x: isinstance(x, (torch.memory_format, int)),
    "Device": _is_device,
    "Generator": lambda x: isinstance(x, torch.Generator),
}


def _fits(type, value):
    """False only where the value is surely of another kind."""
    kind = type.kind()
    if kind == "OptionalType":
        return value is None or _fits(type.inner[0], value)
    if kind == "ListType":
        element = type.inner[0]
        if isinstance(value, (list, tuple)):
            return all(_fits(element, v) for v in value)
        return type.size >= 0 and _fits(element, value)
    check = _CHECKS.get(type.text)
    return check is None or check(value)


class FunctionSchema:
    """A parsed schema. RuntimeError for text that is none."""

    def __init__(self, text):
        (self._text, self.name, self.overload_name, arguments, returns, self.is_vararg,
         self.is_varret) = _C._parse_schema(text)
        self.arguments = [Argument(*a) for a in arguments]
        self.returns = [Argument(*r) for r in returns]
        self._numbers = self.name.startswith(("aten::", "prims::"))

    @property
    def is_mutable(self):
        return any(a.is_write for a in self.arguments)

    @property
    def is_view(self):
        return any(r.alias_info is not None and not r.is_write for r in self.returns)

    def is_backward_compatible_with(self, old):
        """Whether calls made for `old` still work: more arguments only with defaults."""
        if self.name != old.name or len(self.arguments) < len(old.arguments):
            return False
        same = all(a.type == b.type and a.name == b.name
                   for a, b in zip(self.arguments, old.arguments))
        new = self.arguments[len(old.arguments):]
        return same and all(a.has_default_value() for a in new) and (
            [r.type for r in self.returns] == [r.type for r in old.returns])

    def _fits(self, argument, value):
        if self._numbers and argument.type.text == "Tensor" and _is_number(value):
            return True  # x + 1
        return _fits(argument.type, value)

    def _wrong_type(self, argument, position, value):
        wanted = argument.type.annotation_str.replace("SymInt", "int")
        found = type(value).__name__
        return RuntimeError(
            f"{self.name}() Expected a value of type '{wanted}' for argument "
            f"'{argument.name}' but instead found type '{found}'.\n"
            f"Position: {position}\nValue: {value!r}\nDeclaration: {self._text}\n"
            f"Cast error details: Unable to cast {value!r} to {wanted}"
        )

    def bind(self, args, kwargs):
        """The arguments in schema order, defaults filled in. RuntimeError where they do not fit."""
        if len(args) > sum(not a.kwarg_only for a in self.arguments):
            n = sum(not a.kwarg_only for a in self.arguments)
            raise RuntimeError(
                f"{self.name}() expected at most {n} argument(s) but received {len(args)} "
                f"argument(s). Declaration: {self._text}"
            )
        out, used = [], 0
        for i, a in enumerate(self.arguments):
            if i < len(args):
                if a.name in kwargs:
                    raise RuntimeError(f"{self.name}() got multiple values for argument "
                                       f"'{a.name}'. Declaration: {self._text}")
                value = args[i]
            elif a.name in kwargs:
                value = kwargs[a.name]
                used += 1
            elif a._has_default:
                out.append(a.default_value)
                continue
            else:
                raise RuntimeError(f"{self.name}() is missing value for argument '{a.name}'. "
                                   f"Declaration: {self._text}")
            if not self._fits(a, value):
                raise self._wrong_type(a, i, value)
            out.append(self._spread(a, value))
        if used < len(kwargs):
            names = {a.name for a in self.arguments}
            unknown = next(k for k in kwargs if k not in names)
            raise RuntimeError(f"Unknown keyword argument '{unknown}' for operator '{self.name}'. "
                               f"Schema: {self._text}")
        return out

    @staticmethod
    def _spread(a, value):
        """One number where a list of N is wanted stands for N of them, a name for a device."""
        if isinstance(value, (str, int)) and a.type.text.rstrip("?") == "Device":
            return torch.device(value)
        if a.N is not None and not isinstance(value, (list, tuple)) and value is not None:
            return [value] * max(a.N, 1)
        return value

    def split(self, args):
        """Arguments in schema order as positional and keyword-only ones."""
        n = sum(not a.kwarg_only for a in self.arguments)
        return tuple(args[:n]), {a.name: v for a, v in zip(self.arguments[n:], args[n:])}

    def __str__(self):
        return self._text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self):
        return hash(self._text)


def parse(text):
    """A `FunctionSchema` from its text."""
    return FunctionSchema(text)


parse_schema = parse


def _get_schema(name, overload):
    """The schema of an operator: ``_get_schema("aten::add", "Tensor")``."""
    from torch import _ops

    return _ops._find_overload(name, overload)._schema


def _jit_get_schemas_for_operator(name):
    """The schemas of all overloads of a qualified name."""
    from torch import _ops

    try:
        packet = _ops._find_packet(name)
    except AttributeError:
        return []
    return list(packet._schemas.values())


def _jit_get_all_schemas():
    """The schemas of all operators."""
    from torch import _operators

    core = [parse(_C._public_schema(_C._find_op(n, o))) for n, o in _C._all_ops()]
    return core + [_operators.lookup(n).schema for n in _operators.names()]
