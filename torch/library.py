"""Operators of one's own: `torch.library.custom_op`, `Library` and the functions around them.

An operator has a schema and implementations under dispatch keys; it appears in `torch.ops` and can
be given a gradient, a fake implementation for meta tensors and rules for autocast, vmap and tensor
subclasses. `torch._operators` keeps them and makes the calls.
"""

import contextlib
import sys
import weakref

import torch
from torch import _dispatch, _operators, _ops
from torch._custom_op_def import CustomOpDef, custom_op
from torch._infer_schema import infer_schema
from torch._opcheck import opcheck

__all__ = [
    "Library", "impl", "define", "fallthrough_kernel", "impl_abstract", "register_autocast",
    "register_fake", "register_torch_dispatch", "register_vmap", "get_ctx", "get_kernel",
    "custom_op", "triton_op", "wrap_triton", "infer_schema", "register_kernel",
    "register_autograd", "opcheck",
]

fallthrough_kernel = _operators.fallthrough
_owners = {}  # namespace -> where its library of kind DEF was made


def _name_of(op):
    if isinstance(op, (_ops.OpOverload, CustomOpDef)):
        return op._qualname
    if isinstance(op, _ops.OpOverloadPacket):
        return op._qualified_op_name
    if not isinstance(op, str):
        raise ValueError(f"expected an operator or its name, got {type(op)}")
    return op[: -len(".default")] if op.endswith(".default") else op


def _lookup(op):
    return _operators.lookup(_name_of(op))


def _split_name(qualname):
    namespace, _, name = qualname.partition("::")
    if not name:
        raise ValueError(f"Expected {qualname} to be of the form \"namespace::name\"")
    return namespace, name


def _key_of(device_type):
    """The dispatch key of a device type; keys are taken as they are."""
    if device_type is None or device_type == "default":
        return "CompositeExplicitAutograd"
    try:
        return _dispatch._dispatch_key_for_device(device_type)
    except RuntimeError:
        return _dispatch._key(device_type).name


def _caller(depth):
    frame = sys._getframe(depth + 1)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _take_back(namespace, owner, defined, implemented):
    """What happens when a library goes: its operators and implementations go with it."""
    for name, key, fn in implemented:
        op = _operators._registry.get(name)
        if op is not None:
            op.drop(key, fn)
    for name in defined:
        _operators.remove(name)
    defined.clear()
    implemented.clear()
    if owner:
        _owners.pop(namespace, None)


class Library:
    """Defines operators in a namespace (kind ``"DEF"``, one for each namespace, or
    ``"FRAGMENT"``), or implements those of any (``"IMPL"``). What it registered disappears with
    it."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in ("prim", "prims") and kind == "DEF":
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with "
                             "another name.")
        where = _caller(1)
        if kind == "DEF":
            if ns in _owners:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; "
                    "please put all of your definitions in a single TORCH_LIBRARY block. Previous "
                    f"registration of TORCH_LIBRARY was registered at {_owners[ns]}; latest "
                    f"registration was registered at {where}")
            _owners[ns] = where
        if dispatch_key:
            _dispatch._key(dispatch_key)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined, self._implemented = [], []
        self._finish = weakref.finalize(self, _take_back, ns, kind == "DEF", self._defined,
                                        self._implemented)
        self._finish.atexit = False

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Declares ``"name(Tensor x) -> Tensor"``; returns the name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        head = schema.partition("(")[0]
        if self.kind == "IMPL":
            raise RuntimeError(f'def("{head}"): Cannot define an operator inside of a '
                               "TORCH_LIBRARY_IMPL block.")
        if "(" not in schema:
            raise RuntimeError("Tried to parse a function schema but only the operator name was "
                               "given")
        if "::" in head:
            namespace = head.partition("::")[0]
            if namespace != self.ns:
                raise RuntimeError(
                    f"Explicitly provided namespace ({namespace}) in schema string does not match "
                    f"namespace of enclosing TORCH_LIBRARY block ({self.ns}).")
        else:
            schema = f"{self.ns}::{schema}"
        tags = (tags,) if isinstance(tags, torch.Tag) else tags
        op = _operators.define(schema, tags)
        self._defined.append(op.name)
        return op.name.partition("::")[2]

    def _resolve_op_name(self, op_name):
        name = _name_of(op_name)
        if "::" not in name:
            return f"{self.ns}::{name}"
        if name.partition("::")[0] != self.ns:
            raise RuntimeError(f"Explicitly provided namespace of {name} does not match the "
                               f"namespace {self.ns} of the library")
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Implements an operator for a dispatch key such as ``"CPU"``.

        Without a key the implementation is composite: differentiable by the operators it calls.
        ``with_keyset`` gives it the `DispatchKeySet` of the call first.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        name = self._resolve_op_name(op_name)
        key = _dispatch._key(dispatch_key or self.dispatch_key or
                             "CompositeImplicitAutograd").name
        if _ops._core_handle(name) is not None:
            raise NotImplementedError(f"torch.library: {name} is an operator of the core; "
                                      "replacing its implementations is not implemented")
        op = _operators.find(name)
        if op is None and key == "Meta":
            raise RuntimeError(f"operator {name} does not exist")
        if not allow_override and op is not None and key in op.kernels:
            raise RuntimeError(f"This is not allowed since there's already a kernel registered "
                               f"from python overriding {name}'s behavior for {key} dispatch key "
                               f"and {self.ns} namespace.")
        if with_keyset:
            fn = _with_keyset(fn, key)
        _operators.implement(name, key, fn)
        self._implemented.append((name, key, fn))

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        raise NotImplementedError("torch.library.Library.fallback is not implemented")

    def _register_fake(self, op_name, fn, _stacklevel=1, *, allow_override=True):
        name = self._resolve_op_name(op_name)
        _operators.lookup(name).put("Meta", fn)
        self._implemented.append((name, "Meta", fn))

    def _register_torch_dispatch_rule(self, op_name, torch_dispatch_class, fn):
        _operators.lookup(self._resolve_op_name(op_name)).torch_dispatch[
            torch_dispatch_class] = fn

    def _destroy(self):
        self._finish()


def _with_keyset(fn, key):
    def call(*args, **kwargs):
        keys = _dispatch.DispatchKeySet(key)
        for t in _operators.tensors_in(args):
            keys = keys | _dispatch._dispatch_keys(t)
        return fn(keys, *args, **kwargs)

    return call


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    lib = Library(*args, **kwargs)
    try:
        yield lib
    finally:
        lib._destroy()


# ---------------------------------------------------------------- functions

_made = []  # libraries that live as long as the process


def _library_for(namespace, lib):
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _made.append(lib)
    return lib


def define(qualname, schema=None, *, lib=None, tags=()):
    """Declares an operator: ``define("ns::name", "(Tensor x) -> Tensor")``.

    ``define(library, schema)`` is a decorator that implements the operator too.
    """
    if isinstance(qualname, Library):
        return _define_decorator(qualname, schema)
    if not isinstance(qualname, str):
        raise ValueError("define(qualname, schema): expected qualname to be instance of str, got "
                         f"{type(qualname)}")
    namespace, name = _split_name(qualname)
    _library_for(namespace, lib).define(name + schema, tags=tags)


def _define_decorator(lib, schema, alias_analysis=""):
    def wrap(f):
        lib.impl(lib.define(schema, alias_analysis), f)
        return f

    return wrap


def impl(qualname, types, func=None, *, lib=None):
    """Implements an operator for device types (``"cpu"``, ``"default"`` for all) or dispatch
    keys; also a decorator. ``impl(library, name, key)`` is one too."""
    if isinstance(qualname, Library):
        def decorate(f):
            qualname.impl(types, f, func or "")
            return f

        return decorate
    name = _name_of(qualname)

    def register(f):
        library = _library_for(_split_name(name)[0], lib)
        for t in [types] if isinstance(types, str) else types:
            library.impl(name, f, _key_of(t))
        return f

    return register if func is None else (register(func), None)[1]


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Implements an operator for device types; also a decorator."""
    found = _lookup(op)
    if found.custom is not None:
        return found.custom.register_kernel(device_types, func)
    types = "default" if device_types is None else device_types
    if func is None:
        return lambda f: (impl(found.name, types, f, lib=lib), f)[1]
    return impl(found.name, types, func, lib=lib)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=True):
    """Says what an operator returns for tensors without data; also a decorator."""
    def register(f):
        name = _name_of(op)
        _operators.lookup(name)
        _library_for(_split_name(name)[0], lib)._register_fake(name, f)
        return f

    return register if func is None else register(func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """The former name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Gives an operator a gradient: ``backward(ctx, *grads)`` and
    ``setup_context(ctx, inputs, output)`` (with ``keyword_only_inputs`` if there are any)."""
    found = _lookup(op)
    if found.schema.is_mutable:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {op} "
                           f"with schema {found.schema}. Please create a functional operator and "
                           "register an autograd formula for that.")
    found.backward, found.setup_context = backward, setup_context


def register_vmap(op, func=None, /, *, lib=None):
    """Gives an operator a rule for `torch.vmap`: ``func(info, in_dims, *args)`` returns the
    result and its batch dimensions; also a decorator."""
    def register(f):
        _lookup(op).vmap = f
        return f

    return register if func is None else register(func)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Casts the floating point inputs of an operator to a dtype inside autocast."""
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    _lookup(op).autocast[device_type] = cast_inputs


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """What an operator does for tensors of a class: ``func(cls, op, types, args, kwargs)``; also
    a decorator."""
    def register(f):
        _lookup(op).torch_dispatch[torch_dispatch_class] = f
        return f

    return register if func is None else register(func)


class _Context:
    """What fake implementations are given to speak of sizes that depend on data."""

    def new_dynamic_size(self, *, min=0, max=None):
        raise NotImplementedError("torch.library: sizes that depend on data are not implemented")

    create_unbacked_symint = new_dynamic_size


def get_ctx():
    """The context of the running fake implementation."""
    return _Context()


class _Kernel:
    """An implementation on its own: called with a `DispatchKeySet` and the arguments."""

    def __init__(self, op, fn):
        self._op, self._fn = op, fn

    def call_boxed(self, keyset, *args, **kwargs):
        return self._op._apply(self._fn, self._op.schema.bind(args, kwargs))

    __call__ = call_boxed


def get_kernel(op, dispatch_key):
    """The implementation that a call at a dispatch key runs."""
    found = _lookup(op)
    fn = found.find(_dispatch._key(dispatch_key).name)
    if fn is None:
        raise RuntimeError(f"No kernel for {found.name} at {dispatch_key}")
    return _Kernel(found, fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    raise NotImplementedError("torch.library.triton_op: Triton is not in this build")


def wrap_triton(triton_kernel, /):
    raise NotImplementedError("torch.library.wrap_triton: Triton is not in this build")
