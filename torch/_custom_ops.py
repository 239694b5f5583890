"""The first interface for operators of one's own, from before `torch.library.custom_op`.

Packages still import it. All of it is made of `torch.library`.
"""

import collections
import inspect

from torch import _operators
from torch._infer_schema import infer_schema
from torch.library import define, get_ctx, register_fake
from torch.library import impl as _impl

__all__ = ["custom_op", "impl", "impl_abstract", "get_ctx", "impl_save_for_backward",
           "impl_backward"]

_RESERVED = frozenset("prim prims aten at torch pytorch".split())


def parse_qualname(qualname):
    """``("namespace", "name")`` of ``"namespace::name"``. ValueError otherwise."""
    namespace, _, name = qualname.partition("::")
    if not name:
        raise ValueError(f"Expected {qualname} to be of the form \"namespace::name\"")
    if "." in name:
        raise ValueError("The torch.custom_ops APIs do not handle overloads, i.e. operator names "
                         f"with '.' in them. Please name your operator something like {qualname}.")
    return namespace, name


def validate_namespace(namespace):
    if "." in namespace:
        raise ValueError(f'custom_op(..., ns="{namespace}"): expected ns to not contain any . '
                         "(and be a valid variable name)")
    if namespace in _RESERVED:
        raise ValueError(f"custom_op(..., ns='{namespace}'): '{namespace}' is a reserved "
                         "namespace, please choose something else. ")


def custom_op(qualname, func_or_schema=None):
    """Declares an operator by a schema, or as a decorator by a function's annotations."""
    namespace, _ = parse_qualname(qualname)
    validate_namespace(namespace)

    def from_function(function):
        if not inspect.isfunction(function):
            raise ValueError("custom_op(...)(func): Expected `func` to be a Python function, got: "
                             f"{type(function)}")
        define(qualname, infer_schema(function, mutates_args=()))
        return function

    if func_or_schema is None:
        return from_function
    if isinstance(func_or_schema, str):
        define(qualname, func_or_schema)
        return None
    return from_function(func_or_schema)


def impl(qualname, *, device_types=("cpu", "cuda"), func=None):
    """Implements an operator for device types; a decorator without `func`."""
    def register(f):
        _impl(qualname, device_types, f)
        return f

    return register if func is None else register(func)


def impl_abstract(qualname, *, func=None):
    """`torch.library.register_fake`."""
    return register_fake(qualname, func)


class _Halves:
    """The two functions of a gradient, given one after the other."""

    def __init__(self, operator):
        self.operator = operator
        self.save = self.backward = None

    def complete(self):
        if self.save is None or self.backward is None:
            return
        operator, names = self.operator, [a.name for a in self.operator.schema.arguments]
        inputs_type = collections.namedtuple("inputs", names)

        def setup_context(ctx, inputs, output, keyword_only_inputs=None):
            values = inputs + tuple((keyword_only_inputs or {}).values())
            ctx._saved = self.save(inputs_type(*values), output)

        def backward(ctx, *grads):
            result = self.backward(ctx, ctx._saved, *grads)
            if not isinstance(result, dict):
                raise RuntimeError("Expected the output of the backward function of "
                                   f"{operator.name} to be a dict but got {type(result)}")
            return tuple(result.get(n) for n in names)

        operator.backward, operator.setup_context = backward, setup_context


_halves = {}


def _half(qualname, name, func):
    def register(f):
        operator = _operators.lookup(qualname)
        both = _halves.setdefault(qualname, _Halves(operator))
        setattr(both, name, f)
        both.complete()
        return f

    return register if func is None else register(func)


def impl_save_for_backward(qualname, *, func=None):
    """What is kept for the gradient: ``func(inputs, output)`` returns it."""
    return _half(qualname, "save", func)


def impl_backward(qualname, output_differentiability=None, *, func=None):
    """The gradient: ``func(ctx, saved, *grads)`` returns a dict of gradients by argument."""
    if output_differentiability is not None:
        raise NotImplementedError("torch._custom_ops.impl_backward: output_differentiability")
    return _half(qualname, "backward", func)
