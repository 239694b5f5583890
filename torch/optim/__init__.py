"""Optimizers and learning rate schedules."""
from .optimizer import Optimizer

_CLASSES = {
    "Adadelta": "adadelta", "Adafactor": "_adafactor", "Adagrad": "adagrad", "Adam": "adam",
    "Adamax": "adamax", "AdamW": "adamw", "ASGD": "asgd", "LBFGS": "lbfgs", "Muon": "_muon",
    "NAdam": "nadam", "RAdam": "radam", "RMSprop": "rmsprop", "Rprop": "rprop", "SGD": "sgd",
    "SparseAdam": "sparse_adam",
}
_MODULES = ("lr_scheduler", "swa_utils", "functional", "_functional")

__all__ = [*_CLASSES, "Optimizer", "functional", "lr_scheduler", "swa_utils",
           "swap_in_optimizer_params_and_state"]


def __getattr__(name):
    import importlib

    if name in _CLASSES:
        value = getattr(importlib.import_module("." + _CLASSES[name], __name__), name)
    elif name == "swap_in_optimizer_params_and_state":
        value = importlib.import_module("._swap", __name__).swap_in_optimizer_params_and_state
    elif name in _MODULES:
        return importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_MODULES})


from torch._lazy_module import complete_dict as _complete_dict  # noqa: E402

_complete_dict(__name__)
