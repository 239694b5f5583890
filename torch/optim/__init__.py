"""Optimizers and learning rate schedules."""
from .optimizer import Optimizer

_CLASSES = {
    "SGD": "sgd", "Adam": "adam", "AdamW": "adamw",
}
_MODULES = ("lr_scheduler", "optimizer")

__all__ = [*_CLASSES, "Optimizer", "lr_scheduler"]


def __getattr__(name):
    import importlib

    if name in _CLASSES:
        value = getattr(importlib.import_module("." + _CLASSES[name], __name__), name)
    elif name in _MODULES:
        return importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_CLASSES, *_MODULES})
