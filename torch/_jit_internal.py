"""Marks that tell the script compiler what to do with functions, and types that it knows."""

import builtins
import contextlib
import functools
import inspect
import typing
import warnings

import torch
from torch.futures import Future  # noqa: F401

__all__: list = []


class FunctionModifiers:
    """What ``_torchscript_modifier`` of a function may be."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = (
        "if this method is not scripted, copy the python method onto the scripted model"
    )
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def is_scripting():
    """Is the running code compiled script? No: it is Python."""
    return False


def export(fn):
    """Marks a method to be compiled with a module though ``forward`` does not call it."""
    fn._torchscript_modifier = FunctionModifiers.EXPORT
    return fn


def unused(fn):
    """Marks a function to be left out of compiled script, where calling it is an error."""
    if isinstance(fn, property):
        for part in (fn.fget, fn.fset):
            if part is not None:
                part._torchscript_modifier = FunctionModifiers.UNUSED
        return fn
    fn._torchscript_modifier = FunctionModifiers.UNUSED
    return fn


def ignore(drop=False, **kwargs):
    """Marks a function to stay Python in compiled script. Also used as ``@ignore``."""
    if callable(drop):
        drop._torchscript_modifier = FunctionModifiers.IGNORE
        return drop
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got "
                           f"{drop}")
    on_export = kwargs.pop("drop_on_export", None)
    if on_export is not None or drop:
        warnings.warn("ignore(True) has been deprecated. TorchScript will now drop the function "
                      f"call on compilation. Use torch.jit.unused now. {kwargs}",
                      category=FutureWarning, stacklevel=2)
        drop = drop or bool(on_export)

    def decorator(fn):
        fn._torchscript_modifier = (
            FunctionModifiers.UNUSED if drop else FunctionModifiers.IGNORE
        )
        return fn

    return decorator


def _drop(fn):
    fn._torchscript_modifier = FunctionModifiers._DROP
    return fn


def _copy_to_script_wrapper(fn):
    fn._torchscript_modifier = FunctionModifiers.COPY_TO_SCRIPT_WRAPPER
    return fn


def get_torchscript_modifier(fn):
    """The mark of a function or bound method."""
    fn = getattr(fn, "__func__", fn)
    return getattr(fn, "_torchscript_modifier", FunctionModifiers.DEFAULT)


def copy_torchscript_modifier(orig, new):
    if get_torchscript_modifier(orig) is not None:
        new._torchscript_modifier = get_torchscript_modifier(orig)


def should_drop(fn):
    return get_torchscript_modifier(fn) in (FunctionModifiers.UNUSED, FunctionModifiers._DROP)


def _is_drop_fn(fn):
    return get_torchscript_modifier(fn) is FunctionModifiers._DROP


def is_ignored_fn(fn):
    return get_torchscript_modifier(fn) in (
        FunctionModifiers.UNUSED, FunctionModifiers.IGNORE, FunctionModifiers._DROP
    )


def module_has_exports(mod):
    return any(get_torchscript_modifier(getattr(mod, name)) is FunctionModifiers.EXPORT
               for name in dir(mod) if callable(getattr(mod, name, None)))


# ---------------------------------------------------------------- overloads

_overloaded_fns: dict = {}
_overloaded_methods: dict = {}


def _qualified_name(obj, mangle_name=True):
    """``__torch__.module.Name``: how script calls a function or class."""
    name = getattr(obj, "_jit_override_qualname", None) or getattr(obj, "__name__", None)
    module = getattr(obj, "__module__", None)
    if name is None or module is None:
        raise RuntimeError(f"Could not get qualified name for class '{obj}'")
    if name == "<lambda>":
        name = "_lambda"
    if module == "__main__":
        return f"__torch__.{name}" if mangle_name else f"__main__.{name}"
    return f"__torch__.{module}.{name}" if mangle_name else f"{module}.{name}"


def _check_overload_body(func):
    """A declaration of an overload has no body."""
    import ast
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(func)))
    except (OSError, TypeError, SyntaxError):
        return  # no source to look at
    body = getattr(tree.body[0], "body", [])
    ok = len(body) == 1 and (isinstance(body[0], ast.Pass) or (
        isinstance(body[0], ast.Expr) and getattr(body[0].value, "value", None) is ...
    ))
    if not ok:
        raise RuntimeError("Only `pass` statement or `...` can be the body of overload "
                           f"declaration:\n{inspect.getsource(func)}\n"
                           " <- Expecting `pass` or `...` here!")


def _overload(func):
    """Declares one signature of a function that follows."""
    _check_overload_body(func)
    _overloaded_fns.setdefault(_qualified_name(func), []).append(func)
    return func


def _get_fn_overloads(qual_name):
    return _overloaded_fns.get(qual_name)


def _clear_fn_overloads(qual_name):
    del _overloaded_fns[qual_name]


def _overload_method(func):
    """Declares one signature of a method that follows."""
    _check_overload_body(func)
    key = func.__qualname__, func.__module__
    _overloaded_methods.setdefault(key, []).append(func)
    return func


def _get_overloaded_methods(method, mod_class):
    if not hasattr(method, "__name__"):
        return None
    return _overloaded_methods.get((f"{mod_class.__name__}.{method.__name__}",
                                    method.__module__))


# ---------------------------------------------------------------- types


class BroadcastingListCls:
    """``BroadcastingList2[int]`` in annotations: a number, or a list of 2 numbers."""

    def __getitem__(self, types):
        return


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingListCls()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1


def _origin(ann):
    return typing.get_origin(ann)


def is_tuple(ann):
    return _origin(ann) is tuple


def is_list(ann):
    return _origin(ann) is list


def is_dict(ann):
    return _origin(ann) is dict


def is_union(ann):
    import types

    return _origin(ann) in (typing.Union, getattr(types, "UnionType", typing.Union))


def is_optional(ann):
    return is_union(ann) and len(typing.get_args(ann)) == 2 and type(None) in typing.get_args(ann)


def is_future(ann):
    return ann is Future


def is_final(ann):
    return _origin(ann) is typing.Final or ann is typing.Final


def check_empty_containers(obj):
    if obj in ([], {}, ()):
        warnings.warn("The inner type of a container is lost when calling torch.jit.isinstance in "
                      "eager mode. For example, List[int] would become list and therefore falsely "
                      "return True for List[float] or List[str].", stacklevel=3)


def raise_error_container_parameter_missing(target_type):
    example = "Dict[str, int]" if target_type == "Dict" else f"{target_type}[int]"
    raise RuntimeError(f"Attempted to use {target_type} without a contained type. Please add a "
                       f"contained type, e.g. {example}")


def check_args_exist(target_type):
    for bare, name in ((typing.List, "List"), (list, "List"), (typing.Tuple, "Tuple"),
                       (tuple, "Tuple"), (typing.Dict, "Dict"), (dict, "Dict")):
        if target_type is bare:
            raise_error_container_parameter_missing(name)
    if target_type is typing.Optional:
        raise_error_container_parameter_missing("Optional")


def container_checker(obj, target_type):
    """Is `obj` of a generic type, elements included?"""
    origin, args = _origin(target_type), typing.get_args(target_type)
    check_args_exist(target_type)
    if origin is None:
        return False
    if origin is list:
        check_empty_containers(obj)
        return isinstance(obj, list) and all(_isinstance(x, args[0]) for x in obj)
    if origin is dict:
        check_empty_containers(obj)
        return isinstance(obj, dict) and all(
            _isinstance(k, args[0]) and _isinstance(v, args[1]) for k, v in obj.items()
        )
    if origin is tuple:
        check_empty_containers(obj)
        return isinstance(obj, tuple) and len(obj) == len(args) and all(
            _isinstance(x, t) for x, t in zip(obj, args)
        )
    if is_union(target_type):
        return any(_isinstance(obj, t) for t in args)
    return False


def _isinstance(obj, target_type):
    """`isinstance` that understands ``List[int]``, ``Optional[T]`` and tuples of types."""
    if isinstance(target_type, (tuple, list)):
        return any(_isinstance(obj, t) for t in target_type)
    check_args_exist(target_type)
    if _origin(target_type) is not None:
        return container_checker(obj, target_type)
    return builtins.isinstance(obj, target_type)


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that is `if_true` or `if_false` by the value of one argument."""

    def fn(*args, **kwargs):
        flag = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if flag else if_false)(*args, **kwargs)

    fn.__doc__ = if_true.__doc__ or if_false.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    return fn


class _IgnoreContextManager(contextlib.AbstractContextManager):
    """Marks a block to stay Python in compiled script."""

    def __init__(self, **kwargs):
        pass

    def __exit__(self, exc_type, exc_value, traceback):
        return None


def get_callable_argument_names(fn):
    """The names of positional parameters; [] if unknown or if there are others."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return []
    return [p.name for p in parameters]


def _createResolutionCallback(names):
    return lambda key: names.get(key, getattr(typing, key, None))


def createResolutionCallbackFromFrame(frames_up=0):
    """A function from names to values, as the code of a calling frame sees them."""
    frame = inspect.currentframe()
    for _ in range(frames_up + 1):
        frame = frame.f_back
    return _createResolutionCallback({**frame.f_globals, **frame.f_locals})


def get_closure(fn):
    """The globals and closed-over variables of a function."""
    found = dict(fn.__globals__)
    found.update(inspect.getclosurevars(fn).nonlocals)
    return found


def createResolutionCallbackFromClosure(fn):
    return _createResolutionCallback(get_closure(fn))


@functools.lru_cache(None)
def can_compile_class(cls):
    """Could the script compiler take the class?"""
    if issubclass(cls, (torch.nn.Module, torch.Tensor)) or cls.__module__ == "builtins":
        return False
    names = ("__init__", "forward")
    return any(hasattr(getattr(cls, n, None), "__code__") for n in names)


def _extract_tensors(obj):
    """All tensors in an object, found by pickling it."""
    import io
    import pickle

    found = []

    class Extractor(pickle.Pickler):
        def persistent_id(self, x):
            if builtins.isinstance(x, torch.Tensor):
                found.append(x)
                return ""
            return None

    Extractor(io.BytesIO(), protocol=-1).dump(obj)
    return found
