"""Marks for the compiler on functions and tensors. They are kept and change nothing else."""

from contextlib import contextmanager

import torch
from torch.compiler import (  # noqa: F401
    allow_in_graph,
    assume_constant_result,
    disable,
    nonstrict_trace,
    set_stance,
    substitute_in_graph,
)


def graph_break(msg=""):
    """Compiled code would go back to Python here."""


skip_frame = step_unsupported = graph_break


def _each(fn):
    if isinstance(fn, (list, tuple)):
        return [_each(f) for f in fn]
    if not callable(fn):
        raise AssertionError("disallow_in_graph expects a callable")
    return fn


def disallow_in_graph(fn):
    """Calls of `fn` would break the graph."""
    return _each(fn)


def forbid_in_graph(fn):
    """Calls of `fn` would be errors while compiling."""
    fn = _each(fn)
    for f in fn if isinstance(fn, list) else [fn]:
        f._dynamo_forbidden = True
    return fn


def run(fn=None):
    """Only code compiled before would be used in `fn`."""
    return fn


def allow_c_slot(fn):
    return fn


def is_dynamo_disable_recursive(method):
    """True or False for a method given to `disable`, None for others."""
    return getattr(method, "_torchdynamo_disable_recursive", None)


@contextmanager
def _nothing(*args, **kwargs):
    yield


disable_nested_graph_breaks = dont_skip_tracing = error_on_graph_break = _nothing
override_cudagraphs = _nothing


def patch_dynamo_config(arg1=None, arg2=None, **kwargs):
    """``torch._dynamo.config.patch``."""
    from torch._dynamo import config

    return config.patch(arg1, arg2, **kwargs)


def _mark(t, index, attribute):
    """Notes dimensions in a set that is an attribute of the tensor."""
    if isinstance(index, (list, tuple)):
        for i in index:
            _mark(t, i, attribute)
        return
    if not isinstance(index, int):
        raise AssertionError("index must be an int or a list of them")
    if not hasattr(t, attribute):
        setattr(t, attribute, set())
    getattr(t, attribute).add(index)


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Notes that a size of the tensor changes from call to call."""
    _mark(t, index, "_dynamo_dynamic_indices")


def maybe_mark_dynamic(t, index):
    """Like `mark_dynamic`, but the compiler may take the size as fixed."""
    _mark(t, index, "_dynamo_weak_dynamic_indices")


def mark_static(t, index=None):
    """Notes that a size of the tensor (None: every size) never changes."""
    if not isinstance(t, torch.Tensor):
        if isinstance(t, type) and issubclass(t, torch.nn.Module):
            t._dynamo_marked_static = True
            return t
        raise TypeError(f"mark_static expects a tensor/nn.Module class but received {type(t)}")
    if index is None:
        index = list(range(t.dim()))
    _mark(t, index, "_dynamo_static_indices")


def mark_static_address(t, guard=False):
    """Notes that the tensor's memory stays where it is."""
    if not isinstance(t, torch.Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t).__name__}")
    t._dynamo_static_input_type = "guarded" if guard else "unguarded"
