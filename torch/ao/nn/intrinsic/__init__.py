"""Modules that stand for several in a row, as `fuse_modules` makes them."""

from torch.ao.nn.intrinsic.modules import *  # noqa: F401,F403
from torch.ao.nn.intrinsic.modules import __all__  # noqa: F401


def __getattr__(name):
    if name in ("qat", "quantized"):
        from importlib import import_module

        return import_module("torch.ao.nn.intrinsic." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
