"""Operators of one's own: `torch.library.custom_op`, `Library` and the functions around them.

An operator has a schema and one implementation per device (or one for all); it appears in
`torch.ops` and can be given a gradient, a fake implementation for meta tensors and a rule for
`vmap`.
"""

import contextlib
import functools
import inspect
import typing

import torch
from torch import _ops
from torch._op_schema import parse

__all__ = [
    "Library", "impl", "define", "fallthrough_kernel", "impl_abstract", "register_autocast",
    "register_fake", "register_torch_dispatch", "register_vmap", "get_ctx", "get_kernel",
    "custom_op", "triton_op", "wrap_triton", "infer_schema", "register_kernel",
    "register_autograd", "opcheck",
]

_operators = {}  # qualified name with overload -> _Operator


def fallthrough_kernel():
    """Stands for "nothing here, ask the next"."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class _Operator:
    """Everything that is known of one operator."""

    def __init__(self, schema_text):
        self.schema = parse(schema_text)
        self.kernels = {}        # device type, or None for all
        self.composite = None
        self.fake = None
        self.backward = self.setup_context = None
        self.vmap = None
        self.autocast = {}
        self._node = None

    @property
    def name(self):
        s = self.schema
        return s.name + ("." + s.overload_name if s.overload_name else "")

    # ---- choosing an implementation
    def _device(self, args):
        for a in _tensors(args):
            return a.device.type
        for argument, value in zip(self.schema.arguments, args):
            if argument.name == "device" and value is not None:
                return torch.device(value).type
        return "cpu"

    def _kernel(self, args):
        device = self._device(args)
        kernel = self.kernels.get(device)
        if kernel is None and device == "meta" and self.fake is not None:
            return self.fake
        kernel = kernel or self.kernels.get(None) or self.composite
        if kernel is None or kernel is fallthrough_kernel:
            raise NotImplementedError(
                f"Could not run '{self.name}' with arguments from the '{device.upper()}' backend: "
                "no implementation is registered for it."
            )
        return kernel

    def _split(self, args):
        """Arguments in schema order as positional and keyword-only."""
        n = sum(not a.kwarg_only for a in self.schema.arguments)
        names = [a.name for a in self.schema.arguments[n:]]
        return args[:n], dict(zip(names, args[n:]))

    def run(self, args):
        positional, keyword = self._split(args)
        return self._kernel(args)(*positional, **keyword)

    # ---- the call
    def call(self, args):
        wants = torch.is_grad_enabled() and any(t.requires_grad for t in _tensors(args))
        if wants and self.backward is not None:
            return self._differentiable(args)
        if self.composite is not None and self._device(args) not in self.kernels:
            return self.run(args)
        if not wants:
            return self._marked(args, self.run(args))
        return self._opaque(args)

    def _marked(self, args, result):
        return result

    def _opaque(self, args):
        """No gradient was registered: the results say so when backward reaches them."""
        with torch.no_grad():
            result = self.run(args)
        name = f"{self.schema.name.replace('::', '.')}.{self.schema.overload_name or 'default'}"

        class _NotDifferentiable(torch.autograd.Function):
            @staticmethod
            def forward(ctx, value, *inputs):
                return value.view_as(value)

            @staticmethod
            def backward(ctx, *grads):
                raise RuntimeError(
                    f"Trying to backward through {name} but no autograd formula was registered. "
                    "Please use register_autograd to add one."
                )

        inputs = [t for t in _tensors(args) if t.requires_grad]
        if self.schema.is_mutable:
            return result

        def mark(value):
            if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
                return _NotDifferentiable.apply(value, *inputs)
            if isinstance(value, (tuple, list)):
                return type(value)(mark(v) for v in value)
            return value

        return mark(result)

    def _differentiable(self, args):
        if self._node is None:
            self._node = _make_node(self)
        flat, spec = _flatten(args)
        result = self._node.apply(spec, *flat)
        return list(result) if self._returns_list() and isinstance(result, tuple) else result

    def _returns_list(self):
        r = self.schema.returns
        return len(r) == 1 and r[0].type.endswith("]")


def _tensors(args):
    for a in args:
        if isinstance(a, torch.Tensor):
            yield a
        elif isinstance(a, (list, tuple)):
            for b in a:
                if isinstance(b, torch.Tensor):
                    yield b


def _flatten(args):
    """Lists of tensors spread out, as a custom Function wants its inputs."""
    flat, spec = [], []
    for a in args:
        if isinstance(a, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in a):
            spec.append(len(a))
            flat.extend(a)
        else:
            spec.append(None)
            flat.append(a)
    return flat, tuple(spec)


def _unflatten(flat, spec):
    out, at = [], 0
    for n in spec:
        if n is None:
            out.append(flat[at])
            at += 1
        else:
            out.append(list(flat[at : at + n]))
            at += n
    return out


def _make_node(op):
    class CustomOp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, spec, *flat):
            args = _unflatten(flat, spec)
            ctx._spec = spec
            result = op.run(args)
            if op.setup_context is not None:
                positional, keyword = op._split(args)
                extra = {"keyword_only_inputs": keyword} if keyword else {}
                op.setup_context(ctx=ctx, inputs=tuple(positional), output=result, **extra)
            return tuple(result) if isinstance(result, list) else result

        @staticmethod
        def backward(ctx, *grads):
            if op._returns_list():
                grads = (list(grads),)
            result = op.backward(ctx, *grads)
            if not isinstance(result, tuple):
                result = (result,)
            result = result + (None,) * (len(ctx._spec) - len(result))
            out = [None]
            for n, g in zip(ctx._spec, result):
                if n is None:
                    out.append(g)
                else:
                    out.extend(g if g is not None else [None] * n)
            return tuple(out)

    CustomOp.__name__ = CustomOp.__qualname__ = op.schema.name.replace("::", "_")
    return CustomOp


def _define(schema_text):
    op = _Operator(schema_text)
    if op.name in _operators:
        raise RuntimeError(f"Tried to register an operator ({schema_text}) with the same name and "
                           "overload name multiple times.")
    _operators[op.name] = op
    namespace, _, name = op.schema.name.partition("::")
    _ops._register_python(namespace, name, op.schema.overload_name, op.call, schema_text)
    return op


def _lookup(op):
    if isinstance(op, _ops.OpOverload):
        name = op._qualname
    elif isinstance(op, CustomOpDef):
        name = op._qualname
    else:
        name = str(op)
    name = name.removesuffix(".default") if hasattr(name, "removesuffix") else name
    found = _operators.get(name)
    if found is None:
        raise RuntimeError(f"operator {name} does not exist")
    return found


def _device_list(device_types):
    if device_types is None or device_types == "default":
        return [None]
    return [device_types] if isinstance(device_types, str) else list(device_types)


# ---------------------------------------------------------------- Library

_KEYS = {
    "": None, "CPU": "cpu", "CUDA": "cuda", "Meta": "meta", "MPS": "mps", "XPU": "xpu",
    "CompositeExplicitAutograd": None, "CompositeImplicitAutograd": "composite",
    "Autograd": "autograd", "AutogradCPU": "autograd", "AutogradCUDA": "autograd",
}


class Library:
    """Defines operators in a namespace (kind ``"DEF"``), or implements those of another
    (``"IMPL"``, ``"FRAGMENT"``)."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in ("prim", "prims") and kind == "DEF":
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with "
                             "another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined = set()

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Declares ``"name(Tensor x) -> Tensor"``; returns the name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        op = _define(f"{self.ns}::{schema}")
        self._defined.add(op.name)
        return op.name.split("::")[1]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Implements a declared operator for a dispatch key such as ``"CPU"``."""
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        name = op_name._qualname if isinstance(op_name, _ops.OpOverload) else str(op_name)
        if "::" not in name:
            name = f"{self.ns}::{name}"
        key = dispatch_key or self.dispatch_key
        place = _KEYS.get(key, key.lower())
        op = _lookup(name)
        if place == "composite":
            op.composite = fn
        elif place == "autograd":
            op.kernels.setdefault("autograd", fn)
            _autograd_kernel(op, fn)
        else:
            op.kernels[place] = fn

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        raise NotImplementedError("torch.library.Library.fallback is not implemented")

    def _register_fake(self, op_name, fn, _stacklevel=1, *, allow_override=False):
        name = op_name if "::" in op_name else f"{self.ns}::{op_name}"
        _lookup(name).fake = fn

    def _destroy(self):
        for name in self._defined:
            op = _operators.pop(name, None)
            if op is not None:
                namespace, _, base = op.schema.name.partition("::")
                _ops._python_ops.get(namespace, {}).get(base, {}).pop(
                    op.schema.overload_name, None)
                module = _ops.ops.__dict__.get(namespace)
                if module is not None:
                    module.__dict__.pop(base, None)
        self._defined.clear()


def _autograd_kernel(op, fn):
    """An implementation at the autograd key sees every call and records what it wants."""
    inner = op.call

    def call(args):
        if op.__dict__.get("_inside"):
            return inner(args)
        op._inside = True
        try:
            positional, keyword = op._split(args)
            return fn(*positional, **keyword)
        finally:
            op._inside = False

    namespace, _, name = op.schema.name.partition("::")
    op.call = call
    _ops._register_python(namespace, name, op.schema.overload_name, call, op.schema._text)


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    lib = Library(*args, **kwargs)
    try:
        yield lib
    finally:
        lib._destroy()


# ---------------------------------------------------------------- functions

_made = []  # libraries that live as long as the process


def define(qualname, schema=None, *, lib=None, tags=()):
    """Declares an operator: ``define("ns::name", "(Tensor x) -> Tensor")``.

    Without a schema it is a decorator-like call of ``define(Library, schema)``.
    """
    if isinstance(qualname, Library):
        return _define_decorator(qualname, schema)
    if not isinstance(qualname, str):
        raise ValueError("define(qualname, schema): expected qualname to be instance of str, got "
                         f"{type(qualname)}")
    namespace, _, name = qualname.partition("::")
    if not name:
        raise ValueError(f"expected an operator name of the form 'namespace::name', got {qualname}")
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _made.append(lib)
    lib.define(name + schema)


def _define_decorator(lib, schema, alias_analysis=""):
    def wrap(f):
        name = lib.define(schema, alias_analysis)
        lib.impl(name, f)
        return f

    return wrap


def impl(qualname, types, func=None, *, lib=None):
    """Implements a declared operator for device types; also a decorator."""
    if isinstance(qualname, Library):
        library, name = qualname, types

        def decorate_library(f, key=func or ""):
            library.impl(name, f, key)
            return f

        return decorate_library

    def register(f):
        op = _lookup(qualname)
        for t in [types] if isinstance(types, str) else types:
            if t in ("default", "CompositeExplicitAutograd"):
                op.kernels[None] = f
            elif t == "CompositeImplicitAutograd":
                op.composite = f
            else:
                op.kernels[t.lower()] = f
        return f

    return register if func is None else (register(func), None)[1]


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Implements an operator for device types; also a decorator."""
    def register(f):
        found = _lookup(op)
        for d in _device_list(device_types):
            found.kernels[d] = f
        return f

    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Says what an operator returns for tensors without data; also a decorator."""
    def register(f):
        _lookup(op).fake = f
        return f

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Gives an operator a gradient: ``backward(ctx, *grads)`` and
    ``setup_context(ctx, inputs, output)``."""
    found = _lookup(op)
    if found.schema.is_mutable:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {op} "
                           f"with schema {found.schema}. Please create a functional operator and "
                           "register an autograd formula for that.")
    found.backward, found.setup_context = backward, setup_context


def register_vmap(op, func=None, /, *, lib=None):
    """Gives an operator a rule for `torch.vmap`; also a decorator."""
    def register(f):
        _lookup(op).vmap = f
        return f

    return register if func is None else register(func)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Casts the inputs of an operator inside autocast."""
    _lookup(op).autocast[device_type] = cast_inputs


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    raise NotImplementedError("torch.library.register_torch_dispatch is not implemented")


class _Context:
    """What fake implementations are given to speak of sizes that depend on data."""

    def new_dynamic_size(self, *, min=0, max=None):
        raise NotImplementedError("sizes that depend on data are not implemented")


def get_ctx():
    """The context of the running fake implementation."""
    return _Context()


def get_kernel(op, dispatch_key):
    """The implementation that a key would run, callable with a first argument that is ignored."""
    found = _lookup(op)
    kernel = found.kernels.get(_KEYS.get(str(dispatch_key), str(dispatch_key).lower()))
    if kernel is None:
        raise RuntimeError(f"No kernel for {found.name} at {dispatch_key}")
    return kernel


# ---------------------------------------------------------------- schemas from annotations


def _type_name(annotation, name):
    simple = {
        torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
        torch.dtype: "ScalarType", torch.device: "Device", complex: "Scalar",
    }
    if annotation in simple:
        return simple[annotation]
    if annotation == typing.Union[int, float, bool]:
        return "Scalar"
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    import types

    unions = (typing.Union, getattr(types, "UnionType", typing.Union))
    if origin in unions and type(None) in args:
        rest = [a for a in args if a is not type(None)]
        inner = rest[0] if len(rest) == 1 else typing.Union[tuple(rest)]
        return _type_name(inner, name) + "?"
    if origin in (list, typing.Sequence) or getattr(origin, "__name__", "") == "Sequence":
        return _type_name(args[0], name) + "[]"
    raise ValueError(
        f"infer_schema(func): Parameter {name} has unsupported type {annotation}."
    )


def _default_text(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, torch.device):
        return f'"{value}"'
    if isinstance(value, torch.dtype):
        return str(value).replace("torch.", "")
    if isinstance(value, float) and value == int(value):
        return f"{int(value)}."
    return str(value)


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema that a function's annotations describe. ValueError where they do not suffice."""
    hints = typing.get_type_hints(prototype_function)
    signature = inspect.signature(prototype_function)
    unknown_mutates = mutates_args == "unknown"
    parts, star, mutable = [], False, 0
    for name, p in signature.parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise ValueError("infer_schema(func): We do not support *args or **kwargs.")
        if name not in hints:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation.")
        if p.kind == p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        kind = _type_name(hints[name], name)
        if kind.startswith("Tensor") and (unknown_mutates or name in mutates_args):
            kind = kind.replace("Tensor", f"Tensor(a{mutable}!)", 1)
            mutable += 1
        elif not unknown_mutates and name in mutates_args:
            raise ValueError(f"infer_schema(func): Parameter {name} is in mutable_args but only "
                             "Tensors or collections of Tensors can be mutated")
        text = f"{kind} {name}"
        if p.default is not inspect.Parameter.empty:
            text += "=" + _default_text(p.default)
        parts.append(text)
    if not unknown_mutates:
        for name in mutates_args:
            if name not in signature.parameters:
                raise ValueError(f"infer_schema(func): {name} in mutates_args is no parameter")
    result = hints.get("return", type(None))
    return f"{op_name or ''}({', '.join(parts)}) -> {_return_text(result)}"


def _return_text(annotation):
    if annotation in (None, type(None)):
        return "()"
    if typing.get_origin(annotation) is tuple:
        inner = [_type_name(a, "return") for a in typing.get_args(annotation)]
        return "(" + ", ".join(inner) + ")"
    return _type_name(annotation, "return")


# ---------------------------------------------------------------- custom_op


class CustomOpDef:
    """What `custom_op` returns: the operator, and decorators that add to it."""

    def __init__(self, namespace, name, schema, fn, device_types):
        self._namespace, self._name, self._schema = namespace, name, schema
        self._qualname = f"{namespace}::{name}"
        self._operator = _define(f"{namespace}::{name}{schema}")
        self._init_fn = fn
        for d in _device_list(device_types):
            self._operator.kernels[d] = fn
        functools.update_wrapper(self, fn)

    @property
    def _opoverload(self):
        return getattr(getattr(torch.ops, self._namespace), self._name).default

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        return register_kernel(self._qualname, device_types, fn)

    def register_fake(self, fn, /):
        return register_fake(self._qualname, fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        register_autograd(self._qualname, backward, setup_context=setup_context)

    def register_vmap(self, func=None):
        return register_vmap(self._qualname, func)

    def register_autocast(self, device_type, cast_inputs):
        register_autocast(self._qualname, device_type, cast_inputs)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        """Leaves the implementation of a device type out inside the block."""
        kernel = self._operator.kernels.get(device_type)
        if not enabled:
            self._operator.kernels.pop(device_type, None)
            self._operator.kernels.setdefault(None, self._init_fn)
        try:
            yield
        finally:
            if kernel is not None:
                self._operator.kernels[device_type] = kernel


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes a function an operator ``"namespace::name"``; a decorator.

    Args:
        mutates_args: names of the arguments that it writes to.
        device_types: device types that it is for; None for all.
        schema: its schema; made from the annotations if left out.
    """
    def decorate(f):
        text = infer_schema(f, mutates_args=mutates_args) if schema is None else schema
        namespace, _, op_name = name.partition("::")
        if not op_name:
            raise ValueError(f"expected an operator name of the form 'namespace::name', got {name}")
        return CustomOpDef(namespace, op_name, text, f, device_types)

    return decorate if fn is None else decorate(fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """`custom_op`; Triton itself is not in this build."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    raise NotImplementedError("torch.library.wrap_triton: Triton is not in this build")


def opcheck(op, args, kwargs=None, *, test_utils=None, raise_exception=True, atol=None,
            rtol=None):
    """Calls an operator and checks that the arguments it does not declare as mutated stay."""
    found = _lookup(op)
    before = [t.detach().clone() for t in _tensors(args)]
    bound = found.schema.bind(args, kwargs or {})
    found.call(bound)
    mutated = {a.name for a in found.schema.arguments if a.alias_info and a.alias_info.is_write}
    names = [a.name for a, v in zip(found.schema.arguments, bound) if isinstance(v, torch.Tensor)]
    for name, t, old in zip(names, _tensors(args), before):
        if name not in mutated and not torch.equal(t, old):
            raise RuntimeError(f"argument {name} of {found.name} was mutated")
    return {"test_schema": "SUCCESS"}
