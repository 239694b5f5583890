"""Which nodes a backend can run: objects that answer for one node, and ways to combine them."""

import abc

import torch
from torch.fx._compatibility import compatibility
from torch.fx.passes.shape_prop import TensorMetadata
from torch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target

__all__ = ["OperatorSupportBase", "OperatorSupport", "create_op_support", "chain", "OpSupports",
           "any_chain"]


@compatibility(is_backward_compatible=False)
class OperatorSupportBase(abc.ABC):
    """Says whether a node can be run."""

    @abc.abstractmethod
    def is_node_supported(self, submodules, node):
        """`submodules` maps paths to modules."""


@compatibility(is_backward_compatible=False)
class OperatorSupport(OperatorSupportBase):
    """By a table: the name of the target to None (any), or to allowed dtypes of the arguments.

    ``{"torch.add": ((dtypes of arg 0, dtypes of arg 1), {keyword: dtypes})}``
    """

    _support_dict: dict = {}

    def __init__(self, support_dict=None):
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules, node):
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        allowed = self._support_dict[target]
        if allowed is None:
            return True
        args, kwargs = allowed
        for index, dtypes in enumerate(args):
            if len(node.args) > index and isinstance(node.args[index], torch.fx.Node):
                if _get_arg_dtype(node.args[index]) not in dtypes:
                    return False
        return all(k not in node.kwargs or not isinstance(node.kwargs[k], torch.fx.Node)
                   or _get_arg_dtype(node.kwargs[k]) in dtypes for k, dtypes in kwargs.items())


class _Function(OperatorSupportBase):
    def __init__(self, function):
        self.function = function

    def is_node_supported(self, submodules, node):
        return self.function(submodules, node)


@compatibility(is_backward_compatible=False)
def create_op_support(is_node_supported):
    """From a function of (submodules, node)."""
    return _Function(is_node_supported)


@compatibility(is_backward_compatible=False)
def chain(*op_support):
    """All of them must agree."""
    return _Function(lambda mods, node: all(s.is_node_supported(mods, node) for s in op_support))


@compatibility(is_backward_compatible=False)
def any_chain(*op_support):
    """One of them is enough."""
    return _Function(lambda mods, node: any(s.is_node_supported(mods, node) for s in op_support))


@compatibility(is_backward_compatible=False)
class OpSupports:
    """Frequent reasons to say no."""

    @classmethod
    def decline_if_input_dtype(cls, dtype):
        """No node with an input of that dtype."""

        def supported(submodules, node):
            return all(_get_arg_dtype(arg) != dtype for arg in node.all_input_nodes
                       if "tensor_meta" in arg.meta)

        return create_op_support(supported)

    @classmethod
    def decline_if_node_in_names(cls, disallow_set):
        """No node of these names."""
        return create_op_support(lambda submodules, node: node.name not in disallow_set)


def _get_arg_dtype(arg):
    meta = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]
