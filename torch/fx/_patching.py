"""Putting recording functions in the place of others while a function is traced, and back."""

import builtins
import functools
import inspect
import threading
from collections import namedtuple

from torch.fx._compatibility import compatibility
from torch.fx.node import map_aggregate
from torch.fx.proxy import Proxy

# (id of the globals, name) -> globals: functions that `wrap` was called for.
_wrapped_fns_to_patch = {}
_wrapped_methods_to_patch = []

_tracing = threading.local()


def _set_is_fx_tracing(value):
    _tracing.on = value


def _get_is_fx_tracing():
    return getattr(_tracing, "on", False)


def _find_proxy(*objects_to_search):
    """The first proxy in nested arguments, or None."""
    found = None

    def look(x):
        nonlocal found
        if found is None and isinstance(x, Proxy):
            found = x
        return x

    map_aggregate(objects_to_search, look)
    return found


def _create_wrapped_func(orig_fn):
    """`orig_fn`, recorded as one call when an argument is a proxy."""

    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls, name):
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class _PatchedFn(namedtuple("_PatchedFn", ["frame_dict", "fn_name", "orig_fn", "new_fn"])):
    """One replacement in a dictionary."""

    def revert(self):
        raise NotImplementedError

    def patch(self):
        raise NotImplementedError


class _PatchedFnSetItem(_PatchedFn):
    def revert(self):
        self.frame_dict[self.fn_name] = self.orig_fn

    def patch(self):
        self.frame_dict[self.fn_name] = self.new_fn


class _PatchedFnDel(_PatchedFn):
    """The name was not there before."""

    def revert(self):
        del self.frame_dict[self.fn_name]

    def patch(self):
        self.frame_dict[self.fn_name] = self.new_fn


class _PatchedFnSetAttr(_PatchedFn):
    def revert(self):
        setattr(self.frame_dict, self.fn_name, self.orig_fn)

    def patch(self):
        setattr(self.frame_dict, self.fn_name, self.new_fn)


class _Patcher:
    """Replacements that end, in the opposite order, with the block."""

    def __init__(self):
        self.patches_made = []
        self.visited = set()

    def patch(self, frame_dict, name, new_fn, deduplicate=True):
        """Puts `new_fn` at ``frame_dict[name]``."""
        new_fn.__fx_already_patched = deduplicate
        if name not in frame_dict and hasattr(builtins, name):
            made = _PatchedFnDel(frame_dict, name, None, new_fn)
        elif getattr(frame_dict[name], "__fx_already_patched", False):
            return
        else:
            made = _PatchedFnSetItem(frame_dict, name, frame_dict[name], new_fn)
        self.patches_made.append(made)
        made.patch()

    def patch_method(self, cls, name, new_fn, deduplicate=True):
        """Puts `new_fn` at ``cls.name``."""
        new_fn.__fx_already_patched = deduplicate
        before = getattr(cls, name)
        if getattr(before, "__fx_already_patched", False):
            return
        made = _PatchedFnSetAttr(cls, name, before, new_fn)
        self.patches_made.append(made)
        made.patch()

    def visit_once(self, thing):
        """True the first time it is asked about `thing`."""
        if id(thing) in self.visited:
            return False
        self.visited.add(id(thing))
        return True

    def revert_all_patches(self):
        for made in self.patches_made:
            made.revert()
        return self.patches_made

    def reapply_all_patches(self):
        for made in self.patches_made:
            made.patch()
        return self.patches_made

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        while self.patches_made:
            self.patches_made.pop().revert()
        self.visited.clear()


def _patch_wrapped_functions(patcher):
    """Makes everything that `wrap` was called for record its calls."""
    for (_, name), frame_dict in _wrapped_fns_to_patch.copy().items():
        if name not in frame_dict and hasattr(builtins, name):
            orig_fn = getattr(builtins, name)
        else:
            orig_fn = frame_dict[name]
        patcher.patch(frame_dict, name, _create_wrapped_func(orig_fn))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher, frame_dict, function_ids):
    """Wraps the values of `frame_dict` that are among `function_ids`, once per dictionary."""
    if not patcher.visit_once(frame_dict):
        return
    for name, value in list(frame_dict.items()):
        if not name.startswith("_") and callable(value) and id(value) in function_ids:
            patcher.patch(frame_dict, name, _create_wrapped_func(value))


@compatibility(is_backward_compatible=True)
def wrap(fn_or_name):
    """Makes a function of the calling module a leaf: traced as one call, not looked into.

    At the top level of a module, as a decorator or with a name: ``torch.fx.wrap("len")``. Returns
    what it was given.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or "
                           "string name")
    if callable(fn_or_name):
        fn_name = fn_or_name.__name__
    else:
        fn_name = fn_or_name
    frame = inspect.currentframe()
    if frame is None or frame.f_back is None:
        raise AssertionError("no calling frame")
    frame = frame.f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(frame.f_globals), fn_name)] = frame.f_globals
    return fn_or_name


def _wrap_method(cls, name):
    """Makes calls of a method with a proxy among the arguments single nodes."""
    _wrapped_methods_to_patch.append((cls, name))
