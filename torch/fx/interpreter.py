"""`Interpreter` runs a graph node by node; `Transformer` makes a new graph that way."""

import inspect
from contextlib import contextmanager

import torch.fx.traceback as fx_traceback
from torch.fx._compatibility import compatibility
from torch.fx._lazy_graph_module import _make_graph_module
from torch.fx._symbolic_trace import Tracer
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule  # noqa: F401
from torch.fx.node import map_aggregate, map_arg
from torch.fx.proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


@compatibility(is_backward_compatible=True)
class Interpreter:
    """Runs a module's graph. Override the methods named after kinds of nodes to change what they
    do.

    Args:
        module: a GraphModule, or a Module to take attributes from when `graph` is given.
        garbage_collect_values: forget values after their last use.
        graph: the graph to run in place of the module's.
    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = _last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """Runs the graph on these arguments.

        `initial_env` gives values of nodes that need not run. With `enable_io_processing` the
        graph's own treatment of arguments and result (trees) applies.
        """
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                self._explain(error, node)
                raise
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                value = self.env[node]
                return self.graph.process_outputs(value) if enable_io_processing else value

    def _explain(self, error, node):
        """Adds the node to the error's message."""
        if not self.extra_traceback:
            return
        message = f"While executing {node.format_node()}"
        message = f"{error.args[0]}\n\n{message}" if error.args else str(message)
        message += f"\nOriginal traceback:\n{node.stack_trace}"
        error.args = (message,) + error.args[1:]
        if isinstance(error, KeyError):
            raise RuntimeError(*error.args) from error

    def boxed_run(self, args_list):
        """Runs on a list of arguments, which is emptied so that they can be freed early."""
        env = {}
        values = iter(args_list)
        for node in self.graph.nodes:
            if node.op == "placeholder":
                env[node] = next(values)
        args_list.clear()
        return self.run(initial_env=env)

    @contextmanager
    def _set_current_node(self, node):
        with fx_traceback.set_current_meta(node, f"Interpreter_{self.__class__.__name__}"):
            yield

    def run_node(self, n):
        """The value of one node."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            if not isinstance(args, tuple) or not isinstance(kwargs, dict):
                raise AssertionError("arguments must be a tuple and a dict")
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        """The next argument of `run`, or the default."""
        if not isinstance(target, str):
            raise AssertionError("the target must be a str")
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as error:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was "
                               "not passed in!") from error

    def get_attr(self, target, args, kwargs):
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        if isinstance(target, str):
            raise AssertionError("the target must not be a str")
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """The value to return."""
        return args[0]

    def fetch_attr(self, target):
        """The module's attribute of that path. RuntimeError if there is none."""
        value = self.module
        names = target.split(".")
        for index, name in enumerate(names):
            if not hasattr(value, name):
                raise RuntimeError("Node referenced nonexistent target "
                                   f"{'.'.join(names[:index + 1])}")
            value = getattr(value, name)
        return value

    def fetch_args_kwargs_from_env(self, n):
        """The arguments of a node with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """`args` with values in the place of nodes; `n` is the node that asks."""

        def load(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run "
                                   "Graph.lint() to diagnose such issues")
            return self.env[node]

        return map_arg(args, load)


def _last_uses(graph):
    """For each node the nodes whose values it is the last to use."""
    seen, result = set(), {}
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                result.setdefault(node, []).append(used)
    return result


class _TransformerTracer(Tracer):
    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.tensor_attrs = {}

    def is_leaf_module(self, m, module_qualified_name):
        return True


@compatibility(is_backward_compatible=True)
class Transformer(Interpreter):
    """Makes a new `GraphModule`: methods get and return proxies, and what they do is recorded."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target, args, kwargs):
        default = next(iter(args)) if args else inspect.Signature.empty
        default = () if default is inspect.Signature.empty else (default,)
        return Proxy(self.new_graph.create_node("placeholder", target, default, {}), self.tracer)

    def get_attr(self, target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        if not isinstance(target, str):
            raise AssertionError("the target must be a str")
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        """The new module."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:

            def strip(a):
                return a.node if isinstance(a, Proxy) else a

            output = self.new_graph.output(map_aggregate(result, strip))
            old = self.graph.output_node()
            output.meta.update(old.meta)
        return _make_graph_module(self.module, self.new_graph)
