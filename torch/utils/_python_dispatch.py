"""Modes that see every operator: `TorchDispatchMode`, and helpers for tensor subclasses."""

import contextlib

import torch
from torch import _C

__all__ = [
    "TorchDispatchMode", "BaseTorchDispatchMode", "is_traceable_wrapper_subclass",
    "transform_subclass", "return_and_correct_aliasing", "_disable_current_modes",
    "_get_current_dispatch_mode",
]

_stack = []       # modes of this thread's stack, innermost last
_overloads = {}   # operator handle -> OpOverload


def _overload(handle, name, overload):
    found = _overloads.get(handle)
    if found is None:
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


class TorchDispatchMode:
    """Takes over every operator inside a ``with`` block, below autograd's recording.

    Subclasses define ``__torch_dispatch__(self, func, types, args=(), kwargs=None)``; inside it the
    mode is off.
    """

    def __init__(self, _dispatch_key=None):
        pass

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def _handle(self, handle, name, overload, args):
        func = _overload(handle, name, overload)
        positional, kwargs = _split(func, args)
        types = tuple({type(a) for a in args if isinstance(a, torch.Tensor)} - {torch.Tensor})
        saved = _stack.pop()
        try:
            return self.__torch_dispatch__(func, types, positional, kwargs)
        finally:
            _stack.append(saved)

    def __enter__(self):
        _stack.append(self)
        _C._push_mode(self._handle)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _C._pop_mode()
        _stack.pop()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode():
    return _stack[-1] if _stack else None


def _get_current_dispatch_mode_stack():
    return list(_stack)


def is_in_torch_dispatch_mode(include_infra_modes=True):
    return bool(_stack)


@contextlib.contextmanager
def _disable_current_modes():
    """No dispatch mode inside the block."""
    held = []
    while _stack:
        held.append(_stack[-1])
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
