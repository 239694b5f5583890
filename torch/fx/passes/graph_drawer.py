"""`FxGraphDrawer`: pictures of graphs with the package pydot."""

import hashlib

from torch.fx._compatibility import compatibility
from torch.fx.graph import _parse_stack_trace
from torch.fx.node import _format_arg, _get_qualified_name

try:
    import pydot

    HAS_PYDOT = True
except ModuleNotFoundError:
    HAS_PYDOT = False
    pydot = None

__all__ = ["FxGraphDrawer"]

_COLOR_MAP = {"placeholder": '"AliceBlue"', "call_module": "LemonChiffon1",
              "get_param": "Yellow2", "get_attr": "LightGrey", "output": "PowderBlue"}
_HASH_COLORS = ["CadetBlue1", "Coral", "DarkOliveGreen1", "DarkSeaGreen1", "GhostWhite", "Khaki1",
                "LavenderBlush1", "LightSkyBlue", "MistyRose1", "MistyRose2", "PaleTurquoise2",
                "PeachPuff1", "Salmon", "Thistle1", "Thistle3", "Wheat1"]


@compatibility(is_backward_compatible=False)
class FxGraphDrawer:
    """Draws a GraphModule, and those in it, as dot graphs.

    Raises RuntimeError where pydot is not installed.
    """

    def __init__(self, graph_module, name, ignore_getattr=False,
                 ignore_parameters_and_buffers=False, skip_node_names_in_args=True,
                 parse_stack_trace=False, dot_graph_shape=None, normalize_args=False):
        if not HAS_PYDOT:
            raise RuntimeError("FXGraphDrawer requires the pydot package to be installed. Please "
                               "install pydot through your favorite Python package manager.")
        self._name = name
        self.shape = dot_graph_shape if dot_graph_shape is not None else "record"
        self.normalize_args = normalize_args
        self.ignore_getattr, self.skip_names = ignore_getattr, skip_node_names_in_args
        self.parse = parse_stack_trace
        self._dot_graphs = {name: self._draw(graph_module, name)}
        for child_name, child in graph_module.named_children():
            if hasattr(child, "graph"):
                self._dot_graphs[f"{name}_{child_name}"] = self._draw(child,
                                                                      f"{name}_{child_name}")

    def get_dot_graph(self, submod_name=None):
        """The pydot graph of the module, or of one in it."""
        return self.get_main_dot_graph() if submod_name is None else (
            self.get_submod_dot_graph(submod_name))

    def get_main_dot_graph(self):
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name):
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self):
        return self._dot_graphs

    def _style(self, node):
        color = _COLOR_MAP.get(node.op)
        if color is None:
            digest = hashlib.md5(str(node._pretty_print_target(node.target)).encode()).digest()
            color = _HASH_COLORS[digest[0] % len(_HASH_COLORS)]
        return {"shape": self.shape, "fillcolor": color, "style": '"filled,rounded"',
                "fontcolor": "#000000"}

    def _label(self, module, node):
        text = "{" + f"name=%{node.name}|op_code={node.op}\\n"
        if node.op == "call_module":
            child = module.get_submodule(node.target)
            text += f"|{type(child).__module__}.{type(child).__name__}\\n"
        target = node.target if isinstance(node.target, str) else _get_qualified_name(node.target)
        text += f"|target={target}\\n"
        if node.args:
            args = tuple(a for a in node.args
                         if not (self.skip_names and hasattr(a, "op") and hasattr(a, "users")))
            text += "|args=" + _format_arg(args, 10).replace("{", r"\{").replace("}", r"\}") + "\\l"
        text += f"|num_users={len(node.users)}\\n"
        meta = node.meta.get("tensor_meta")
        if hasattr(meta, "shape"):
            text += f"|dtype={meta.dtype}\\n|shape={tuple(meta.shape)}\\n"
        if self.parse and node.stack_trace:
            parsed = _parse_stack_trace(node.stack_trace)
            text += f"|file={parsed.file}:{parsed.lineno} {parsed.code}\\n" if parsed else ""
        return text + "}"

    def _draw(self, module, name):
        dot = pydot.Dot(name, rankdir="TB")
        for node in module.graph.nodes:
            if self.ignore_getattr and node.op == "get_attr":
                continue
            dot.add_node(pydot.Node(node.name, label=self._label(module, node),
                                    **self._style(node)))
        for node in module.graph.nodes:
            for user in node.users:
                if not (self.ignore_getattr and node.op == "get_attr"):
                    dot.add_edge(pydot.Edge(node.name, user.name))
        return dot
