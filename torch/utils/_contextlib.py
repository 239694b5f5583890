"""Context managers that also decorate functions, methods and generator functions."""
import sys
from typing import Any

_GENERATOR = 0x20  # CO_GENERATOR


def _is_generator_function(func):
    while hasattr(func, "func") and not hasattr(func, "__code__"):
        func = func.func  # functools.partial
    func = getattr(func, "__func__", func)
    code = getattr(func, "__code__", None)
    return code is not None and bool(code.co_flags & _GENERATOR)


def _wrap_generator(ctx_factory, func):
    """The context is active while the generator's own code runs, and only then."""
    from functools import wraps

    @wraps(func)
    def generator(*args, **kwargs):
        gen = func(*args, **kwargs)
        step, value = gen.send, None
        while True:
            try:
                with ctx_factory():
                    item = step(value)
            except StopIteration as stop:
                return stop.value
            try:
                value = yield item
                step = gen.send
            except GeneratorExit:
                with ctx_factory():
                    gen.close()
                raise
            except BaseException:
                step, value = gen.throw, sys.exc_info()[1]

    return generator


def context_decorator(ctx, func):
    """Wrap `func` so that it runs inside ``ctx`` (an instance) or ``ctx()`` (a factory)."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), "
            "making it ambiguous which interface to use.  If you intended to pass a "
            "context manager "
            "factory, rewrite your call as context_decorator(lambda: ctx()); if you "
            "intended to pass "
            "a context manager directly, rewrite your call as context_decorator(lambda: ctx)"
        )
    factory = ctx if callable(ctx) else lambda: ctx
    if isinstance(func, type):
        import warnings
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You "
            "should only decorate functions or methods. To preserve the current behavior of "
            "class decoration, you can directly decorate the `__init__` method and nothing "
            "else.",
            FutureWarning,
            stacklevel=2,
        )
        func.__init__ = context_decorator(factory, func.__init__)
        return func
    if _is_generator_function(func):
        return _wrap_generator(factory, func)
    from functools import wraps

    @wraps(func)
    def decorated(*args, **kwargs):
        with factory():
            return func(*args, **kwargs)

    return decorated


class _DecoratorContextManager:
    """Base of context managers that can be used as decorators; `clone` makes one per call."""

    def __call__(self, orig_func):
        if isinstance(orig_func, type):
            import warnings
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. "
                "You should only decorate functions or methods. To preserve the current "
                "behavior of class decoration, you can directly decorate the `__init__` "
                "method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            orig_func.__init__ = context_decorator(self.clone, orig_func.__init__)
            return orig_func
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self):
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same without arguments: ``@no_grad`` and ``@no_grad()`` both work."""

    def __new__(cls, orig_func=None):
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)
