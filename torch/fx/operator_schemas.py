"""Signatures of operators, and calls written in the order of their parameters."""

import collections
import inspect
import numbers
import typing
from typing import NamedTuple

import torch
from torch.fx._compatibility import compatibility

__all__ = ["ArgsKwargsPair", "check_for_mutable_operation", "get_signature_for_torch_op",
           "create_type_hint", "type_matches", "normalize_function", "normalize_module"]


@compatibility(is_backward_compatible=False)
class ArgsKwargsPair(NamedTuple):
    """Arguments of a call."""

    args: tuple
    kwargs: dict


_TYPES = {"Tensor": torch.Tensor, "int": int, "SymInt": int, "float": float, "bool": bool,
          "str": str, "Scalar": numbers.Number, "ScalarType": torch.dtype, "Device": torch.device,
          "Layout": torch.layout, "MemoryFormat": torch.memory_format, "Generator": torch.Generator,
          "number": numbers.Number}


def _python_type(text):
    """The type of a schema's type, which prints as ``Optional[List[Tensor]]``."""
    text = str(text)
    for prefix, make in (("Optional[", typing.Optional), ("List[", typing.List)):
        if text.startswith(prefix):
            return make[_python_type(text[len(prefix):-1])]
    return _TYPES.get(text, typing.Any)


def _schema_signature(schema):
    """The `inspect.Signature` of an operator's schema."""
    kinds, parameters = inspect.Parameter, []
    seen_default = False
    for argument in schema.arguments:
        kind = kinds.KEYWORD_ONLY if argument.kwarg_only else kinds.POSITIONAL_OR_KEYWORD
        default = kinds.empty
        if argument.has_default_value():
            default = argument.default_value
            seen_default = True
        elif seen_default and kind is kinds.POSITIONAL_OR_KEYWORD:
            kind = kinds.KEYWORD_ONLY
        name = "input" if argument.name == "self" else argument.name
        parameters.append(inspect.Parameter(name, kind, default=default,
                                            annotation=_python_type(argument.type)))
    returns = [_python_type(r.type) for r in schema.returns]
    if not returns:
        result = None
    else:
        result = returns[0] if len(returns) == 1 else typing.Tuple[tuple(returns)]
    parameters.sort(key=lambda p: p.kind)
    return inspect.Signature(parameters, return_annotation=result)


def _schemas(op):
    """The schemas of an operator or of the ``torch`` function of its name."""
    if isinstance(op, torch._ops.OpOverload):
        return [op._schema]
    packet = op
    if not isinstance(op, torch._ops.OpOverloadPacket):
        name = getattr(op, "__name__", None)
        known = name and any(getattr(place, name, None) is op for place in (
            torch, torch._C._nn, torch.special, torch.fft, torch.linalg, torch.nn.functional
        ))
        if not known:
            return None
        packet = getattr(torch.ops.aten, name, None)
        if packet is None:
            return None
    return [getattr(packet, overload)._schema for overload in packet.overloads()]


@compatibility(is_backward_compatible=False)
def get_signature_for_torch_op(op, return_schemas=False):
    """The signatures of all overloads of an operator, None if it is none.

    With `return_schemas` a pair (signatures, schemas).
    """
    schemas = None if inspect.isfunction(op) else _schemas(op)
    if not schemas:
        return (None, None) if return_schemas else None
    signatures = [_schema_signature(s) for s in schemas]
    return (signatures, schemas) if return_schemas else signatures


@compatibility(is_backward_compatible=False)
def check_for_mutable_operation(target, args, kwargs):
    """RuntimeError if the call would change one of its arguments."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    if not signatures or not schemas:
        return
    for signature, schema in zip(signatures, schemas):
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        if schema.is_mutable:
            raise RuntimeError(f"Tried to trace mutable operation {schema}. FX only supports "
                               "functional code, so operations that mutate operands in-place "
                               "(e.g. via `out` arguments) are not supported")
        return


@compatibility(is_backward_compatible=False)
def create_type_hint(x):
    """``List[T]`` or ``Tuple[T, ...]`` for a list or tuple of types; others as they are."""
    if not isinstance(x, (list, tuple)):
        return x
    if isinstance(x, list):
        def make(t):
            return list[t]
    else:
        def make(t):
            return tuple[t, ...]
    if not x:
        return make(typing.Any)
    base = x[0]
    for t in x:
        if issubclass(t, base):
            continue
        if issubclass(base, t):
            base = t
        else:
            return make(typing.Any)
    return make(base)


@compatibility(is_backward_compatible=False)
def type_matches(signature_type, argument_type):
    """May an argument of the second type be given for a parameter of the first?"""
    origin = typing.get_origin(signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(t, argument_type) for t in typing.get_args(signature_type))
    if signature_type == typing.List[int] and argument_type is int:
        return True  # a number stands for a list of one
    if origin in (list, collections.abc.Sequence):
        element = typing.get_args(signature_type)[0]
        other = typing.get_origin(argument_type)
        if other in (list, tuple):
            args = [t for t in typing.get_args(argument_type) if t is not ...]
            return all(type_matches(element, t) for t in args)
        return inspect.isclass(argument_type) and issubclass(argument_type, (list, tuple))
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if inspect.isclass(signature_type) and inspect.isclass(argument_type):
        return issubclass(argument_type, signature_type)
    return False


def _binding(signatures, args, kwargs, arg_types, kwarg_types, target):
    """The one signature that fits the arguments, None if none does."""
    fitting = []
    for signature in signatures:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        fitting.append(signature)
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    if arg_types is not None or kwarg_types is not None:
        arg_types, kwarg_types = arg_types or (), kwarg_types or {}
        for signature in fitting:
            bound = signature.bind(*arg_types, **kwarg_types)
            if all(type_matches(signature.parameters[n].annotation, t)
                   for n, t in bound.arguments.items()):
                return signature
        return None
    from torch.fx.node import _get_qualified_name

    texts = "\n".join(_signature_text(s) for s in signatures)
    raise RuntimeError(f"Tried to normalize arguments to {_get_qualified_name(target)} but the "
                       "schema match was ambiguous! Please provide argument types to the "
                       f"normalize_arguments() call. Available schemas:\n{texts}")


def _signature_text(signature):
    return str(signature).replace("typing.", "")


@compatibility(is_backward_compatible=False)
def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None,
                       normalize_to_only_use_kwargs=False):
    """The arguments of a call in the order of the parameters, defaults filled in; None if the
    function's signature is not known.

    Args:
        arg_types, kwarg_types: types of the arguments, to choose between overloads.
        normalize_to_only_use_kwargs: all arguments by name.

    Raises:
        RuntimeError: several overloads fit and no types are given.
    """
    kwargs = {} if kwargs is None else kwargs
    signature = None
    if inspect.isfunction(target) and (target.__module__ or "").startswith("torch"):
        signature = inspect.signature(inspect.unwrap(target))
    elif callable(target):
        signatures = get_signature_for_torch_op(target)
        if signatures:
            signature = _binding(signatures, args, kwargs, arg_types, kwarg_types, target)
    if signature is None:
        return None
    return _args_kwargs_to_normalized_args_kwargs(signature, args, kwargs,
                                                  normalize_to_only_use_kwargs)


@compatibility(is_backward_compatible=False)
def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """`normalize_function` for a call of the submodule `target` of `root`, if torch.nn's."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have "
                           "that target!") from error
    cls = type(module)
    if getattr(torch.nn, cls.__name__, None) is not cls:
        return None
    signature = inspect.signature(module.forward)
    return _args_kwargs_to_normalized_args_kwargs(signature, args, kwargs or {},
                                                  normalize_to_only_use_kwargs)


def _args_kwargs_to_normalized_args_kwargs(sig, args, kwargs, normalize_to_only_use_kwargs):
    """Binds arguments to a signature with plain parameters; None if it has others."""
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(p.kind not in plain for p in sig.parameters.values()):
        # Random functions take a generator or sizes in ways a signature does not say.
        if list(sig.parameters.keys()) != ["input", "from", "to", "generator"]:
            return None
    bound = sig.bind(*args, **kwargs)
    bound.apply_defaults()
    new_args, new_kwargs = [], {}
    for index, (name, parameter) in enumerate(sig.parameters.items()):
        value = bound.arguments[name]
        if not normalize_to_only_use_kwargs and (
            parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and index < len(args)
        ):
            new_args.append(value)
        else:
            new_kwargs[name] = value
    return ArgsKwargsPair(tuple(new_args), new_kwargs)
