"""Computing once what does not depend on inputs."""

import torch
import torch.fx
from torch.fx.node import map_arg
from torch.fx.passes.split_module import split_module

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(torch.fx.GraphModule):
    """A GraphModule that runs its constant part before the first call (`run_folding`)."""

    def __init__(self, root, graph, const_subgraph=None, fx_const_folded_attrs_name=None,
                 device_for_folded_attrs="cuda"):
        super().__init__(root, graph)
        self.const_subgraph_module = (
            None if const_subgraph is None else torch.fx.GraphModule(root, const_subgraph)
        )
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args, **kwargs):
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self):
        """Computes the constants and keeps them as attributes."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("folding has been run")
        self.has_folding_been_run = True
        folded = self.const_subgraph_module()

        def parameter(i):
            t = folded[i] if isinstance(folded, tuple) else folded
            return torch.nn.Parameter(t.detach(), requires_grad=(
                t.requires_grad if isinstance(t, torch.Tensor) and t.is_floating_point() else False
            ))

        if isinstance(folded, tuple):
            value = torch.nn.ParameterList([parameter(i) for i in range(len(folded))])
        else:
            value = parameter(0)
        setattr(self, self.fx_const_folded_attrs_name, value)


def get_unique_attr_name_in_module(mod_traced, name):
    """`name` made a free attribute name."""
    import re

    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    if name[0].isdigit():
        name = f"_{name}"
    while hasattr(mod_traced, name):
        match = re.match(r"(.*)_(\d+)$", name)
        name = f"{match[1]}_{int(match[2]) + 1}" if match else name + "_1"
    return name


def split_const_subgraphs(module, skip_folding_node_fn=None, device_for_folded_attrs="cpu",
                          is_impure_node=None):
    """A `FoldedGraphModule` in which nodes that depend on attributes only run once.

    `skip_folding_node_fn` keeps a node (and what follows) out.
    """
    traced = (module if isinstance(module, torch.fx.GraphModule)
              else torch.fx.symbolic_trace(module))
    constant, found = set(), False
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not set(node.all_input_nodes) <= constant:
            continue
        if skip_folding_node_fn and skip_folding_node_fn(node):
            continue
        if (is_impure_node or (lambda n: n.is_impure()))(node):
            continue
        constant.add(node)
        found = found or node.op != "get_attr"
    if not found:
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: 0 if node in constant else 1)
    base, const = split.graph, split.submod_0
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    return _fold(split, base, const, name, device_for_folded_attrs)


def _fold(split, base, const, name, device):
    """Inlines the rest and reads the constants from an attribute."""
    graph, values = torch.fx.Graph(), {}
    for node in base.nodes:
        if node.op == "call_module" and node.target == "submod_0":
            setattr(split, name, torch.nn.ParameterList() if _returns_tuple(const)
                    else torch.nn.Parameter())
            values[node] = graph.get_attr(name)
        elif node.op == "call_module" and node.target == "submod_1":
            inner = {p: values[a] for p, a in zip(
                split.submod_1.graph.find_nodes(op="placeholder"), node.args)}
            values[node] = graph.graph_copy(split.submod_1.graph, inner)
            for child_name, child in split.submod_1.named_children():
                split.add_module(child_name, child)
            for p_name, p in split.submod_1.named_parameters(recurse=False):
                setattr(split, p_name, p)
            for b_name, b in split.submod_1.named_buffers(recurse=False):
                split.register_buffer(b_name, b)
        elif node.op == "output":
            graph.output(map_arg(node.args[0], lambda n: values[n]))
        else:
            values[node] = graph.node_copy(node, lambda n: values[n])
    for source in const.state_dict():
        torch.fx.graph_module._copy_attr(const, split, source)
    for child_name, child in const.named_children():
        split.add_module(child_name, child)
    return FoldedGraphModule(split, graph, const.graph, name, device)


def _returns_tuple(module):
    return isinstance(module.graph.output_node().args[0], tuple)
