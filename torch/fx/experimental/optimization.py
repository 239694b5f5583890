"""Making models faster for inference: batch norms into convolutions, dropout away."""

import copy

import torch.fx as fx
import torch.nn as nn
from torch._missing import add_missing
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["matches_module_pattern", "replace_node_module", "fuse", "remove_dropout",
           "extract_subgraph", "UnionFind"]

add_missing(globals(), "torch.fx.experimental.optimization",
            "optimize_for_inference modules_to_mkldnn reset_modules gen_mkl_autotuner "
            "use_mkl_length", "MklSubgraph")


def _parent_name(target):
    """``"a.b.c"`` as ("a.b", "c")."""
    *parent, name = target.rsplit(".", 1)
    return parent[0] if parent else "", name


def matches_module_pattern(pattern, node, modules):
    """Do the node's first input and the node call modules of these two classes?"""
    if len(node.args) == 0:
        return False
    for expected, current in zip(pattern, (node.args[0], node)):
        if not isinstance(current, fx.Node) or current.op != "call_module":
            return False
        if not isinstance(current.target, str) or current.target not in modules:
            return False
        if type(modules[current.target]) is not expected:
            return False
    return True


def replace_node_module(node, modules, new_module):
    """Puts another module at the path that the node calls."""
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """Folds batch norms into the convolutions and linear layers before them.

    The model must be in evaluation mode. Returns a GraphModule; the model is copied unless
    `inplace`. With `no_trace` the model is a GraphModule already.
    """
    pairs = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d),
             (nn.Conv3d, nn.BatchNorm3d), (nn.Linear, nn.BatchNorm1d)]
    if not inplace:
        model = copy.deepcopy(model)
    if not no_trace or not isinstance(model, fx.GraphModule):
        model = fx.symbolic_trace(model)
    modules = dict(model.named_modules())
    graph = copy.deepcopy(model.graph)
    for pattern in pairs:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            if len(node.args[0].users) > 1:
                continue  # the layer's result is used elsewhere too
            layer, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            fold = fuse_linear_bn_eval if pattern[0] is nn.Linear else fuse_conv_bn_eval
            replace_node_module(node.args[0], modules, fold(layer, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return fx.GraphModule(model, graph)


def remove_dropout(model):
    """A GraphModule without the model's dropout modules."""
    traced = fx.symbolic_trace(model)

    class DropoutRemover(fx.Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], nn.Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)

    return DropoutRemover(traced).transform()


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """A GraphModule of some nodes of a graph."""
    new, values = fx.Graph(), {}
    for node in inputs:
        values[node] = new.placeholder(node.name)
    for node in nodes:
        values[node] = new.node_copy(node, lambda n: values[n])
    new.output([values[n] for n in outputs])
    new.lint()
    return fx.GraphModule(orig_module, new)


class UnionFind:
    """Disjoint sets of numbers below `n`."""

    def __init__(self, n):
        self.parent = [None] * n
        self.size = [0] * n

    def make_set(self, v):
        self.parent[v] = v
        self.size[v] = 1

    def find(self, v):
        """The number that stands for the set of `v`."""
        while self.parent[v] != v:
            self.parent[v] = v = self.parent[self.parent[v]]
        return v

    def join(self, a, b):
        """Unites two sets; returns what stands for them."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return a
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return a
