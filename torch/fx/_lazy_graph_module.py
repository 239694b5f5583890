"""How passes make GraphModules. Code is always generated at once here."""

from contextlib import contextmanager

from torch.fx._compatibility import compatibility
from torch.fx.graph_module import GraphModule

_use_lazy_graph_module_flag = False


@compatibility(is_backward_compatible=False)
@contextmanager
def _use_lazy_graph_module(should_use):
    """Remembers whether code should be generated late; it changes nothing but time."""
    global _use_lazy_graph_module_flag
    before, _use_lazy_graph_module_flag = _use_lazy_graph_module_flag, should_use
    try:
        yield
    finally:
        _use_lazy_graph_module_flag = before


def _get_graph_module_cls():
    return GraphModule


def _make_graph_module(*args, graph_module_cls=None, **kwargs):
    """``GraphModule(*args, **kwargs)``."""
    return (graph_module_cls or GraphModule)(*args, **kwargs)
