"""The former place of torch.ao.quantization; names are looked up there."""

_MODULES = frozenset(["observer", "fake_quantize", "qconfig", "fuse_modules", "stubs"])


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        return import_module("torch.ao.quantization." + name)
    return getattr(import_module("torch.ao.quantization"), name)
