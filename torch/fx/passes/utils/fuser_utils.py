"""Turning groups of nodes into submodules that are called in their place."""

from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.passes.tools_common import stable_topological_sort
from torch.fx.proxy import Proxy

__all__ = ["topo_sort", "validate_partition", "fuse_as_graphmodule", "insert_subgm",
           "erase_nodes", "fuse_by_partitions"]


@compatibility(is_backward_compatible=False)
def topo_sort(nodes):
    """The nodes in the order of their graph."""
    return sorted(nodes)


@compatibility(is_backward_compatible=False)
def validate_partition(partition):
    """Can the nodes be one call: does no path leave them and come back?"""
    inside = set(partition)
    outside = [u for n in inside for u in n.users if u not in inside]
    seen = set(outside)
    while outside:
        for user in outside.pop().users:
            if user in inside:
                return False
            if user not in seen:
                seen.add(user)
                outside.append(user)
    return True


@compatibility(is_backward_compatible=False)
def fuse_as_graphmodule(gm, nodes, module_name, partition_lookup_table=None, *,
                        always_return_tuple=False):
    """(module, inputs, outputs): the nodes as a GraphModule, the nodes of `gm` that it takes, and
    those whose values it returns."""
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module "
                                 f"{gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = set(nodes)
    graph, values, inputs = Graph(), {}, {}

    def value(node):
        if node not in values:  # comes from outside
            inputs[node] = graph.placeholder(node.name, type_expr=node.type)
            inputs[node].meta = node.meta.copy()
            values[node] = inputs[node]
        return values[node]

    for node in nodes:
        values[node] = graph.node_copy(node, value)
    outputs = [n for n in nodes if any(user not in inside for user in n.users)]
    results = tuple(values[n] for n in outputs)
    graph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    first = next(n for n in graph.nodes if n.op != "placeholder")
    for placeholder in inputs.values():  # inputs come before all else
        first.prepend(placeholder)
    graph.lint()
    return GraphModule(gm, graph, class_name=module_name), tuple(inputs), tuple(outputs)


@compatibility(is_backward_compatible=False)
def insert_subgm(gm, sub_gm, orig_inputs, orig_outputs):
    """Calls `sub_gm` where the last of its outputs is computed, and gives its results to the users
    of the old nodes."""
    name = sub_gm.__class__.__name__
    gm.add_submodule(name, sub_gm)
    with gm.graph.inserting_after(max(orig_outputs)):
        call = gm.graph.call_module(name, args=orig_inputs)
    result = sub_gm.graph.output_node().args[0]
    if isinstance(result, tuple):
        with gm.graph.inserting_after(call):
            proxies = []
            for index in range(len(orig_outputs)):
                proxies.append(Proxy(call)[index].node)
        for proxy in reversed(proxies):
            call.append(proxy)
        for old, new in zip(orig_outputs, proxies):
            old.replace_all_uses_with(new, propagate_meta=True)
    else:
        call.meta["val"] = orig_outputs[0].meta.get("val")
        orig_outputs[0].replace_all_uses_with(call)
    return gm


@compatibility(is_backward_compatible=False)
def erase_nodes(gm, nodes):
    """Erases nodes, users first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


@compatibility(is_backward_compatible=False)
def fuse_by_partitions(gm, partitions, prefix="fused_", always_return_tuple=False):
    """Puts a submodule ``prefix + number`` in the place of each group (a dict or list of nodes)."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        module, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, prefix + str(number), always_return_tuple=always_return_tuple
        )
        if not outputs:
            continue
        insert_subgm(gm, module, inputs, outputs)
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm
