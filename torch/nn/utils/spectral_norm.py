"""Spectral normalization by a hook (Miyato et al. 2018); see also `parametrizations`."""
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.nn.parameter import Parameter

__all__ = ["SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook",
           "spectral_norm", "remove_spectral_norm"]


class SpectralNorm:
    """The forward pre-hook that divides the weight by its largest singular value."""

    _version = 1  # 1 keeps v in the checkpoint too

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        """`weight` as a matrix whose rows go along `dim`."""
        if self.dim != 0:
            others = [d for d in range(weight.dim()) if d != self.dim]
            weight = weight.permute(self.dim, *others)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        """The normalized weight; the singular vectors are improved first if told so."""
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                # The buffers change again at the next call: backward needs these values.
                u = u.clone(memory_format=torch.contiguous_format)
                v = v.clone(memory_format=torch.contiguous_format)
        sigma = torch.dot(u, torch.mv(matrix, v))
        return weight / sigma

    def remove(self, module):
        """Make the weight of `module` a parameter again."""
        with torch.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        delattr(module, self.name + "_u")
        delattr(module, self.name + "_v")
        delattr(module, self.name + "_orig")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name,
                self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat, u, target_sigma):
        """The v with ``v = normalize(W.T u)`` and ``u . W v = target_sigma``."""
        gram = weight_mat.t().mm(weight_mat)
        v = torch.linalg.multi_dot(
            [torch.linalg.pinv(gram), weight_mat.t(), u.unsqueeze(1)]).squeeze(1)
        return v.mul_(target_sigma / torch.dot(u, torch.mv(weight_mat, v)))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Install the hook on `module`; what :func:`spectral_norm` does."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError("Cannot register two spectral_norm hooks on the same "
                                   f"parameter {name}")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(
                f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, torch.nn.parameter.UninitializedParameter):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized "
                             "parameters. Make sure to run the dummy forward before applying "
                             "spectral normalization")
        with torch.no_grad():
            matrix = fn.reshape_weight_to_matrix(weight)
            rows, cols = matrix.size()
            u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=fn.eps)
            v = F.normalize(weight.new_empty(cols).normal_(0, 1), dim=0, eps=fn.eps)
        delattr(module, fn.name)
        module.register_parameter(fn.name + "_orig", weight)
        # A plain tensor until the first forward: its values must not be a second parameter.
        setattr(module, fn.name, weight.data)
        module.register_buffer(fn.name + "_u", u)
        module.register_buffer(fn.name + "_v", v)
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(SpectralNormStateDictHook(fn))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(fn))
        return fn


class SpectralNormLoadStateDictPreHook:
    """Computes the vector v that checkpoints of the first version lack."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys,
                 unexpected_keys, error_msgs):
        fn = self.fn
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version", None)
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        if version is None and all(
                key + suffix in state_dict for suffix in ("_orig", "_u", "_v")) \
                and key not in state_dict:
            return  # saved without metadata, but by a version that had v
        has_missing_keys = False
        for suffix in ("_orig", "", "_u"):
            if key + suffix not in state_dict:
                has_missing_keys = True
                if strict:
                    missing_keys.append(key + suffix)
        if has_missing_keys:
            return
        with torch.no_grad():
            original = state_dict[key + "_orig"]
            weight = state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = fn.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = fn._solve_v_and_rescale(
                matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Notes the version of the layout in the checkpoint's metadata."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide the parameter `name` by its largest singular value before each forward.

    Args:
        module (Module): the module; it is changed and returned.
        name (str): the parameter. Default: ``"weight"``.
        n_power_iterations (int): steps of the power method per training forward. Default: 1.
        eps (float): smallest norm to divide by. Default: 1e-12.
        dim (int, optional): the output dimension; None means 1 for transposed convolutions
            and 0 else.
    """
    if dim is None:
        transposed = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d,
                      torch.nn.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Undo :func:`spectral_norm`; ValueError where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for key, hook in module._state_dict_hooks.items():
        if isinstance(hook, SpectralNormStateDictHook) and hook.fn.name == name:
            del module._state_dict_hooks[key]
            break
    for key, hook in module._load_state_dict_pre_hooks.items():
        inner = getattr(hook, "hook", hook)
        if isinstance(inner, SpectralNormLoadStateDictPreHook) and inner.fn.name == name:
            del module._load_state_dict_pre_hooks[key]
            break
    return module
