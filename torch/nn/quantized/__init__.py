"""The former place of torch.ao.nn.quantized; names are looked up there."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    return getattr(import_module("torch.ao.nn.quantized"), name)
