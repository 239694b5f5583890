"""`Proxy`: the value that flows through a function while it is traced, and what records it.

Every operation on a proxy makes a node in the tracer's graph and returns a proxy of that node.
"""

import dis
import enum
import inspect
import operator
import traceback
from collections import OrderedDict
from dataclasses import fields, is_dataclass

import torch
from torch.fx import traceback as fx_traceback
from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph, magic_methods, reflectable_magic_methods
from torch.fx.node import Node, base_types

__all__ = ["TracerBase", "GraphAppendingTracer", "TraceError", "Proxy", "MetaProxy", "Attribute",
           "ParameterProxy", "Scope", "ScopeContextManager"]

_COPY_META_FIELDS = ["nn_module_stack", "torch_fn", "source_fn_stack", "original_aten",
                     "recompute", "from_node", "quantization_tag"]


@compatibility(is_backward_compatible=False)
class Scope:
    """The module that is being traced: its path and class."""

    def __init__(self, module_path, module_type):
        self.module_path = module_path
        self.module_type = module_type


@compatibility(is_backward_compatible=False)
class ScopeContextManager:
    """Makes `current_scope` a copy of `scope` inside the block."""

    def __init__(self, scope, current_scope):
        self._scope = scope
        self._before = (scope.module_path, scope.module_type)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self):
        return self._scope

    def __exit__(self, *args):
        self._scope.module_path, self._scope.module_type = self._before


@compatibility(is_backward_compatible=True)
class TraceError(ValueError):
    """The function does something with a traced value that cannot be recorded."""


@compatibility(is_backward_compatible=True)
class TracerBase:
    """Makes nodes and proxies; `Tracer` adds the tracing of modules."""

    graph: Graph
    record_stack_traces = False
    _record_forward_stack_traces_only = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: OrderedDict
    node_name_to_scope: dict

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Puts a node into the graph. The arguments are nodes and constants already."""
        if kind == "call_function" and self.check_mutable_operations:
            from torch.fx.operator_schemas import check_for_mutable_operation

            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        self._note_origin(node)
        return node

    def _note_origin(self, node):
        if fx_traceback.has_preserved_node_meta():
            current = fx_traceback.get_current_meta()
            if "stack_trace" in current:
                node.stack_trace = current["stack_trace"]
            for field in _COPY_META_FIELDS + ["custom"]:
                if field in current:
                    node.meta[field] = current[field]
        elif self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        if self.record_stack_traces and not node.stack_trace:
            frames = self._filter_traceback_frames(traceback.extract_stack())
            if frames:
                node.stack_trace = "".join(frames.format()).strip()

    def _filter_traceback_frames(self, user_stack_summary):
        """The frames that belong to the traced program."""
        if self._record_forward_stack_traces_only:
            kept = [f for f in user_stack_summary
                    if f.name == "forward" or f.filename.endswith("torch/__init__.py")]
            return traceback.StackSummary.from_list(kept)
        first = next((i for i, f in enumerate(user_stack_summary) if f.name == "forward"), None)
        if first is None:
            return traceback.StackSummary.from_list([])
        return traceback.StackSummary.from_list(
            [f for f in user_stack_summary[first:] if not f.filename.startswith(_FX_FOLDER)]
        )

    def proxy(self, node):
        """The proxy for a node; override to use a class of your own."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None,
                     proxy_factory_fn=None):
        """A node from arguments that may contain proxies, and the proxy of it."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args, tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def _find_user_frame(self):
        """The innermost frame outside this package's tracing code."""
        frame = inspect.currentframe()
        while frame and frame.f_code.co_filename.startswith(_FX_FOLDER):
            frame = frame.f_back
        return frame

    def create_arg(self, a):
        """`a` as an argument of a node: proxies become nodes, containers immutable ones.

        NotImplementedError for a value that a graph cannot hold. Override to allow more.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return _create_arg_dict(self, a)
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop),
                         self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop),
                         self.create_arg(a.step))
        if isinstance(a, (torch._ops.OpOverload, *base_types, enum.Enum)) or a is None or a is ...:
            return a
        if is_dataclass(a) and not isinstance(a, type):
            kwargs = {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)}
            return self.create_node("call_function", a.__class__, (), kwargs)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        """Called when a proxy is used as a condition. Override to allow it."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Called when a proxy is iterated over. Override to allow it."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument. See the torch.fx docs on "
            "pytorch.org for a more detailed explanation of what types of control flow can be "
            "traced, and check out the Proxy docstring for help troubleshooting Proxy iteration "
            "errors"
        )

    def keys(self, obj):
        """Called when ``**proxy`` or ``proxy.keys()`` asks for names. Override to allow it."""
        return Attribute(obj, "keys")()


_FX_FOLDER = __file__[: -len("proxy.py")]


def _no_nodes(arg, whole):
    if isinstance(arg, Node):
        raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. "
                           f"Got key: {whole}")
    return arg


def _create_arg_dict(self, a):
    from torch.fx.node import map_aggregate

    result = {}
    for key, value in a.items():
        if not isinstance(key, str):
            key = self.create_arg(key)
            map_aggregate(key, lambda x: _no_nodes(x, key))
        result[key] = self.create_arg(value)
    return result


@compatibility(is_backward_compatible=True)
class GraphAppendingTracer(TracerBase):
    """Adds to a graph that is there: the tracer of proxies made by hand."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


@compatibility(is_backward_compatible=True)
class Proxy:
    """Stands for a value of a traced function. Arithmetic, attributes, methods, indexing and calls
    of this package's functions are recorded.

    Not possible: conditions (``if x:``), loops over it (unpacking ``a, b = x`` is), ``len``, and
    conversion to numbers.
    """

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        # Copying and pickling ask for these before there is a state.
        if k in ("tracer", "node", "__setstate__", "__getstate__", "__deepcopy__"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, d):
        self.__dict__ = d

    def __deepcopy__(self, memo):
        import copy

        new = Proxy.__new__(type(self))
        new.__dict__ = {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()}
        return new

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self,) + args, kwargs)

    def __iter__(self):
        count = _unpacked_count(inspect.currentframe().f_back)
        if count is not None:
            return (self[i] for i in range(count))
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want "
                           "this call to be recorded, please call torch.fx.wrap('len') at module "
                           "scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}

        def find(a):
            if isinstance(a, cls):
                tracers[a.tracer] = None

        _visit(args, find)
        _visit(kwargs, find)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to "
                               f"trace operations {orig_method}")
        tracer = next(iter(tracers))
        if _is_tensor_method(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs,
                                   name=tracer.graph._target_to_str(orig_method.__name__))


def _is_tensor_method(function):
    """A method of Tensor, or the getter of a property of it?"""
    name = getattr(function, "__name__", "")
    return name == "__get__" or getattr(torch.Tensor, name, None) is function


def _visit(a, fn):
    """Calls `fn` on the leaves of nested containers."""
    if isinstance(a, (tuple, list)):
        for x in a:
            _visit(x, fn)
    elif isinstance(a, dict):
        for x in a.values():
            _visit(x, fn)
    elif isinstance(a, slice):
        _visit((a.start, a.stop, a.step), fn)
    else:
        fn(a)


def _unpacked_count(frame):
    """How many values the statement that runs in `frame` unpacks, or None."""
    if frame is None:
        return None
    # Interpreters replace instructions while they run; dis shows the original ones.
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            found = instruction.opname.startswith("UNPACK_SEQUENCE")
            return instruction.argval if found else None
        if instruction.offset > frame.f_lasti:
            break
    return None


@compatibility(is_backward_compatible=False)
class MetaProxy(Proxy):
    """A proxy that also computes the result's metadata with the node's ``meta["val"]``."""

    def __init__(self, node, tracer=None, fake_mode=None):
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self):
        return f"MetaProxy({self.node.name})"

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        raise NotImplementedError("torch.fx.proxy.MetaProxy is not implemented")


@compatibility(is_backward_compatible=True)
class Attribute(Proxy):
    """``x.name``: becomes a call of getattr when used as a value, a method call when called."""

    def __init__(self, root, attr):
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node = None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr),
                                                  {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root,) + args, kwargs)


@compatibility(is_backward_compatible=False)
class ParameterProxy(Proxy):
    """A parameter whose shape is known: shape, size(), dim(), ndim and numel() are numbers."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, torch.nn.Parameter):
            raise AssertionError("param must be a Parameter")
        self.param = param
        self.name = name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    def size(self):
        return self.param.size()

    def dim(self):
        return self.param.dim()

    @property
    def ndim(self):
        return self.param.ndim

    def numel(self):
        return self.param.numel()

    def nelement(self):
        return self.param.nelement()


def _operator_for(method):
    target = getattr(operator, method)

    def impl(*args, **kwargs):
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    impl.__name__ = method
    return impl


def _reflected(method):
    target = getattr(operator, method)

    def impl(self, rhs):
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    impl.__name__ = impl.__qualname__ = "__r" + method.strip("_") + "__"
    return impl


def _add_operators():
    for method in magic_methods:
        if hasattr(operator, method):
            setattr(Proxy, f"__{method.strip('_')}__", _operator_for(method))
    for method in reflectable_magic_methods:
        if hasattr(operator, method) and method != "getitem":
            setattr(Proxy, f"__r{method.strip('_')}__", _reflected(method))


_add_operators()


@compatibility(is_backward_compatible=True)
def assert_fn(x):
    """Raises AssertionError unless `x`."""
    if not x:
        raise AssertionError("assertion failed")
