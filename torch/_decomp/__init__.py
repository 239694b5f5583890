"""Decompositions of operators into others, by registration. None is built in."""

from collections import defaultdict

from torch._missing import add_missing
from torch._ops import OpOverload, OpOverloadPacket

__all__ = ["decomposition_table", "pre_autograd_decomposition_table", "meta_table",
           "register_decomposition", "get_decompositions", "core_aten_decompositions"]

global_decomposition_table = defaultdict(dict)
decomposition_table = global_decomposition_table["post_autograd"]
pre_autograd_decomposition_table = global_decomposition_table["pre_autograd"]
meta_table = global_decomposition_table["meta"]

add_missing(globals(), "torch._decomp", "core_aten_decompositions")


def _overloads(op):
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name) for name in op.overloads()]
    return [op]


def register_decomposition(aten_op, registry=None, *, type="post_autograd", unsafe=False):
    """A decorator: the function decomposes an operator (overload, packet, or a list of them)."""
    if type not in ("post_autograd", "pre_autograd", "meta"):
        raise AssertionError(f"type must be post_autograd, pre_autograd or meta, got {type}")
    table = global_decomposition_table[type] if registry is None else registry

    def decorate(fn):
        operators = aten_op if isinstance(aten_op, (list, tuple)) else [aten_op]
        for op in operators:
            for overload in _overloads(op):
                if overload in table:
                    raise RuntimeError(f"duplicate registrations for {overload}")
                table[overload] = fn
        return fn

    return decorate


def get_decompositions(aten_ops, type="post_autograd"):
    """The registered decompositions of these operators: {overload: function}."""
    if type not in ("post_autograd", "pre_autograd", "meta"):
        raise AssertionError(f"type must be post_autograd, pre_autograd or meta, got {type}")
    table, found = global_decomposition_table[type], {}
    for op in aten_ops:
        for overload in _overloads(op):
            if overload in table:
                found[overload] = table[overload]
    return found


def remove_decompositions(decompositions, aten_ops):
    """Takes operators out of a table."""
    for op in aten_ops:
        for overload in _overloads(op):
            if isinstance(overload, OpOverload):
                decompositions.pop(overload, None)
