"""Modes that see every operator: `TorchDispatchMode`, and helpers for tensor subclasses."""

import contextlib
import threading

import torch
from torch import _C

__all__ = [
    "TorchDispatchMode", "BaseTorchDispatchMode", "is_traceable_wrapper_subclass",
    "transform_subclass", "return_and_correct_aliasing", "_disable_current_modes",
    "_get_current_dispatch_mode",
]

_thread = threading.local()   # .stack: modes of the thread, innermost last
_overloads = {}               # operator handle -> OpOverload


def _stack():
    try:
        return _thread.stack
    except AttributeError:
        _thread.stack = []
        return _thread.stack


# Arithmetic has one overload for tensors and numbers alike.
_ONE_OVERLOAD = frozenset(n + s for n in ("add", "sub", "mul", "div", "rsub") for s in ("", "_"))


def _takes(func, args):
    """Whether tensors and numbers are where the schema has them."""
    for declared, value in zip(func._schema.arguments, args):
        tensor = str(declared.type) == "Tensor"
        if isinstance(value, torch.Tensor) != tensor and isinstance(
                value, (torch.Tensor, int, float, complex)):
            return False
    return True


def _overload(handle, name, overload, args):
    if overload.startswith("Tensor") and name not in _ONE_OVERLOAD and any(
            isinstance(a, (int, float, complex)) for a in args[:2]):
        packet = getattr(torch.ops.aten, name)
        for other in ("Scalar", "Tensor_Scalar", "Scalar_Tensor"):
            if other in packet.overloads() and _takes(getattr(packet, other), args):
                return getattr(packet, other)
    found = _overloads.get(handle)
    if found is None:
        public = _C._public_schema(handle).partition("(")[0].partition("::")[2]
        name, _, overload = public.partition(".")
        packet = getattr(torch.ops.aten, name)
        found = _overloads[handle] = getattr(packet, overload or "default")
    return found


def _split(func, args):
    """Arguments in schema order as (args, kwargs), trailing defaults left out."""
    declared = func._schema.arguments
    n = sum(not a.kwarg_only for a in declared)
    kwargs = {
        a.name: v for a, v in zip(declared[n:], args[n:])
        if not (a.has_default_value() and _same(a.default_value, v))
    }
    positional = list(args[:n])
    while positional:
        a = declared[len(positional) - 1]
        if not a.has_default_value() or not _same(a.default_value, positional[-1]):
            break
        positional.pop()
    return tuple(positional), kwargs


def _same(default, value):
    if isinstance(value, torch.Tensor):
        return False
    try:
        return bool(default == value) and (default is None) == (value is None)
    except (RuntimeError, TypeError, ValueError):
        return False


def _dispatches(cls):
    hook = getattr(cls, "__torch_dispatch__", None)
    return hook is not None and hook is not _C._disabled_torch_dispatch_impl


def _overriding(args):
    """Tensors whose class takes part, one of each class, subclasses first."""
    found = []
    for a in args:
        for t in a if isinstance(a, (list, tuple)) else (a,):
            if (isinstance(t, torch.Tensor) and _dispatches(type(t))
                    and not any(type(t) is type(f) for f in found)):
                at = next((i for i, f in enumerate(found) if issubclass(type(t), type(f))),
                          len(found))
                found.insert(at, t)
    return found


def _call_wrappers(handle, name, overload, args):
    """An operator on tensors of classes with ``__torch_dispatch__``: each class is asked."""
    return _ask_classes(_overload(handle, name, overload, args), args)


def _ask_classes(func, args):
    positional, kwargs = _split(func, args)
    who = _overriding(args)
    types = tuple(type(t) for t in who)
    for t in who:
        result = type(t).__torch_dispatch__(func, types, positional, kwargs)
        if result is not NotImplemented:
            return result
    listed = "\n".join(f"  - tensor subclass {t}" for t in types)
    raise TypeError(f"Multiple dispatch failed for 'torch._ops.{func}'; all __torch_dispatch__ "
                    f"handlers returned NotImplemented:\n\n{listed}")


def _instead_of_kernel(func, args):
    """For operators that are not the core's: (whether a mode or a class took over, the result)."""
    if _stack():
        mode = _stack()[-1]
        TorchDispatchMode.__exit__(mode, None, None, None)
        try:
            with torch.no_grad():
                return True, mode._answer(func, args)
        finally:
            TorchDispatchMode.__enter__(mode)
    if _overriding(args):
        with torch.no_grad():
            return True, _ask_classes(func, args)
    return False, None


class TorchDispatchMode:
    """Takes over every operator inside a ``with`` block, below autograd's recording.

    Subclasses define ``__torch_dispatch__(self, func, types, args=(), kwargs=None)``; inside it the
    mode is off, and nothing is recorded.
    """

    def __init__(self, _dispatch_key=None):
        pass

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def _answer(self, func, args):
        positional, kwargs = _split(func, args)
        types = tuple(type(t) for t in _overriding(args))
        result = self.__torch_dispatch__(func, types, positional, kwargs)
        return func(*positional, **kwargs) if result is NotImplemented else result

    def _handle(self, handle, name, overload, args):
        stack = _stack()
        saved = stack.pop()
        try:
            return self._answer(_overload(handle, name, overload, args), args)
        finally:
            stack.append(saved)

    def __enter__(self):
        _stack().append(self)
        _C._push_mode(self._handle, True, True)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _C._pop_mode_below()
        _stack().pop()

    @classmethod
    def push(cls, *args, **kwargs):
        """The mode, to be entered."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode():
    return _stack()[-1] if _stack() else None


def _get_current_dispatch_mode_stack():
    return list(_stack())


def is_in_torch_dispatch_mode(include_infra_modes=True):
    return bool(_stack())


@contextlib.contextmanager
def _disable_current_modes():
    """No dispatch mode inside the block."""
    held = []
    while _stack():
        held.append(_stack()[-1])
        held[-1].__exit__(None, None, None)
    try:
        yield held
    finally:
        for mode in reversed(held):
            mode.__enter__()


# ---------------------------------------------------------------- subclasses that hold tensors


def is_traceable_wrapper_subclass(t):
    """A tensor subclass that can be taken apart: ``__tensor_flatten__`` and
    ``__tensor_unflatten__``."""
    return (
        isinstance(t, torch.Tensor) and type(t) is not torch.Tensor
        and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
    )


def is_traceable_wrapper_subclass_type(t):
    return (
        isinstance(t, type) and issubclass(t, torch.Tensor) and t is not torch.Tensor
        and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """The subclass made anew from ``callback(name, inner)`` of its inner tensors."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {n: callback(n, getattr(t, n)) for n in names}
    return type(t).__tensor_unflatten__(inner, context, outer_size, outer_stride)


def return_and_correct_aliasing(func, args, kwargs, out):
    """`out`, with the arguments themselves where the schema says that they are returned."""
    schema = func._schema
    written = {}
    for i, a in enumerate(schema.arguments):
        if a.alias_info is not None and a.alias_info.is_write:
            value = args[i] if i < len(args) else (kwargs or {}).get(a.name)
            written[str(a.alias_info)] = value
    results = []
    outs = out if isinstance(out, (list, tuple)) else [out]
    for r, o in zip(schema.returns, outs):
        alias = None if r.alias_info is None else written.get(str(r.alias_info))
        results.append(o if alias is None else alias)
    if not isinstance(out, (list, tuple)):
        return results[0] if results else out
    return type(out)(results)
