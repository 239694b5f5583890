"""Weight normalization by a hook (Salimans & Kingma 2016); see also `parametrizations`."""
from __future__ import annotations

import torch
from torch.nn.parameter import Parameter, UninitializedParameter

__all__ = ["WeightNorm", "weight_norm", "remove_weight_norm"]


def _norm_except_dim(v, dim):
    """The 2-norm over all dimensions but `dim`, which keep size 1; over all for -1."""
    if dim == -1:
        return torch.linalg.vector_norm(v, 2)
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    if not others:
        return v.abs()
    return torch.linalg.vector_norm(v, 2, dim=others, keepdim=True)


def _weight_from(v, g, dim):
    return v * (g / _norm_except_dim(v, dim))


class WeightNorm:
    """The forward pre-hook that computes ``weight = g * v / |v|``."""

    def __init__(self, name, dim):
        if dim is None:
            dim = -1
        self.name = name
        self.dim = dim

    def compute_weight(self, module):
        """The weight of `module` from its parameters ``_g`` and ``_v``."""
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return _weight_from(v, g, self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Install the hook on `module`; what :func:`weight_norm` does."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError("Cannot register two weight_norm hooks on the same "
                                   f"parameter {name}")
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError("The module passed to `WeightNorm` can't have uninitialized "
                             "parameters. Make sure to run the dummy forward before applying "
                             "weight normalization")
        del module._parameters[name]
        module.register_parameter(
            name + "_g", Parameter(_norm_except_dim(weight, fn.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module):
        """Make the weight of `module` a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Replace the parameter `name` by its norm ``_g`` and direction ``_v``.

    Args:
        module (Module): the module; it is changed and returned.
        name (str): the parameter. Default: ``"weight"``.
        dim (int, optional): each index along it has a norm; None means one norm. Default: 0.

    Deprecated; use ``torch.nn.utils.parametrizations.weight_norm``.
    """
    import warnings
    warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
                  "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning,
                  stacklevel=2)
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Undo :func:`weight_norm`; ValueError where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
