"""Calls of added operators that a dispatch mode or the class of a tensor takes over.

Operators of the core meet modes in C++; those of `torch._operators` come here, below autograd.
"""

import sys

import torch
from torch import _C

__all__ = ["take_over"]


def _classes(args):
    """Tensors whose class has a ``__torch_dispatch__``, one of each class."""
    found = []
    for a in args:
        for t in a if isinstance(a, (list, tuple)) else (a,):
            kind = type(t)
            if kind is torch.Tensor or not isinstance(t, torch.Tensor):
                continue
            hook = getattr(kind, "__torch_dispatch__", None)
            disabled = getattr(_C, "_disabled_torch_dispatch_impl", None)
            if hook is not None and hook is not disabled and not any(type(f) is kind
                                                                     for f in found):
                found.append(t)
    return found


def _ask_mode(dispatch, mode, func, types, positional, keyword):
    """The mode is off inside its handler, like the modes that the core meets."""
    base = dispatch.TorchDispatchMode
    base.__exit__(mode, None, None, None)
    try:
        return mode.__torch_dispatch__(func, types, positional, keyword)
    finally:
        base.__enter__(mode)


def take_over(op, args):
    """What the innermost mode, or else a tensor's class, makes of a call; NotImplemented if there
    is neither."""
    dispatch = sys.modules.get("torch.utils._python_dispatch")
    mode = dispatch._get_current_dispatch_mode() if dispatch is not None else None
    who = _classes(args)
    if mode is None and not who:
        return NotImplemented
    from torch import _ops
    from torch.utils import _python_dispatch as dispatch

    func = _ops._find_overload(op.schema.name, op.schema.overload_name)
    positional, keyword = dispatch._split(func, args)
    types = tuple(type(t) for t in who)
    if mode is not None:
        result = _ask_mode(dispatch, mode, func, types, positional, keyword)
        if result is not NotImplemented:
            return result
    for t in who:
        result = type(t).__torch_dispatch__(func, types, positional, keyword)
        if result is not NotImplemented:
            return result
    return NotImplemented
