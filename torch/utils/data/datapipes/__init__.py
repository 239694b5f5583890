"""DataPipes: iterable and map-style datasets that are chained by methods.

A frozen part of the API, kept for the packages that name it: the base classes, the decorators and
the common pipes. Loaded only when named.
"""


def __getattr__(name):
    if name in ("iter", "map", "datapipe", "_decorator"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
