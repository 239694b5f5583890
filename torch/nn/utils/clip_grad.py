"""Clipping of gradients by norm and by value."""
from __future__ import annotations

import types

import torch
from torch import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
           "get_total_norm"]


def _no_grad(function):
    import functools

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)

    return wrapper


def _by_device_and_dtype(tensors):
    """Lists of tensors that one fused call can take."""
    groups = {}
    for tensor in tensors:
        groups.setdefault((tensor.device, tensor.dtype), []).append(tensor)
    return groups


def _use_foreach(foreach):
    return foreach is not False and hasattr(torch, "_foreach_norm")


def _norms(tensors, norm_type, foreach):
    if not _use_foreach(foreach):
        return [torch.linalg.vector_norm(tensor, norm_type) for tensor in tensors]
    norms = []
    for group in _by_device_and_dtype(tensors).values():
        norms.extend(torch._foreach_norm(group, norm_type))
    return norms


@_no_grad
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all `tensors` as if they were one vector.

    Args:
        tensors (iterable of Tensor, or a Tensor): usually gradients.
        norm_type (float): the p of the norm, or ``inf``. Default: 2.
        error_if_nonfinite (bool): whether a nan or infinite norm raises RuntimeError.
        foreach (bool, optional): False forbids the fused kernels.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if len(tensors) == 0:
        return torch.tensor(0.0)
    first_device = tensors[0].device
    norms = _norms(tensors, norm_type, foreach)
    total_norm = torch.linalg.vector_norm(
        torch.stack([norm.to(first_device) for norm in norms]), norm_type)
    if error_if_nonfinite and torch.logical_or(total_norm.isnan(), total_norm.isinf()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
    return total_norm


def _gradients(parameters):
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p.grad for p in parameters if p.grad is not None]


@_no_grad
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients so that, `total_norm` being their norm, it is at most `max_norm`."""
    grads = _gradients(parameters)
    max_norm = float(max_norm)
    if len(grads) == 0:
        return
    factor = torch.clamp(max_norm / (total_norm + 1e-6), max=1.0)
    # Multiplying by 1 is cheaper than asking a device whether the norm is too large.
    for (device, _), group in _by_device_and_dtype(grads).items():
        factor_here = factor.to(device)
        if foreach is not False and hasattr(torch, "_foreach_mul_"):
            torch._foreach_mul_(group, factor_here)
        else:
            for grad in group:
                grad.mul_(factor_here)


@_no_grad
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False,
                    foreach=None):
    """Scale all gradients in place so that their joint norm is at most `max_norm`.

    Args:
        parameters (iterable of Tensor, or a Tensor): those with a ``grad`` are clipped.
        max_norm (float): the limit.
        norm_type (float): the p of the norm, or ``inf``. Default: 2.
        error_if_nonfinite (bool): whether a nan or infinite norm raises RuntimeError.
        foreach (bool, optional): False forbids the fused kernels.

    Returns:
        the norm before clipping.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        is_generator = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if is_generator and len(parameters) == 0:
            import warnings
            warnings.warn("`parameters` is an empty generator, no gradient clipping will "
                          "occur.", stacklevel=3)
    grads = [p.grad for p in parameters if p.grad is not None]
    total_norm = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False,
                   foreach=None):
    """Deprecated; use :func:`clip_grad_norm_`."""
    import warnings
    warnings.warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
                  "`torch.nn.utils.clip_grad_norm_`.", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@_no_grad
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clamp every element of the gradients to [-clip_value, clip_value], in place."""
    clip_value = float(clip_value)
    for group in _by_device_and_dtype(_gradients(parameters)).values():
        if foreach is not False and hasattr(torch, "_foreach_clamp_min_"):
            torch._foreach_clamp_min_(group, -clip_value)
            torch._foreach_clamp_max_(group, clip_value)
        else:
            for grad in group:
                grad.clamp_(min=-clip_value, max=clip_value)
