"""torch.fx: functions and modules as graphs that a program can read, change and run again.

`symbolic_trace` records what a module does with its inputs as a `Graph`; a `GraphModule` runs a
graph; its `code` is Python. `Interpreter`, `Transformer` and `replace_pattern` are ways to work on
graphs.
"""

from torch.fx._symbolic_trace import (  # noqa: F401
    PH,
    ProxyableClassMeta,
    Tracer,
    symbolic_trace,
    wrap,
)
from torch.fx.graph import CodeGen, Graph  # noqa: F401
from torch.fx.graph_module import GraphModule
from torch.fx.interpreter import Interpreter, Transformer
from torch.fx.node import Node, has_side_effect, map_arg
from torch.fx.proxy import Proxy
from torch.fx.subgraph_rewriter import replace_pattern

__all__ = ["symbolic_trace", "Tracer", "wrap", "Graph", "GraphModule", "Interpreter",
           "Transformer", "Node", "Proxy", "replace_pattern", "has_side_effect", "map_arg"]

_MODULES = frozenset(["annotate", "experimental", "passes", "operator_schemas", "tensor_type",
                      "_utils", "config"])


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("torch.fx." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

