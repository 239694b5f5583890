"""Neural networks: modules, parameters, losses, initial values.

Only the core of the package is loaded at import; the rest follows at first use.
"""
from __future__ import annotations

from . import parameter
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from . import functional
from . import init
from . import modules

# A star import, or the whole dictionary of `modules`, would load the lazy modules too.
globals().update({_name: getattr(modules, _name) for _name in modules.__all__
                  if _name not in modules._LAZY})

_SUBPACKAGES = frozenset((
    "_reduction", "attention", "common_types", "functional", "grad", "init", "intrinsic",
    "modules", "parallel", "parameter", "qat", "quantizable", "quantized", "utils"))


def factory_kwargs(kwargs):
    """Take `device`, `dtype` and `memory_format` out of `kwargs` and a nested
    ``factory_kwargs``; they may not stand in both."""
    if kwargs is None:
        return {}
    simple_keys = {"device", "dtype", "memory_format"}
    expected = simple_keys | {"factory_kwargs"}
    if not kwargs.keys() <= expected:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - expected}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for key in simple_keys:
        if key in kwargs:
            if key in result:
                raise TypeError(
                    f"{key} specified twice, in **kwargs and in factory_kwargs")
            result[key] = kwargs[key]
    return result


__all__ = sorted({*modules.__all__, "Buffer", "Parameter", "UninitializedBuffer",
                  "UninitializedParameter", "DataParallel", "factory_kwargs", *_SUBPACKAGES}
                 - {"_reduction", "intrinsic", "qat", "quantizable", "quantized"})


def __getattr__(name):
    if name in modules._LAZY:
        value = getattr(modules, name)
    elif name in _SUBPACKAGES:
        from importlib import import_module
        value = import_module("." + name, __name__)
    elif name == "DataParallel":
        from .parallel import DataParallel as value
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *modules._LAZY, *_SUBPACKAGES, "DataParallel"})


from torch._lazy_module import complete_dict as _complete_dict  # noqa: E402

_complete_dict(__name__)
