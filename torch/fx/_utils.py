"""Text about graphs for logs."""

from torch.fx._compatibility import compatibility

__all__ = ["lazy_format_graph_code", "first_call_function_nn_module_stack", "get_node_context"]


@compatibility(is_backward_compatible=False)
def _format_graph_code(name, filename, graph_str):
    return f"TRACED GRAPH\n {name} {filename} {graph_str}\n"


@compatibility(is_backward_compatible=False)
def lazy_format_graph_code(name, gm, maybe_id=None, **kwargs):
    """The code of a module as text that is made when it is shown."""
    from torch._logging import LazyString

    def text():
        title = f"{name} {maybe_id}" if maybe_id is not None else name
        return _format_graph_code(f"===== {title} =====\n", gm.forward.__code__.co_filename,
                                  gm.print_readable(print_output=False, **kwargs))

    return LazyString(text)


@compatibility(is_backward_compatible=False)
def first_call_function_nn_module_stack(graph):
    """The modules around the first call of a function, or None."""
    for node in graph.nodes:
        if node.op == "call_function" and "nn_module_stack" in node.meta:
            return node.meta["nn_module_stack"]
    return None


@compatibility(is_backward_compatible=False)
def get_node_context(node, num_nodes=2):
    """The lines of a node and of some before it."""
    lines, current = [], node
    for _ in range(num_nodes + 1):
        lines.insert(0, str(current.format_node()))
        if current.op == "root":
            break
        current = current.prev
    return "\n".join(lines)
