"""Settings of the libraries behind operators. Each name below is a module of its own."""

from contextlib import contextmanager as _contextmanager
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

_MODULES = frozenset(
    "cpu cuda cudnn cusparselt kleidiai mha miopen mkl mkldnn mps nnpack openmp opt_einsum "
    "python_native quantized xeon xnnpack".split()
)


_frozen = False


def flags_frozen():
    """Are settings frozen by `disable_global_flags`?"""
    return _frozen


def disable_global_flags():
    """Settings can only be changed by context managers from now on."""
    global _frozen
    _frozen = True


def set_flags(_fp32_precision="none"):
    """The precision of float32 products is remembered by each backend's module."""
    return ("none",)


@_contextmanager
def flags(fp32_precision="none"):
    """Context manager over the settings of all backends."""
    yield


class ContextProp:
    """A setting that is read and written by functions."""

    def __init__(self, getter, setter):
        self.getter, self.setter = getter, setter

    def __get__(self, obj, objtype):
        return self.getter()

    def __set__(self, obj, value):
        if _frozen:
            raise RuntimeError(
                f"not allowed to set {obj.__name__} flags after disable_global_flags; please use "
                "flags() context manager instead"
            )
        self.setter(value)


class PropModule(_ModuleType):
    """A module whose class has settings; other names come from the module it stands for."""

    def __init__(self, m, name):
        super().__init__(name)
        self.m = m

    def __getattr__(self, attr):
        return self.m.__getattribute__(attr)


class GenericModule(PropModule):
    """The settings of all backends."""


fp32_precision = "none"  # of all backends: products of float32 are float32


def __getattr__(name):
    if name in _MODULES:
        return _import_module(f"torch.backends.{name}")
    raise AttributeError(f"module 'torch.backends' has no attribute {name!r}")


def __dir__():
    return sorted(_MODULES)
