"""Utilities; the submodules are loaded when first named."""

import os as _os

__all__ = ["swap_tensors", "set_module", "cmake_prefix_path"]

cmake_prefix_path = _os.path.join(
    _os.path.dirname(_os.path.dirname(__file__)), "share", "cmake"
)

_MODULES = frozenset(
    """backcompat backend_registration benchmark bottleneck bundled_inputs checkpoint collect_env
    cpp_backtrace cpp_extension data deterministic dlpack file_baton flop_counter hooks
    mobile_optimizer model_zoo module_tracker tensorboard throughput_benchmark weak _pytree
    _python_dispatch _device _contextlib _foreach_utils _mode_utils _import_utils _traceback
    show_pickle""".split()
)


def set_module(obj, mod):
    """Says that `obj` comes from the module `mod`."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1, t2):
    """Exchanges what two tensors are, classes and attributes included."""
    import torch

    if t1.untyped_storage() is t2.untyped_storage() and t1 is t2:
        return
    for name in getattr(t1, "__slots__", ()) + getattr(t2, "__slots__", ()):
        if hasattr(t1, name) or hasattr(t2, name):
            raise RuntimeError(f"Cannot swap t1 and t2 if they have slots: {name}")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    torch._C._swap_tensor_impl(t1, t2)


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        try:
            return import_module(f"torch.utils.{name}")
        except ModuleNotFoundError as error:
            if error.name.startswith("torch."):
                if error.name != f"torch.utils.{name}":
                    raise
            else:  # a package that it needs is not installed
                raise AttributeError(f"module 'torch.utils' has no attribute {name!r}: "
                                     f"{error}") from error
    raise AttributeError(f"module 'torch.utils' has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | _MODULES)
