"""Reference implementations: in this package the operators themselves, by name."""

import torch


def __getattr__(name):
    if not name.startswith("_"):
        found = getattr(torch, name, None)
        if callable(found) and not isinstance(found, type):
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
