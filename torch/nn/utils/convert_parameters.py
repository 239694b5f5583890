"""Parameters as one flat vector, and back."""
from __future__ import annotations

import torch

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _check_same_device(param, device):
    here = param.get_device() if param.is_cuda else -1
    if device is not None and here != device:
        raise TypeError("Found two parameters on different devices, this is currently not "
                        "supported.")
    return here


def parameters_to_vector(parameters):
    """All parameters flattened and joined, in order; differentiable."""
    device = None
    parts = []
    for param in parameters:
        device = _check_same_device(param, device)
        parts.append(param.view(-1))
    return torch.cat(parts)


def vector_to_parameters(vec, parameters) -> None:
    """Let the parameters view consecutive slices of `vec`."""
    if not isinstance(vec, torch.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {torch.typename(vec)}")
    device = None
    start = 0
    for param in parameters:
        device = _check_same_device(param, device)
        stop = start + param.numel()
        param.data = vec[start:stop].view_as(param).data
        start = stop
