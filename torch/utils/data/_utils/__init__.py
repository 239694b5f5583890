"""Parts of the `DataLoader`; not public. Worker processes' parts are loaded only when needed."""

from . import collate, fetch


def __getattr__(name):
    if name in ("worker", "channel", "arena", "pin_memory"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
