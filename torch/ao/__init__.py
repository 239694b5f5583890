"""torch.ao: quantisation. Observers, fusion and stubs work; quantised tensors do not exist yet."""

_MODULES = frozenset(["nn", "quantization"])


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("torch.ao." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
