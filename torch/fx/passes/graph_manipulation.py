"""Sizes of nodes in bytes, and replacing targets."""

from typing import NamedTuple

import torch
from torch.fx._compatibility import compatibility
from torch.fx.node import map_arg
from torch.fx.passes.shape_prop import ShapeProp

__all__ = ["replace_target_nodes_with", "size_bytes", "get_size_of_all_nodes", "get_tensor_meta",
           "get_size_of_node"]


@compatibility(is_backward_compatible=False)
def replace_target_nodes_with(fx_module, old_op, old_target, new_op, new_target):
    """Nodes of one kind and target become nodes of another; arguments stay."""
    new, values = torch.fx.Graph(), {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args = map_arg(node.args, lambda n: values[n])
            kwargs = map_arg(node.kwargs, lambda n: values[n])
            values[node] = new.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            values[node] = new.node_copy(node, lambda n: values[n])
    fx_module.graph = new


@compatibility(is_backward_compatible=False)
class size_bytes(NamedTuple):
    """Bytes of a node's result, and with the parameters it uses."""

    output_size: int
    total_size: int


@compatibility(is_backward_compatible=False)
def get_size_of_all_nodes(fx_module, args=None):
    """Gives every node an attribute `size_bytes`. Runs the module if `args` are given."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


@compatibility(is_backward_compatible=False)
def get_tensor_meta(node):
    """The node's `TensorMetadata`. RuntimeError if `ShapeProp` has not run."""
    meta = node.meta.get("tensor_meta")
    if not meta:
        raise RuntimeError(f"Node {node} has no tensor metadata associated with it! Check that "
                           "shape propagation has run.")
    return meta


@compatibility(is_backward_compatible=False)
def get_size_of_node(fx_module, node):
    """The `size_bytes` of a node."""
    total = 0
    if node.op == "call_module":
        module = dict(fx_module.named_modules())[node.target]
        total = sum(p.numel() * p.element_size() for p in module.parameters())
    meta = get_tensor_meta(node)
    output = meta.dtype.itemsize * meta.shape.numel()
    return size_bytes(output, total + output)
