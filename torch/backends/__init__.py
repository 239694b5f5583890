"""Settings of the libraries behind operators. Each name below is a module of its own."""

from importlib import import_module as _import_module

_MODULES = frozenset(
    "cpu cuda cudnn cusparselt kleidiai mha miopen mkl mkldnn mps nnpack openmp opt_einsum quantized "
    "xeon xnnpack".split()
)


def __getattr__(name):
    if name in _MODULES:
        return _import_module(f"torch.backends.{name}")
    raise AttributeError(f"module 'torch.backends' has no attribute {name!r}")


def __dir__():
    return sorted(_MODULES)
