"""Schemas from the annotations of a function: `torch.library.infer_schema`."""

import collections.abc
import inspect
import types
import typing

import torch

__all__ = ["infer_schema"]

_SIMPLE = {
    torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
    torch.dtype: "ScalarType", torch.device: "Device", complex: "complex",
}
_IN_LISTS = ("Tensor", "Tensor?", "SymInt", "float", "bool", "Scalar")
_RESULTS = ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar")
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


def _type_name(annotation):
    """The schema's name of an annotated type; None if it has none."""
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if annotation == typing.Union[int, float, bool]:
        return "Scalar"
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _UNIONS and type(None) in args:
        rest = tuple(a for a in args if a is not type(None))
        inner = _type_name(typing.Union[rest])
        return None if inner is None else inner + "?"
    if origin in (list, collections.abc.Sequence) and args:
        inner = _type_name(args[0])
        return inner + "[]" if inner in _IN_LISTS else None
    return None


def _default_text(value):
    if value is None or isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, float):
        return str(value)
    if isinstance(value, (str, torch.device)):
        return f'"{value}"'
    if isinstance(value, torch.dtype):
        return str(value).replace("torch.", "")
    raise TypeError(type(value))


class _Function:
    """One function whose schema is wanted; knows how to complain about it."""

    def __init__(self, function, mutates_args):
        self.signature = inspect.signature(function)
        try:
            self.hints = typing.get_type_hints(function)
        except NameError as error:
            raise ValueError(f"infer_schema(func): Unsupported type annotation: {error}") from None
        self.unknown = mutates_args == "unknown"
        self.mutates = set() if self.unknown else set(
            [mutates_args] if isinstance(mutates_args, str) else mutates_args)

    def wrong(self, message):
        return ValueError(f"infer_schema(func): {message} Got func with signature "
                          f"{self.signature})")

    def argument(self, index, name, p):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise self.wrong("We do not support positional-only args, varargs, or varkwargs.")
        if p.annotation is p.empty:
            raise self.wrong(f"Parameter {name} must have a type annotation.")
        annotation = self.hints[name]
        kind = _type_name(annotation)
        if kind is None:
            hint = ""
            if typing.get_origin(annotation) is tuple:
                hint = (" We do not support Tuple inputs in schema. As a workaround, please try to "
                        "use List instead.")
            raise self.wrong(f"Parameter {name} has unsupported type {annotation}.{hint} The "
                             "valid types are tensors, numbers, strings, dtypes, devices, lists "
                             "of them and optionals.")
        if name in self.mutates or (self.unknown and kind.startswith("Tensor")):
            if not kind.startswith("Tensor"):
                raise self.wrong(f"Parameter {name} is in mutable_args but only Tensors or "
                                 "collections of Tensors can be mutated")
            kind = kind.replace("Tensor", f"Tensor(a{index}!)", 1)
        text = f"{kind} {name}"
        if p.default is not p.empty:
            try:
                text += "=" + _default_text(p.default)
            except TypeError:
                raise self.wrong(f"Parameter {name} has an unsupported default value type "
                                 f"{type(p.default)}.") from None
        return text

    def results(self):
        if self.signature.return_annotation is self.signature.empty:
            raise self.wrong("No return type annotation was provided. Please add one.")
        annotation = self.hints.get("return")
        if annotation in (None, type(None)):
            return "()"
        multiple = typing.get_origin(annotation) is tuple
        parts = typing.get_args(annotation) if multiple else (annotation,)
        names = [_type_name(p) for p in parts]
        for name in names:
            if name not in _RESULTS:
                raise self.wrong(f"Return has unsupported type {annotation}. The valid types are: "
                                 "tensors, lists of tensors and numbers.")
        return "(" + ", ".join(names) + ")" if multiple else names[0]


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """The schema that a function's annotations describe. ValueError where they do not suffice.

    Args:
        mutates_args: names of the arguments that are written to, or ``"unknown"`` for all tensors.
        op_name: put before the arguments.
    """
    function = _Function(prototype_function, mutates_args)
    parts, star = [], False
    for index, (name, p) in enumerate(function.signature.parameters.items()):
        if p.kind == p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        parts.append(function.argument(index, name, p))
    missing = function.mutates - set(function.signature.parameters)
    if missing:
        raise function.wrong(
            f"{missing} in mutates_args were not found in the custom op's signature. mutates_args "
            "should contain the names of all args that the custom op mutates, or just the string "
            "'unknown' if you don't know.")
    return f"{op_name or ''}({', '.join(parts)}) -> {function.results()}"
