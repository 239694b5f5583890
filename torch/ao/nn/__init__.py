"""Modules for quantisation: `intrinsic` (fused), `qat`, `quantized`, `quantizable`."""

_MODULES = frozenset(["intrinsic", "qat", "quantizable", "quantized"])


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("torch.ao.nn." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
