"""`Node`: one step of a `Graph`, and functions over the nested arguments of nodes.

Nodes form a ring of double links that starts and ends at the graph's root. A node knows its users;
`args` and `kwargs` are immutable so that this account stays right.
"""

import builtins
import inspect
import operator
import types
import typing

import torch
from torch.fx._compatibility import compatibility
from torch.fx.immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "map_arg", "map_aggregate", "has_side_effect"]

BaseArgumentTypes = typing.Union[
    str, int, float, bool, complex, torch.dtype, torch.Tensor, torch.device, torch.memory_format,
    torch.layout,
]
base_types = typing.get_args(BaseArgumentTypes)
Target = typing.Union[typing.Callable[..., typing.Any], str]
Argument = typing.Optional[typing.Union[
    typing.Tuple["Argument", ...], typing.Sequence["Argument"], typing.Mapping[str, "Argument"],
    slice, range, "Node", BaseArgumentTypes,
]]

_legal_ops = dict.fromkeys(
    ["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"]
)
dtype_abbrs = {
    getattr(torch, name): short for name, short in {
        "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
        "float16": "f16", "float32": "f32", "float64": "f64", "complex32": "c32",
        "complex64": "c64", "complex128": "c128", "bool": "b8", "bfloat16": "bf16",
        "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2fnuz": "f8e5m2fnuz",
        "float8_e4m3fnuz": "f8e4m3fnuz", "uint16": "u16", "uint32": "u32", "uint64": "u64",
        "float8_e8m0fnu": "f8e8m0fnu", "float4_e2m1fn_x2": "f4e2m1fnx2",
    }.items() if hasattr(torch, name)
}

# Calls that dead code elimination keeps though nothing uses their result.
_side_effectful_need_to_be_preserved_pre_dispatch = [torch._C._set_grad_enabled]
_side_effectful_functions = {torch._assert, operator.setitem, torch._C._set_grad_enabled}
_side_effectful_functions.update(getattr(torch, name) for name in (
    # These move the random stream on.
    "bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "_assert_async",
) if hasattr(torch, name))


@compatibility(is_backward_compatible=False)
def has_side_effect(fn):
    """Makes dead code elimination keep calls of `fn`; returns `fn`, so it is a decorator too."""
    _side_effectful_functions.add(fn)
    return fn


# ---------------------------------------------------------------- names of functions


def _find_module_of_method(orig_method):
    """Where a function without a module of its own is to be found."""
    name = orig_method.__name__
    module = orig_method.__module__
    if module is not None:
        return module
    for place in (torch, torch.nn.functional):
        if getattr(place, name, None) is orig_method:
            return place.__name__
    raise RuntimeError(f"cannot find module for {orig_method}")


def _tensor_method(func):
    return isinstance(func, (types.MethodDescriptorType, types.WrapperDescriptorType)) and (
        func is getattr(torch.Tensor, func.__name__, None)
    )


def _get_qualified_name(func):
    """The path by which generated code can name a function: ``torch.nn.functional.relu``."""
    if getattr(builtins, getattr(func, "__name__", ""), None) is func:
        return func.__name__
    if _tensor_method(func):
        return f"torch.Tensor.{func.__name__}"
    name = getattr(func, "__name__", None) or str(func)
    if name == "<lambda>":
        try:  # a lambda is named by the variable it was assigned to
            name = inspect.getsource(func).split("=")[0].strip()
        except OSError as error:
            raise RuntimeError("Unable to represent lambda") from error
    module = _find_module_of_method(func).replace("torch._ops", "torch.ops")
    return f"{module}.{name}"


def _type_repr(obj):
    """A type as short text; builtin types without their module."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj)


def _device_annotation(device):
    return str(device)


def _format_arg(arg, max_list_len=float("inf")):
    """An argument as the text of a graph shows it: nodes as ``%name``."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        items = ", ".join(_format_arg(a) for i, a in enumerate(arg) if i < max_list_len)
        if len(arg) > max_list_len:
            items += f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}]"
        return f"({items},)" if len(arg) == 1 else f"({items})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return "%" + str(arg) if isinstance(arg, Node) else str(arg)


# ---------------------------------------------------------------- nested arguments


@compatibility(is_backward_compatible=True)
def map_aggregate(a, fn):
    """`a` with `fn` applied to every leaf of its tuples, lists, dicts and slices.

    Lists and dicts come back immutable.
    """
    if isinstance(a, tuple):
        items = tuple(map_aggregate(x, fn) for x in a)
        return type(a)(*items) if hasattr(a, "_fields") else items
    if isinstance(a, list):
        return immutable_list(map_aggregate(x, fn) for x in a)
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn),
                     map_aggregate(a.step, fn))
    return fn(a)


@compatibility(is_backward_compatible=True)
def map_arg(a, fn):
    """`a` with `fn` applied to every `Node` in it."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


# ---------------------------------------------------------------- the node


def _check_target(graph, name, op, target):
    if op == "call_function":
        if not callable(target):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                             f"{torch.typename(target)} but a Callable is expected")
    elif op not in _legal_ops:
        raise AssertionError(f"op {op!r} is not in _legal_ops")
    elif not isinstance(target, str):
        raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                         f"{torch.typename(target)} but a str is expected")


class _NodeBase:
    """Links, users and arguments of a node; see `Node`."""

    def __init__(self, graph, name, op, target, return_type):
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self._input_nodes = {}
        self.users = {}
        self.type = return_type
        self._sort_key = ()
        self._repr_fn = None
        self._args = ()
        self._kwargs = immutable_dict()
        self._prev = self._next = self
        self._erased = False
        self.meta = {}

    def _remove_from_list(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def _update_args_kwargs(self, args, kwargs):
        """Takes new arguments and moves this node from the users of the old to those of the new."""
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def note(node):
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args = map_arg(args, note)
        self._kwargs = map_arg(kwargs, note)

    def _replace_input_with(self, old_input, new_input):
        def swap(node):
            return new_input if node is old_input else node

        self._update_args_kwargs(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def _order(self, other, name):
        """Compares places in the ring; keys grow along it and may have any length."""
        if not isinstance(other, _NodeBase):
            return NotImplemented
        return getattr(operator, name)(self._sort_key, other._sort_key)

    def __lt__(self, other):
        return self._order(other, "lt")

    def __le__(self, other):
        return self is other or self._order(other, "le")

    def __gt__(self, other):
        return self._order(other, "gt")

    def __ge__(self, other):
        return self is other or self._order(other, "ge")


def _key_between(before, after):
    """A sort key greater than `before` and less than `after` (None: no upper bound)."""
    if after is None or not after:
        return (before[0] + 1,) if before else (0,)
    longer = before + (0,) if len(before) >= len(after) else None
    if longer is not None:
        stepped = before[:-1] + (before[-1] + 1,)
        return stepped if stepped < after else longer
    stepped = after[:-1] + (after[-1] - 1,)
    return stepped if stepped > before else stepped + (0,)


@compatibility(is_backward_compatible=True)
class Node(_NodeBase):
    """One step of a graph.

    `op` says what it does: ``placeholder`` (an input), ``get_attr`` (a parameter or other attribute
    of the module), ``call_function``, ``call_module``, ``call_method``, ``output``. `target` is the
    function, or the name of the attribute, module, method or input. `name` is the variable that
    holds its result in generated code. `meta` is a dict for passes to write into.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        _check_target(graph, name, op, target)
        super().__init__(graph, name, op, target, return_type)
        self._update_args_kwargs(args, kwargs)

    def __getstate__(self):
        return {**self.__dict__, "_erased": self._erased, "_prev": self._prev, "_next": self._next}

    def __setstate__(self, state):
        self.__dict__.update(state)

    @property
    def next(self):
        """The node after this one."""
        return self._next

    @property
    def prev(self):
        """The node before this one."""
        return self._prev

    def prepend(self, x):
        """Moves `x` (or puts it) right before this node in the order of execution."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        root = self.graph._root
        x._sort_key = _key_between(
            () if before is root else before._sort_key, None if self is root else self._sort_key
        )

    def append(self, x):
        """Moves `x` (or puts it) right after this node."""
        if x is self:
            return
        self._next.prepend(x)

    @property
    def args(self):
        """Positional arguments: a tuple of nodes, constants and nested containers."""
        return self._args

    @args.setter
    def args(self, a):
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self):
        """Keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._update_args_kwargs(self._args, k)

    @property
    def all_input_nodes(self):
        """The nodes that this one takes, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Puts `arg` in the place of positional argument `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Puts `arg` before positional argument `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = self.args[:idx] + (arg,) + self.args[idx:]

    def update_kwarg(self, key, arg):
        """Sets the keyword argument `key`."""
        self.kwargs = {**self.kwargs, key: arg}

    @property
    def stack_trace(self):
        """Where the program made this node, if the tracer recorded it."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target):
        """A function as the text of a graph names it."""
        if isinstance(target, str):
            return target
        if hasattr(target, "__module__"):
            name = getattr(target, "__name__", None)
            if name is None:
                return _get_qualified_name(target)
            if target.__module__ == "builtins":
                return f"builtins.{name}"
            if target.__module__ == "_operator":
                return f"operator.{name}"
        return _get_qualified_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *,
                    include_tensor_metadata=False):
        """The line that shows this node in the text of a graph.

        With `placeholder_names` (a list) an input is appended to it and None returned.
        """
        if self.op == "placeholder":
            return self._format_placeholder(placeholder_names)
        typename = f"{_type_repr(self.type)} " if self.type else ""
        if self.op == "get_attr":
            return (f"%{self.name} : {typename}[num_users={len(self.users)}] = "
                    f"{self.op}[target={self._pretty_print_target(self.target)}]")
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        shape = _tensor_metadata(self) if include_tensor_metadata else ""
        return (f"%{self.name} : {typename}{shape}[num_users={len(self.users)}] = "
                f"{self.op}[target={self._pretty_print_target(self.target)}]"
                f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})")

    def _format_placeholder(self, placeholder_names):
        if not isinstance(self.target, str):
            raise AssertionError("target of a placeholder must be a str")
        typename = _type_repr(self.type) if self.type else ""
        if placeholder_names:
            placeholder_names.append(self.target + (f": {typename}" if typename else ""))
            return None
        default = f"(default={self.args[0]})" if self.args else ""
        space = typename + " " if typename else ""
        return (f"%{self.name} : {space}[num_users={len(self.users)}] = "
                f"{self.op}[target={self.target}]{default}")

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        """Puts `replace_with` wherever this node is used; returns the changed nodes.

        `delete_user_cb` says for each user whether to change it.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, "
                                     "propagate_meta=True), but replace_with already has .meta "
                                     "keys")
            replace_with.meta.update(self.meta)
        changed = []
        for user in list(self.users):
            if delete_user_cb is not None and not delete_user_cb(user):
                continue
            changed.append(user)
            self._tell_owner(replace_with.name, user)
            user._replace_input_with(self, replace_with)
        return changed

    def _tell_owner(self, new_name, user):
        for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
            hook(old=self, new=new_name, user=user)

    def is_impure(self, impure_random=True):
        """Does it do more than give a result, so that it must stay though unused?"""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            schema = getattr(self.target, "_schema", None)
            if schema is not None and getattr(schema, "is_mutable", False):
                return True
            if impure_random and torch.Tag.nondeterministic_seeded in getattr(
                self.target, "tags", ()
            ):
                return True
            return self.target in _side_effectful_functions
        if self.op == "call_method":
            return False
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            module = owner.get_submodule(self.target)
            if module is None:
                raise AssertionError(f"Did not find expected submodule target {self.target}")
            return getattr(module, "_is_impure", False)
        return False

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None,
                             normalize_to_only_use_kwargs=False):
        """The arguments in the order of the callee's signature, defaults filled in; or None."""
        from torch.fx.operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types,
                                      normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs,
                                    normalize_to_only_use_kwargs)
        return None

    def replace_input_with(self, old_input, new_input):
        """Puts `new_input` wherever `old_input` stands among the arguments."""
        self._tell_owner_of(old_input, new_input)
        self._replace_input_with(old_input, new_input)

    def _tell_owner_of(self, old, new):
        for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
            hook(old=old, new=new.name, user=self)

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)

    def __setattr__(self, name, value):
        graph = self.__dict__.get("graph")
        if name == "name" and "name" in self.__dict__:
            for hook in getattr(graph.owning_module, "_replace_hooks", None) or ():
                for user in self.users:
                    hook(old=self, new=value, user=user)
        if graph is not None and name in ("op", "target") and name in self.__dict__:
            table = graph._find_nodes_lookup_table
            known = self in table
            if known:
                table.remove(self)
            object.__setattr__(self, name, value)
            if known:
                table.insert(self)
            return
        object.__setattr__(self, name, value)


def _tensor_metadata(node):
    value = node.meta.get("val", node.meta.get("tensor_meta"))
    if value is None or not hasattr(value, "shape"):
        return ""
    return f"{dtype_abbrs.get(value.dtype, value.dtype)}{list(value.shape)} "


def __getattr__(name):
    if name in ("ArgsKwargsPair", "normalize_function", "normalize_module"):
        from torch.fx import operator_schemas

        return getattr(operator_schemas, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
