"""torch.ao: quantisation and pruning. Their names can be imported; little of it works yet."""

_MODULES = frozenset(["nn", "quantization", "pruning"])


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module("torch.ao." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
