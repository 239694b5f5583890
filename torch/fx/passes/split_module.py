"""`split_module`: cuts a graph into submodules by a number for each node."""

import inspect
from collections import OrderedDict

import torch
from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import map_arg

__all__ = ["Partition", "split_module"]


@compatibility(is_backward_compatible=True)
class Partition:
    """The nodes of one number, and what goes in and out."""

    def __init__(self, name):
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names = []
        self.inputs = {}
        self.outputs = {}
        self.dependencies = {}
        self.dependents = {}
        self.graph = Graph()
        self.environment = {}
        self.targets = {}

    def __repr__(self):
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n "
                f"outputs: {self.outputs},\n partitions depended on: {self.dependencies},\n "
                f"partition dependents: {self.dependents}")


class _Splitter:
    def __init__(self, m, root_m, split_callback, qualname_map, affix, keep_names):
        self.m, self.root, self.qualname_map = m, root_m, qualname_map
        self.callback, self.affix, self.keep_names = split_callback, affix, keep_names
        self.partitions = OrderedDict()
        self.where = {}  # node -> name of its partition; None outside

    def assign(self):
        for node in self.m.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(self.callback(node))
            if name not in self.partitions:
                partition = self.partitions[name] = Partition(name)
                if self.affix is not None:
                    partition.submod_name = f"submod_{self.affix}_{name}"
            self.partitions[name].node_names.append(node.name)
            self.where[node] = name

    def connect(self):
        """Finds what each partition takes and gives."""
        for node in self.m.graph.nodes:
            user = self.where.get(node)
            for used in node.all_input_nodes:
                maker = self.where.get(used)
                if maker == user:
                    continue
                if maker is not None:
                    self.partitions[maker].outputs.setdefault(used.name)
                    if user is not None:
                        self.partitions[maker].dependents.setdefault(user)
                if user is not None:
                    self.partitions[user].inputs.setdefault(used.name)
                    if maker is not None:
                        self.partitions[user].dependencies.setdefault(maker)

    def sorted_partitions(self):
        """Names in an order in which all inputs are there."""
        waiting = {n: set(p.dependencies) for n, p in self.partitions.items()}
        ready = [n for n, deps in waiting.items() if not deps]
        result = []
        while ready:
            name = ready.pop(0)
            result.append(name)
            for other in self.partitions[name].dependents:
                waiting[other].discard(name)
                if not waiting[other] and other not in result and other not in ready:
                    ready.append(other)
        if len(result) != len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return result

    def fill(self):
        """Copies nodes into the partitions' graphs."""
        nodes = {n.name: n for n in self.m.graph.nodes}
        for partition in self.partitions.values():
            for name in partition.inputs:
                source = nodes[name]
                if source.op == "get_attr":
                    continue
                inner = partition.graph.placeholder(name, type_expr=source.type)
                inner.meta = source.meta.copy()
                partition.environment[source] = inner
        for node in self.m.graph.nodes:
            if node not in self.where:
                continue
            partition = self.partitions[self.where[node]]
            environment = partition.environment
            for used in node.all_input_nodes:
                if used.op == "get_attr" and used not in environment:
                    inner = partition.graph.get_attr(used.target)
                    inner.meta = used.meta.copy()
                    environment[used] = inner
                    partition.targets[used.target] = _attribute(self.m, used.target)
            args = map_arg(node.args, lambda n: environment[n])
            kwargs = map_arg(node.kwargs, lambda n: environment[n])
            target = node.target
            if node.op == "call_module":
                target = node.target.replace(".", "_")
                partition.targets[target] = _attribute(self.m, node.target)
                if self.qualname_map is not None:
                    self.qualname_map[f"{partition.submod_name}.{target}"] = node.target
            name = node.name if self.keep_names else None
            copy = partition.graph.create_node(node.op, target, args, kwargs, name,
                                               type_expr=node.type)
            copy.meta = node.meta.copy()
            environment[node] = copy

    def base(self, order):
        """The module that calls the partitions."""
        graph, values, attributes = Graph(), {}, {}
        for node in self.m.graph.nodes:
            if node.op == "placeholder":
                default = node.args[0] if node.args else inspect.Signature.empty
                if default is inspect.Signature.empty:
                    values[node.name] = graph.placeholder(node.target, type_expr=node.type)
                else:
                    values[node.name] = graph.placeholder(node.target, type_expr=node.type,
                                                          default_value=default)
                values[node.name].meta = node.meta.copy()
        nodes = {n.name: n for n in self.m.graph.nodes}
        for name in order:
            partition = self.partitions[name]
            self.call(graph, partition, values, attributes, nodes)
        for node in self.m.graph.nodes:
            if node.op == "output":
                for used in node.all_input_nodes:
                    if used.op == "get_attr":
                        values[used.name] = graph.get_attr(used.target)
                        attributes[used.target] = _attribute(self.m, used.target)
                graph.output(map_arg(node.args[0], lambda n: values[n.name]),
                             type_expr=node.type)
        return GraphModule(attributes, graph)

    def call(self, graph, partition, values, attributes, nodes):
        inner = [partition.environment[nodes[name]] for name in partition.outputs]
        if len(inner) == 1:
            partition.graph.output(inner[0])
        elif inner:
            partition.graph.output(tuple(inner))
        else:
            partition.graph.output(None)
        attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        inputs = [name for name in partition.inputs if nodes[name].op != "get_attr"]
        result = graph.call_module(partition.submod_name, tuple(values[n] for n in inputs))
        if len(inner) == 1:
            values[next(iter(partition.outputs))] = result
            return
        for index, name in enumerate(partition.outputs):
            values[name] = torch.fx.Proxy(result)[index].node


def _attribute(module, path):
    for name in path.split("."):
        if not hasattr(module, name):
            raise RuntimeError(f"Operator target {path} not found!")
        module = getattr(module, name)
    return module


@compatibility(is_backward_compatible=True)
def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False,
                 keep_original_node_name=False, keep_original_input_name=True, *,
                 partition_affix=None, tuple_return=False):
    """A module that computes the same with one submodule for each number.

    Args:
        m (GraphModule): what is cut.
        root_m: the module that was traced.
        split_callback: the number (partition) of a node that is a call.
        qualname_map (dict): gets the old path for every new path of a module.
        keep_original_order: call the submodules in the order of their first nodes.

    Raises:
        RuntimeError: partitions depend on each other in a circle.
    """
    if tuple_return:
        raise NotImplementedError("split_module with tuple_return=True is not implemented")
    splitter = _Splitter(m, root_m, split_callback, qualname_map, partition_affix,
                         keep_original_node_name)
    splitter.assign()
    splitter.connect()
    splitter.fill()
    order = splitter.sorted_partitions()
    if keep_original_order:
        order = list(splitter.partitions)
    return splitter.base(order)
