"""Calls written in the order of their parameters: passes over graphs."""

import operator

import torch
from torch.fx import Transformer
from torch.fx.node import Node, map_aggregate
from torch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module

__all__ = ["NormalizeArgs", "NormalizeOperators"]


class NormalizeArgs(Transformer):
    """Gives calls their arguments by name, defaults filled in, where the signature is known."""

    def __init__(self, module, normalize_to_only_use_kwargs=True):
        super().__init__(module)
        self.node_map = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)

        def kind(arg):
            if isinstance(arg, Node):
                return arg.meta.get("type")
            return type(arg)

        arg_types = tuple(create_type_hint(map_aggregate(a, kind)) for a in n.args)
        kwarg_types = {k: create_type_hint(map_aggregate(v, kind)) for k, v in n.kwargs.items()}
        if n.op == "call_function":
            result = self.call_function(n.target, args, kwargs, arg_types, kwarg_types)
        else:
            result = super().run_node(n)
        if n.op != "output":
            self.node_map[result] = n
            result.node.meta = n.meta
            result.node.type = n.type
        return result

    def call_function(self, target, args, kwargs, arg_types=None, kwarg_types=None):
        pair = normalize_function(target, args, kwargs, arg_types, kwarg_types,
                                  self.normalize_to_only_use_kwargs)
        if pair:
            return self.tracer.create_proxy("call_function", target, *pair)
        return super().call_function(target, args, kwargs)

    def call_module(self, target, args, kwargs):
        pair = normalize_module(self.module, target, args, kwargs,
                                self.normalize_to_only_use_kwargs)
        if pair:
            return super().call_module(target, *pair)
        return super().call_module(target, args, kwargs)


class NormalizeOperators(Transformer):
    """``torch.add(a, b)`` as ``a + b``, where nothing else is said."""

    binary_magic_method_remap = {
        torch.add: operator.add, torch.mul: operator.mul, torch.sub: operator.sub,
        torch.div: operator.truediv, torch.floor_divide: operator.floordiv,
        torch.remainder: operator.mod, torch.eq: operator.eq, torch.ne: operator.ne,
        torch.lt: operator.lt, torch.le: operator.le, torch.gt: operator.gt,
        torch.ge: operator.ge,
    }

    def call_function(self, target, args, kwargs):
        if target in self.binary_magic_method_remap and len(args) == 2 and not kwargs:
            target = self.binary_magic_method_remap[target]
        return super().call_function(target, args, kwargs)
