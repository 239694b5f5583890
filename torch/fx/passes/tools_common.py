"""Questions that passes ask about nodes, and sorting."""

import heapq
from collections import deque

import torch
import torch.fx
from torch.fx._compatibility import compatibility
from torch.fx.node import _get_qualified_name

__all__ = ["get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph",
           "stable_topological_sort"]

CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


@compatibility(is_backward_compatible=False)
def get_acc_ops_name(k):
    """The name of an operator of an accelerator's library."""
    if isinstance(k, str):
        return k
    if k.__module__ and "acc_ops" in k.__module__:
        return f"acc_ops.{k.__name__}"
    return f"{(k.__module__ or '').replace('torch._ops', 'torch.ops')}.{k.__name__}"


@compatibility(is_backward_compatible=False)
def get_node_target(submodules, node):
    """The function's path, the method's name, or the module's class, as text."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError("Expect op types of " + ", ".join(CALLABLE_NODE_OPS) +
                             f", but found {node.op}")
    if node.op == "call_module":
        module = submodules[node.target]
        return torch.typename(getattr(module, "_base_class_origin", type(module)))
    if node.op == "call_function":
        return _get_qualified_name(node.target)
    return node.target


@compatibility(is_backward_compatible=False)
def is_node_output_tensor(node):
    """Does the node give a tensor? Needs ``meta["type"]``."""
    kind = node.meta.get("type", None)
    return kind is not None and issubclass(kind, torch.Tensor)


def _rebuild(gm, order):
    new, values = torch.fx.Graph(), {}
    for node in order:
        values[node] = new.node_copy(node, lambda n: values[n])
    new._codegen = gm.graph._codegen
    gm.graph = new
    return gm


@compatibility(is_backward_compatible=False)
def legalize_graph(gm):
    """Puts the nodes into an order in which arguments come first (breadth first); changes `gm`."""
    missing = {n: len(n.all_input_nodes) for n in gm.graph.nodes}
    queue = deque(sorted((n for n in missing if not missing[n]), key=lambda n: n.op == "get_attr"))
    order = []
    while queue:
        node = queue.popleft()
        order.append(node)
        for user in node.users:
            missing[user] -= 1
            if not missing[user]:
                queue.append(user)
    if len(order) < len(gm.graph.nodes):
        raise RuntimeError("Input graph has cycles, unable to add "
                           f"{[n for n in missing if missing[n]]}")
    return _rebuild(gm, order)


@compatibility(is_backward_compatible=False)
def stable_topological_sort(gm):
    """Like `legalize_graph`, but nodes stay in their order as far as possible."""
    nodes = list(gm.graph.nodes)
    place = {n: i for i, n in enumerate(nodes)}
    missing = {n: len(n.all_input_nodes) for n in nodes}
    heap = [place[n] for n in nodes if not missing[n]]
    heapq.heapify(heap)
    order = []
    while heap:
        node = nodes[heapq.heappop(heap)]
        order.append(node)
        for user in node.users:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(heap, place[user])
    if len(order) < len(nodes):
        raise AssertionError("the graph has a cycle")
    return _rebuild(gm, order)
