"""Groups of nodes by the function or module of the program that they come from."""

from dataclasses import dataclass, field
from typing import Any

from torch.fx._compatibility import compatibility

__all__ = ["get_source_partitions", "check_subgraphs_connected", "SourcePartition"]


@compatibility(is_backward_compatible=False)
@dataclass
class SourcePartition:
    """The nodes of one call of a source, and what goes in and out."""

    nodes: list
    source: Any
    input_nodes: list = field(default_factory=list)
    output_nodes: list = field(default_factory=list)
    params: list = field(default_factory=list)


@compatibility(is_backward_compatible=False)
def get_source_partitions(graph, wanted_sources, filter_fn=None):
    """{source: [partitions]} by ``meta["source_fn_stack"]`` of the nodes."""
    groups = {}
    for node in graph.nodes:
        stack = node.meta.get("source_fn_stack") or node.meta.get("torch_fn")
        if not stack:
            continue
        name, source = stack[-1] if isinstance(stack, list) else stack
        if source in wanted_sources:
            groups.setdefault(source, {}).setdefault(name, []).append(node)
    result = {}
    for source, named in groups.items():
        partitions = [_partition(nodes, source) for nodes in named.values()]
        if filter_fn:
            partitions = [p for p in partitions if all(map(filter_fn, p.output_nodes))]
        if partitions:
            result[source] = partitions
    return result


def _partition(nodes, source):
    inside = set(nodes)
    inputs, params = {}, {}
    for node in nodes:
        for arg in node.all_input_nodes:
            if arg not in inside:
                (params if arg.op == "get_attr" else inputs).setdefault(arg)
    inputs.update((n, None) for n in params)
    outputs = [n for n in nodes if any(user not in inside for user in n.users)]
    params.update((n, None) for n in nodes if n.op == "get_attr")
    return SourcePartition(nodes, source, list(inputs), outputs, list(params))


@compatibility(is_backward_compatible=False)
def check_subgraphs_connected(subgraph1, subgraph2):
    """Does the second use a value of the first?"""
    return any(n in subgraph1.nodes for node in subgraph2.nodes for n in node.all_input_nodes)
