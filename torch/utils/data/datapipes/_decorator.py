"""Decorators of DataPipes."""

import functools
import inspect

from .datapipe import IterDataPipe, MapDataPipe

_determinism = False
_validation = True


class functional_datapipe:
    """Class decorator: makes the pipe callable as a method `name` of all pipes of its kind."""

    def __init__(self, name, enable_df_api_tracing=False):
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls):
        if not isinstance(cls, type) or not issubclass(cls, (IterDataPipe, MapDataPipe)):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        kind = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe
        kind.register_datapipe_as_function(self.name, cls)
        return cls


class guaranteed_datapipes_determinism:
    """Context manager: pipes marked `non_deterministic` refuse to be made within."""

    def __init__(self):
        global _determinism
        self.prev = _determinism
        _determinism = True

    def __enter__(self):
        pass

    def __exit__(self, *exc_info):
        global _determinism
        _determinism = self.prev


class non_deterministic:
    """Marks a pipe as not deterministic: always, or where a function of its arguments says so."""

    def __init__(self, arg):
        self.cls = None
        self.deterministic_fn = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError("Only `IterDataPipe` can be decorated with `non_deterministic`")
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def _check(self, name):
        if _determinism:
            raise TypeError(
                f"{name} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. "
                "You can turn off determinism for this DataPipe if that is acceptable for your "
                "application"
            )

    def __call__(self, *args, **kwargs):
        if self.cls is not None:
            self._check(self.cls.__name__)
            return self.cls(*args, **kwargs)
        if not (args and isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[:1]} is found")
        self.cls = args[0]
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args, **kwargs):
        """Makes the pipe if that is allowed."""
        if self.deterministic_fn(*args, **kwargs):
            self._check(self.cls.__name__)
        return self.cls(*args, **kwargs)


def argument_validation(f):
    """Checks that arguments annotated as data pipes are data pipes."""
    parameters = inspect.signature(f).parameters

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        bound = inspect.signature(f).bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            hint = parameters[name].annotation
            origin = getattr(hint, "__origin__", hint)
            if isinstance(origin, type) and issubclass(origin, IterDataPipe):
                if not isinstance(value, IterDataPipe):
                    raise TypeError(
                        f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}"
                    )
        return f(*args, **kwargs)

    return wrapper


class runtime_validation_disabled:
    """Context manager: switches `runtime_validation` off."""

    def __init__(self):
        global _validation
        self.prev = _validation
        _validation = False

    def __enter__(self):
        pass

    def __exit__(self, *exc_info):
        global _validation
        _validation = self.prev


def runtime_validation(f):
    """Decorates ``__iter__`` of a pipe; element types are not declared here, so it checks nothing.

    Raises:
        TypeError: `f` is not called ``__iter__``.
    """
    if f.__name__ != "__iter__":
        raise TypeError(
            f"Can not decorate function {f.__name__} with 'runtime_validation'"
        )
    return f
