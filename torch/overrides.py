"""`__torch_function__`: classes and modes that take over functions of this package."""

import functools
from contextlib import contextmanager

import torch
from torch._C import (
    _disabled_torch_function_impl,  # noqa: F401
    _get_function_stack_at,
    _has_torch_function as has_torch_function,
    _has_torch_function_unary as has_torch_function_unary,
    _has_torch_function_variadic as has_torch_function_variadic,
    _is_torch_function_enabled,  # noqa: F401
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)

__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "resolve_name", "is_tensor_like",
    "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch",
    "TorchFunctionMode", "BaseTorchFunctionMode", "redispatch_function",
]


def _get_overloaded_args(relevant_args, get_type_fn=type):
    """The arguments that override, subclasses before the classes they derive from."""
    if not torch._C._is_torch_function_enabled():
        return []
    types, args = [], []
    for arg in relevant_args:
        kind = get_type_fn(arg)
        if kind in types or not hasattr(kind, "__torch_function__"):
            continue
        if kind.__torch_function__ is _disabled_torch_function_impl:
            continue
        at = len(args)
        for i, other in enumerate(args):
            if issubclass(kind, get_type_fn(other)):
                at = i
                break
        args.insert(at, arg)
        types.append(kind)
    return args


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Asks modes, then the overriding arguments in turn, to do ``public_api(*args, **kwargs)``.

    Raises TypeError when all of them return NotImplemented.
    """
    overloaded = _get_overloaded_args(relevant_args)
    types = tuple(map(type, overloaded))
    if _is_torch_function_mode_enabled():
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}" if hasattr(
        public_api, "__name__"
    ) else str(public_api)
    message = f"no implementation found for '{name}' on types that implement " \
              f"__torch_function__: {list(map(type, overloaded))}"
    if _is_torch_function_mode_enabled():
        message += f" nor in mode {_get_current_function_mode()}"
    raise TypeError(message)


def wrap_torch_function(dispatcher):
    """Makes a Python function overridable; ``dispatcher(*args)`` gives the arguments to look at."""

    def decorate(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp):
    """A tensor, or an object whose class has ``__torch_function__``?"""
    return type(inp) is torch.Tensor or hasattr(inp, "__torch_function__")


# ---------------------------------------------------------------- modes


class TorchFunctionMode:
    """Takes over every function of this package inside a ``with`` block.

    Subclasses define ``__torch_function__(self, func, types, args=(), kwargs=None)``; inside it the
    mode is off.
    """

    inner: "TorchFunctionMode"

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _is_torch_function_mode_enabled():
    return _len_torch_function_stack() > 0 and not torch._C._is_torch_function_all_disabled()


def _get_current_function_mode():
    n = _len_torch_function_stack()
    return _get_function_stack_at(n - 1) if n else None


def _get_current_function_mode_stack():
    return [_get_function_stack_at(i) for i in range(_len_torch_function_stack())]


def _push_mode(mode):
    _push_on_torch_function_stack(mode)


def _pop_mode():
    return _pop_torch_function_stack()


@contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


class _EnableTorchFunction:
    def __enter__(self):
        self._saved = torch._C._set_torch_function_disabled(0)

    def __exit__(self, *exc):
        torch._C._set_torch_function_disabled(self._saved)


_enable_torch_function = _EnableTorchFunction


@contextmanager
def enable_reentrant_dispatch():
    yield


def redispatch_function(func, types, args, kwargs=None):
    """Runs `func` once more with the overrides of subclasses off."""
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


# ---------------------------------------------------------------- what can be overridden

_MODULES = ("torch", "torch.functional", "torch.nn.functional", "torch.nn.init", "torch.Tensor",
            "torch.linalg", "torch.fft", "torch.special")


@functools.lru_cache(None)
def get_ignored_functions():
    """Public functions that never look at ``__torch_function__``."""
    T = torch.Tensor
    names = (
        "typename is_tensor is_storage set_default_dtype get_default_dtype set_rng_state "
        "get_rng_state manual_seed initial_seed seed save load set_printoptions tensor as_tensor "
        "from_numpy frombuffer asarray empty zeros ones full eye arange linspace logspace rand "
        "randn randint randperm range tril_indices triu_indices can_cast promote_types "
        "get_num_threads set_num_threads compile vmap no_grad enable_grad set_grad_enabled"
    )
    found = {getattr(torch, n) for n in names.split() if hasattr(torch, n)}
    methods = ("__new__ __init__ __init_subclass__ __setattr__ __getattribute__ __delattr__ "
               "__torch_function__ as_subclass _make_subclass __subclasshook__ __class__ "
               "new_tensor new")
    for n in methods.split():
        f = getattr(T, n, None)
        try:
            found.add(f)
        except TypeError:
            pass
    return found


def _public_functions(module):
    for name in sorted(set(dir(module))):
        if name.startswith("_") and not name.startswith("__"):
            continue
        value = module.__dict__.get(name) if not isinstance(module, type) else getattr(module, name)
        if value is None:
            continue
        yield name, value


@functools.lru_cache(None)
def _get_overridable_functions():
    overridable, names = {}, {}
    ignored = get_ignored_functions()
    for path in _MODULES:
        namespace = torch
        try:
            for part in path.split(".")[1:]:
                namespace = getattr(namespace, part)
        except AttributeError:
            continue
        found = []
        for name, value in _public_functions(namespace):
            if isinstance(value, (type, type(torch))):
                continue
            if hasattr(value, "__get__") and not callable(value):
                value = value.__get__
            if not callable(value) or str(getattr(value, "__module__", "")).startswith("typing"):
                continue
            try:
                if value in ignored:
                    continue
            except TypeError:
                continue
            found.append(value)
            names.setdefault(value, f"{path}.{name}")
        overridable[namespace] = found
    return overridable, names


def get_overridable_functions():
    """{namespace: [functions that look at ``__torch_function__``]}"""
    return _get_overridable_functions()[0]


def resolve_name(f):
    """The dotted name of an overridable function, or None."""
    if isinstance(f, str):
        return f
    return _get_overridable_functions()[1].get(f)


@functools.lru_cache(None)
def _get_tensor_methods():
    return set(get_overridable_functions().get(torch.Tensor, ()))


def is_tensor_method_or_property(func):
    """Is `func` a method or a getter of a property of `torch.Tensor`?"""
    return func in _get_tensor_methods() or getattr(func, "__name__", "") == "__get__"


def get_testing_overrides():
    """{function: a dummy that takes the same arguments and returns -1}"""
    return {f: (lambda *args, **kwargs: -1) for fs in get_overridable_functions().values()
            for f in fs}


def get_default_nowrap_functions():
    """Functions whose results the default ``Tensor.__torch_function__`` leaves as they are."""
    return torch._tensor._unwrapped_functions()
