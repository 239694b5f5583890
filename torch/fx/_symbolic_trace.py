"""`symbolic_trace` and `Tracer`: run a module or function once on proxies and keep the graph."""

import collections
import contextlib
import copy
import functools
import inspect
import math
import warnings
from itertools import chain
from types import FunctionType

import torch
import torch.utils._pytree as pytree
from torch.fx._compatibility import compatibility
from torch.fx._patching import (  # noqa: F401  (names of this module)
    _autowrap_check,
    _create_wrapped_func,
    _create_wrapped_method,
    _find_proxy,
    _get_is_fx_tracing,
    _patch_wrapped_functions,
    _PatchedFn,
    _PatchedFnDel,
    _PatchedFnSetAttr,
    _PatchedFnSetItem,
    _Patcher,
    _set_is_fx_tracing,
    _wrap_method,
    _wrapped_fns_to_patch,
    _wrapped_methods_to_patch,
    wrap,
)
from torch.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from torch.fx.graph_module import GraphModule  # noqa: F401
from torch.fx.node import base_types
from torch.fx.proxy import (  # noqa: F401
    ParameterProxy,
    Proxy,
    Scope,
    ScopeContextManager,
    TracerBase,
)

__all__ = ["Tracer", "symbolic_trace", "wrap", "PHBase", "PH", "PHWithMeta", "ProxyableClassMeta",
           "is_fx_tracing", "is_fx_symbolic_tracing"]

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
CURRENT_PATCHER = None
_proxyable_classes = {}
_constant_attribute_types = (torch.Tensor,)


def is_fx_tracing():
    """Is a `Tracer` running in this thread?"""
    return _get_is_fx_tracing()


def is_fx_symbolic_tracing():
    """Is a `Tracer` running in this thread, and no compiler?"""
    return _get_is_fx_tracing() and not torch.compiler.is_compiling()


@contextlib.contextmanager
def _is_fx_tracing_context(value):
    before = _get_is_fx_tracing()
    _set_is_fx_tracing(value)
    try:
        yield
    finally:
        _set_is_fx_tracing(before)


@compatibility(is_backward_compatible=True)
class ProxyableClassMeta(type):
    """Metaclass of classes whose construction is recorded when an argument is a proxy."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        instance = cls.__new__(cls)
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            cls.__init__(instance, *args, **kwargs)
            return instance
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)


@compatibility(is_backward_compatible=False)
class PHBase:
    """In `concrete_args`: here stays an input."""

    def __repr__(self):
        return "PH"


PH = PHBase()


@compatibility(is_backward_compatible=False)
class PHWithMeta(PHBase):
    """A `PH` whose attributes go to the node of the input."""

    def __init__(self, ph_key=None):
        super().__init__()
        self.ph_key = ph_key


def _transfer_attrs(fr, to):
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


def _patch_function(fn, nargs):
    """`fn` with its `*args`, `**kwargs` and keyword-only parameters made positional ones."""
    code = fn.__code__
    new_code = code.replace(
        co_flags=code.co_flags & ~HAS_VARSTUFF, co_argcount=nargs, co_posonlyargcount=0,
        co_kwonlyargcount=0,
    )
    # *args and **kwargs are locals already; the defaults do not matter, all arguments are given.
    return FunctionType(new_code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


@compatibility(is_backward_compatible=True)
class Tracer(TracerBase):
    """Traces modules and functions. Override `is_leaf_module`, `create_arg`, `call_module`, ... to
    change what is recorded.

    Args:
        autowrap_modules: modules whose functions are leaves.
        autowrap_functions: functions that are leaves.
        param_shapes_constant: shapes of parameters are numbers while tracing.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(),
                 param_shapes_constant=False):
        super().__init__()
        self._autowrap_function_ids = {
            id(value) for name, value in chain.from_iterable(
                m.__dict__.items() for m in autowrap_modules
            ) if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids.update(id(f) for f in autowrap_functions)
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls = {}
        self.node_name_to_scope = {}
        self._qualname_counter = collections.defaultdict(int)

    def get_fresh_qualname(self, prefix):
        """An attribute name of the root that is free: `prefix` and a number."""
        number = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._qualname_counter[prefix] = number + 1
        return f"{prefix}{number}"

    def create_arg(self, a):
        """See `TracerBase.create_arg`. Parameters and buffers become attributes of the root, other
        tensors new constants of it."""
        if isinstance(a, torch.nn.Parameter):
            for name, p in self.root.named_parameters():
                if a is p:
                    return self.create_node("get_attr", name, (), {})
            return self._constant(a, "_param_constant")
        if isinstance(a, torch.Tensor):
            for name, p in self.root.named_buffers():
                if a is p:
                    return self.create_node("get_attr", name, (), {})
            return self._constant(a, "_tensor_constant")
        if isinstance(a, torch.nn.Module):
            for name, m in self.root.named_modules():
                if a is m:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            args = tuple(self.create_arg(x) for x in a)
            return self.create_node("call_function", a.__class__, args, {})
        if type(a) in _proxyable_classes:
            return self._constant(a, f"_{a.__class__.__name__}_constant_")
        return super().create_arg(a)

    def _constant(self, value, prefix):
        """Keeps a value as an attribute of the root and reads it."""
        tensor_like = isinstance(value, _constant_attribute_types)
        name = self.tensor_attrs.get(value) if tensor_like else None
        if not name:
            name = self.get_fresh_qualname(prefix)
            if tensor_like:
                self.tensor_attrs[value] = name
            setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def is_leaf_module(self, m, module_qualified_name):
        """Is the module recorded as one call? By default those of torch.nn, but containers."""
        return (m.__module__.startswith("torch.nn") or m.__module__.startswith("torch.ao.nn")) and (
            not isinstance(m, torch.nn.Sequential)
        )

    def path_of_module(self, mod):
        """The path of a submodule in the root. NameError if it is not one."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, m in self.root.named_modules():
            if mod is m:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """Called instead of a module's ``__call__``. `forward` goes on into it."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            count = self.num_calls.get(path, 0)
            self.num_calls[path] = count + 1
            key = f"{path}@{count}" if count else path
            self.module_stack[key] = (path, type(m))
            if self.is_leaf_module(m, path):
                result = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            self.module_stack.popitem(last=True)
        return result

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """Called when a module's ``__getattr__`` has found `attr_val`: parameters (and buffers, if
        `proxy_buffer_attributes`) become proxies."""

        def lookup(collection, factory):
            for name, p in collection:
                if attr_val is not p:
                    continue
                if name not in parameter_proxy_cache:
                    kwargs = {}
                    if "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters:
                        kwargs["proxy_factory_fn"] = factory(name)
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {},
                                                                    **kwargs)
                return parameter_proxy_cache[name]
            return None

        if isinstance(attr_val, torch.nn.Parameter):
            found = lookup(self.root.named_parameters(), lambda name: (
                (lambda node: ParameterProxy(self, node, name, attr_val))
                if self.param_shapes_constant else None
            ))
            if found is not None:
                return found
        if self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            found = lookup(self.root.named_buffers(), lambda name: None)
            if found is not None:
                return found
        return attr_val

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """The function to run and its arguments: proxies of placeholders, or concrete values."""
        unwrapped = inspect.unwrap(root_fn)
        code = unwrapped.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        args, skip = ([self.root], 1) if is_module else ([], 0)
        signature = inspect.signature(unwrapped)
        if isinstance(concrete_args, tuple):
            if len(names[skip:total]) != len(concrete_args):
                raise RuntimeError(f"Tracing expected {len(names[skip:total])} arguments but got "
                                   f"{len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(names[skip:total], concrete_args))
        for name in names[skip:total]:
            args.append(self._proxy_placeholder(name, concrete_args, signature, unwrapped))
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            at = total
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self.create_proxy("placeholder", "*" + names[at], (), {}))
                at += 1
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self.create_proxy("placeholder", "**" + names[at], (), {}))
            root_fn = _patch_function(unwrapped, len(args))
        flat, in_spec = pytree.tree_flatten(tuple(args))
        if not all(child.is_leaf() for child in in_spec.children()):
            self.graph._codegen = _PyTreeCodeGen(
                _PyTreeInfo(names[:total], in_spec, None)
            )

            def flatten_fn(*args):
                tree_args = pytree.tree_unflatten(list(args), in_spec)
                out, out_spec = pytree.tree_flatten(root_fn(*tree_args))
                info = self.graph._codegen.pytree_info
                self.graph._codegen.pytree_info = info._replace(out_spec=out_spec)
                return out

            return flatten_fn, flat
        return root_fn, args

    def _proxy_placeholder(self, name, concrete_args, sig, fn_for_analysis):
        """The value of one argument: a proxy, or the concrete value with checks of it recorded."""
        if concrete_args is not None and name in concrete_args:
            count = 0

            def replace(x):
                nonlocal count
                count += 1
                return self._concrete(x, name, f"{name}_{count}", sig.parameters[name].default)

            return pytree.tree_map(replace, concrete_args[name])
        if name[0] == "*":
            default = ()
        else:
            value = sig.parameters[name].default
            default = () if value is inspect.Parameter.empty else (value,)
        return self.create_proxy("placeholder", name, default, {},
                                 type_expr=fn_for_analysis.__annotations__.get(name, None))

    def _concrete(self, x, name, target, default):
        default = () if default is inspect.Parameter.empty else (default,)
        out = self.create_proxy("placeholder", target, default, {})
        if isinstance(x, PHBase):
            if x is not PH:
                _transfer_attrs(fr=x, to=out.node)
            return out
        if type(x) in base_types and type(x) is not torch.Tensor:
            torch._assert(out == x, f"{name} has been specialized to have value {x} but got "
                                    "another value")
        elif x is None:
            self.create_proxy("call_function", _assert_is_none, (
                out, f"{name} has been specialized to have value None but got another value"
            ), {})
        else:
            warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to "
                          "specialized function. It is up to the user to make sure that your "
                          "inputs match the inputs you specialized the function with.",
                          stacklevel=2)
        return x

    def trace(self, root, concrete_args=None):
        """The graph of a module's ``forward`` or of a function.

        `concrete_args` fixes arguments by name: they are constants in the graph, which then checks
        that calls pass the same values. Trees may contain `PH` where inputs stay.
        """
        with _is_fx_tracing_context(True):
            return self._trace(root, concrete_args)

    def _trace(self, root, concrete_args):
        if isinstance(root, torch.nn.Module):
            fn = self._traced_function(root)
            self.root_module_name = root._get_name()
            self.submodule_paths = {m: name for name, m in root.named_modules()}
        else:
            self.root, fn = torch.nn.Module(), root
        tracer_cls = getattr(self, "__class__", None)
        self.graph = Graph(tracer_cls=tracer_cls)
        if hasattr(fn, "__code__"):
            code = fn.__code__
            self.graph._co_fields = {"co_name": code.co_name, "co_filename": code.co_filename,
                                     "co_firstlineno": code.co_firstlineno}
        self.tensor_attrs = {}
        self._collect_tensor_attrs(self.root, [])
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        fn_globals = fn.__globals__
        try:
            fn, args = self.create_args_for_root(fn, isinstance(root, torch.nn.Module),
                                                 concrete_args)
            with self._patched(fn_globals):
                result = fn(*args)
            self.create_node("output", "output", (self.create_arg(result),), {},
                             type_expr=getattr(fn, "__annotations__", {}).get("return", None))
        finally:
            self.submodule_paths = None
        return self.graph

    def _traced_function(self, root):
        name = self.traced_func_name
        if not hasattr(type(root), name):
            raise AssertionError(f"traced_func_name={name} doesn't exist in "
                                 f"{type(root).__name__}")
        self.root = root
        fn = getattr(type(root), name)
        return inspect.unwrap(fn) if not isinstance(fn, FunctionType) else fn

    def _collect_tensor_attrs(self, m, prefix):
        """Tensors that are plain attributes of modules keep their names."""
        for key, value in m.__dict__.items():
            if isinstance(value, _constant_attribute_types):
                self.tensor_attrs[value] = ".".join(prefix + [key])
        for key, child in m.named_children():
            self._collect_tensor_attrs(child, prefix + [key])

    @contextlib.contextmanager
    def _patched(self, fn_globals):
        """While tracing: modules' calls and attributes, and wrapped functions, are ours."""
        proxies = {}
        orig_call = torch.nn.Module.__call__
        orig_getattr = torch.nn.Module.__getattr__

        @functools.wraps(orig_getattr)
        def module_getattr(mod, attr):
            return self.getattr(attr, orig_getattr(mod, attr), proxies)

        @functools.wraps(orig_call)
        def module_call(mod, *args, **kwargs):
            def forward(*args, **kwargs):
                return orig_call(mod, *args, **kwargs)

            _autowrap_check(patcher, getattr(getattr(mod, "forward", mod), "__globals__", {}),
                            self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        with _new_patcher() as patcher:
            patcher.patch_method(torch.nn.Module, "__getattr__", module_getattr, deduplicate=False)
            patcher.patch_method(torch.nn.Module, "__call__", module_call, deduplicate=False)
            _patch_wrapped_functions(patcher)
            _autowrap_check(patcher, fn_globals, self._autowrap_function_ids)
            for module in self._autowrap_search:
                _autowrap_check(patcher, module.__dict__, self._autowrap_function_ids)
            yield

    def __deepcopy__(self, memo):
        new = Tracer.__new__(type(self))
        for key, value in self.__dict__.items():
            if key == "_autowrap_search":
                new.__dict__[key] = copy.copy(value)  # modules cannot be copied
            else:
                new.__dict__[key] = copy.deepcopy(value, memo)
        return new


@contextlib.contextmanager
def _new_patcher():
    global CURRENT_PATCHER
    before = CURRENT_PATCHER
    try:
        CURRENT_PATCHER = _Patcher()
        with CURRENT_PATCHER:
            yield CURRENT_PATCHER
    finally:
        CURRENT_PATCHER = before


@contextlib.contextmanager
def _maybe_revert_all_patches():
    """Inside the block nothing is replaced, though a tracer runs."""
    patches = CURRENT_PATCHER.revert_all_patches() if CURRENT_PATCHER is not None else None
    try:
        yield
    finally:
        if patches is not None:
            CURRENT_PATCHER.reapply_all_patches()


@compatibility(is_backward_compatible=True)
def symbolic_trace(root, concrete_args=None):
    """The `GraphModule` of a module's ``forward`` or of a function.

    Args:
        root: a Module or a function.
        concrete_args (dict): arguments that are fixed while tracing; see `Tracer.trace`.

    Raises:
        TraceError: where the course of the function depends on a traced value.
    """
    from torch.fx._lazy_graph_module import _make_graph_module

    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


wrap("_assert_is_none")
