"""Helpers around modules: gradient clipping, parametrizations, sequences of many lengths, ...

Nearly everything is loaded when it is first asked for.
"""
# These functions have the names of their submodules: importing a submodule binds its name here,
# so that must have happened before the functions take the names.
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

# name -> the submodule that defines it
_LAZY = {}
for _file, _names in (
    ("clip_grad", "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ "
     "get_total_norm"),
    ("convert_parameters", "parameters_to_vector vector_to_parameters"),
    ("fusion", "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval "
     "fuse_linear_bn_weights"),
    ("init", "skip_init"),
    ("memory_format", "convert_conv2d_weight_memory_format "
     "convert_conv3d_weight_memory_format"),
):
    for _name in _names.split():
        _LAZY[_name] = _file

_SUBMODULES = frozenset((
    "clip_grad", "convert_parameters", "fusion", "init", "memory_format", "parametrizations",
    "parametrize", "prune", "rnn", "stateless"))

__all__ = sorted([*_LAZY, "parametrizations", "parametrize", "remove_spectral_norm",
                  "remove_weight_norm", "rnn", "spectral_norm", "stateless", "weight_norm"])


def __getattr__(name):
    from importlib import import_module
    if name in _SUBMODULES:
        return import_module("." + name, __name__)
    if name in _LAZY:
        value = getattr(import_module("." + _LAZY[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, *_SUBMODULES})


from torch._lazy_module import complete_dict as _complete_dict  # noqa: E402

_complete_dict(__name__)
