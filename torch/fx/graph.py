"""`Graph`: the nodes of a traced function, in order. How it becomes source is in `_codegen`."""

import contextlib
import copy
from collections import defaultdict

import torch
from torch.fx._codegen import (  # noqa: F401  (names of this module)
    CodeGen,
    PythonCode,
    _BoxedCodeGen,
    _custom_builtins,
    _CustomBuiltin,
    _format_target,
    _illegal_names,
    _is_from_torch,
    _is_magic,
    _Namespace,
    _origin_type_map,
    _override_sym_repr,
    _parse_stack_trace,
    _ParsedStackTrace,
    _PyTreeCodeGen,
    _PyTreeInfo,
    _register_custom_builtin,
    _snake_case,
    _torch_but_not_dynamo,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
)
from torch.fx._compatibility import compatibility
from torch.fx.node import (  # noqa: F401
    Argument,
    Node,
    Target,
    _format_arg,
    _get_qualified_name,
    _key_between,
    _type_repr,
    dtype_abbrs,
    map_arg,
)

__all__ = ["PythonCode", "CodeGen", "Graph"]

_legal_ops = dict.fromkeys(
    ["call_function", "call_method", "get_attr", "call_module", "placeholder", "output"]
)


class _node_list:
    """The nodes of a graph in order, or in the opposite order: a view."""

    def __init__(self, graph, direction="_next"):
        if direction not in ("_next", "_prev"):
            raise AssertionError("direction must be '_next' or '_prev'")
        self.graph = graph
        self.direction = direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root, direction = self.graph._root, self.direction
        node = getattr(root, direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, direction)

    def __reversed__(self):
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _InsertPoint:
    """Until left, new nodes go elsewhere."""

    def __init__(self, graph, new_insert):
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self):
        pass

    def __exit__(self, type, value, tb):
        self.graph._insert = self.orig_insert


class _FindNodesLookupTable:
    """Nodes by kind and, for calls of functions, by target."""

    def __init__(self):
        self.table = defaultdict(dict)

    def _key(self, node):
        return node.op, node.target if node.op == "call_function" else None

    def __contains__(self, node):
        return node in self.table[self._key(node)]

    def insert(self, node):
        self.table[self._key(node)][node] = None

    def remove(self, node):
        self.table[self._key(node)].pop(node)

    def find_nodes(self, *, op, target=None):
        if op == "call_function":
            if target is None:
                raise AssertionError("target must not be None for call_function op")
            return [*self.table[(op, target)]]
        if target is None:
            return [*self.table[(op, None)]]
        return [node for node in self.table[(op, None)] if node.target == target]


@compatibility(is_backward_compatible=True)
class Graph:
    """A list of nodes: placeholders, then calls and attributes, then one output.

    Make nodes with the methods `placeholder`, `call_function`, `output` and so on; they go to the
    end, or where `inserting_before` and `inserting_after` say. A graph with a root module is
    runnable as a `GraphModule`.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._used_names = {}
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields = {}
        self._find_nodes_lookup_table = _FindNodesLookupTable()

    @property
    def owning_module(self):
        """The `GraphModule` that runs this graph, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod):
        self._owning_module = mod

    @property
    def nodes(self):
        """All nodes in order; can be reversed, and nodes may be erased while iterating."""
        return _node_list(self)

    def output_node(self):
        """The output node; StopIteration if there is none."""
        return next(iter(self.find_nodes(op="output")))

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of a kind (and target), in order if `sort`."""
        found = self._find_nodes_lookup_table.find_nodes(op=op, target=target)
        return sorted(found) if sort else found

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies the nodes of `g` here; returns what its output returns.

        `val_map` maps nodes of `g` to nodes here: it is used where it has an entry, and filled.
        With `return_output_node` the old output node is returned too.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return value if not return_output_node else (value, node)
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        memo = memo if memo else {}
        g = Graph(tracer_cls=self._tracer_cls)
        memo[id(self)] = g
        copied = {}
        output = g.graph_copy(self, copied, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        if output is not None:
            if not isinstance(output, tuple):
                raise AssertionError("expected a tuple")
            value, old = output
            node = g.output(value, type_expr=getattr(old, "type", None))
            node.meta = copy.copy(old.meta)
        return g

    # ---------------------------------------------------------------- making nodes

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Makes a node of any kind and puts it at the insertion point.

        `name` is a wish; the node gets a name like it that is free.
        """
        if op not in _legal_ops:
            raise AssertionError(f"op {op!r} is not in _legal_ops")
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._find_nodes_lookup_table.insert(node)
        self._len += 1
        return node

    def placeholder(self, name, type_expr=None, default_value=...):
        """An input. `default_value` makes it optional."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """Reads an attribute of the module, such as ``"encoder.weight"``."""
        import warnings

        if self.owning_module is not None and not _has_attribute(
            self.owning_module, qualified_name
        ):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """Calls the submodule of that path."""
        import warnings

        owner = self.owning_module
        if owner is not None and not _has_attribute(owner, module_name):
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the "
                "owning GraphModule! Call GraphModule.add_submodule to add the necessary "
                "submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """Calls a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """Calls a Python function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name,
                                type_expr=type_expr)

    def output(self, result, type_expr=None):
        """Returns `result`: a node, or containers of nodes and constants."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A copy here of a node of another graph; `arg_transform` maps its input nodes."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("arguments must stay a tuple and a dict")
        result = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    def _target_to_str(self, target):
        name = target.__name__ if callable(target) else target
        return _snake_case(name[2:-2] if _is_magic(name) else name)

    # ---------------------------------------------------------------- changing

    def erase_node(self, to_erase):
        """Removes a node that nothing uses. RuntimeError if it has users."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had "
                               f"{len(to_erase.users)} users in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            import warnings

            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        self._find_nodes_lookup_table.remove(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase.args, to_erase.kwargs = (), {}

    def inserting_before(self, n=None):
        """New nodes go before `n` (None: to the beginning). Also a context manager."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """New nodes go right after `n` (None: to the end), each before the one made earlier."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node=None):
        """Erases nodes whose results nothing uses, unless they are impure. True if any was."""
        from torch.fx.graph_module import GraphModule

        self.lint()
        impure = is_impure_node or (lambda node: node.is_impure())
        changed = False
        for node in reversed(self.nodes):
            if not impure(node) and not node.users:
                self.erase_node(node)
                changed = True
        owner = self.owning_module
        if owner is not None:
            for module in owner.children():
                if isinstance(module, GraphModule):
                    changed = module.graph.eliminate_dead_code() or changed
        return changed

    def _clear_nodes(self):
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    # ---------------------------------------------------------------- looking

    def lint(self):
        """Raises RuntimeError if the graph is not well formed."""
        seen, names = set(), set()

        def check_arg(arg, node=None):
            where = f" of Node '{node}' " if node else " "
            if arg.graph is not self:
                raise RuntimeError(f"Argument '{arg}'{where}does not belong to this Graph, but was "
                                   "used as an argument! If you are copying nodes from another "
                                   "graph, make sure to use ``arg_transform`` on node_copy() to "
                                   f"remap values\n{self}")
            if arg not in seen:
                raise RuntimeError(f"Argument '{arg}'{where}was used before it has been defined! "
                                   "Please check that Nodes in the graph are topologically "
                                   f"ordered\n{self}")

        for node in self.nodes:
            if node.op not in _legal_ops:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node not in self._find_nodes_lookup_table:
                raise RuntimeError(f"Node '{node}' is not added to the side table")
            for arg in node._input_nodes:
                check_arg(arg, node)
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module:
            self._lint_targets()

    def _lint_targets(self):
        """Do the modules and attributes that nodes name exist?"""
        for node in self.nodes:
            if node.op in ("call_module", "get_attr"):
                _lint_target(self.owning_module, node)

    def python_code(self, root_module, *, verbose=False, include_stride=False,
                    include_device=False, colored=False, expanded_def=False, record_func=False,
                    additional_meta=None):
        """The graph as source of a function. `root_module` names the module in it ("self").

        `verbose` adds comments on where nodes come from and, where known, shapes.
        """
        namespace = _Namespace()
        with self._names_from(namespace):
            return self._python_code(
                root_module, namespace, verbose=verbose, include_stride=include_stride,
                include_device=include_device, colored=colored, expanded_def=expanded_def,
                record_func=record_func, additional_meta=additional_meta,
            )

    @contextlib.contextmanager
    def _names_from(self, namespace):
        """Nodes are called as `namespace` says, so that they do not hide globals of the code."""
        before = [(node, node._repr_fn) for node in self.nodes]
        for node in self.nodes:
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            yield
        finally:
            for node, fn in before:
                node._repr_fn = fn

    def _python_code(self, root_module, namespace, **options):
        return self._codegen._gen_python_code(self.nodes, root_module, namespace, **options)

    def __str__(self):
        lines = (n.format_node() for n in self.nodes)
        return "graph():" + "".join("\n    " + line for line in lines)

    def print_tabular(self):
        """Prints a table of the nodes. Needs the package tabulate."""
        try:
            from tabulate import tabulate
        except ImportError:
            print("`print_tabular` relies on the library `tabulate`, which could not be found on "
                  "this machine. Run `pip install tabulate` to install the library.")
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    # ---------------------------------------------------------------- the function around it

    def process_inputs(self, *args):
        """The placeholders' values from the function's arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """The function's result from the output node's value."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen):
        """Chooses how the function begins and ends."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Installs a function that changes the statements (a list of str) of generated code.

        ``make_transformer(current)`` gets the installed one or None. As a context manager the
        change ends with the block.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def restore():
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return restore()

    # ---------------------------------------------------------------- pickling

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "_insert"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._insert = self._root.prepend


def _has_attribute(module, path):
    for name in path.split("."):
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
    return True


def _lint_target(module, node):
    """Raises if an attribute is missing; warns if it is of an unlikely kind."""
    import warnings

    names = node.target.split(".")
    for index, name in enumerate(names):
        value = getattr(module, name, None)
        if not hasattr(module, name):
            path = ".".join(names[:index])
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent "
                               f"attribute {name} of {path}")
        last = index == len(names) - 1
        if node.op == "call_module" and last and not isinstance(value, torch.nn.Module):
            raise RuntimeError(f"Node {node} target {node.target} {name} of "
                               f"{'.'.join(names[:index])} does not reference an nn.Module")
        if (node.op == "get_attr" and last
                and not isinstance(value, (torch.nn.Module, torch.nn.Parameter))
                and name not in module._buffers):
            warnings.warn(f"Node {node} target {node.target} {name} of {'.'.join(names[:index])} "
                          "does not reference an nn.Module, nn.Parameter, or buffer, which is what "
                          "'get_attr' Nodes typically target", stacklevel=3)
        module = value
