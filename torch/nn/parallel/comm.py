"""Tensors moved among the GPUs of one process."""
import torch

from .scatter_gather import _scatter_tensor, gather

__all__ = ["broadcast", "scatter", "gather"]


def broadcast(tensor, devices):
    """A copy of `tensor` on each device."""
    return tuple(tensor.to(torch.device("cuda", device) if isinstance(device, int) else device)
                 for device in devices)


def scatter(tensor, devices, chunk_sizes=None, dim=0):
    """`tensor` divided along `dim`, a part on each device."""
    if chunk_sizes is None:
        return _scatter_tensor(tensor, devices, dim)
    return tuple(
        chunk.to(torch.device("cuda", device) if isinstance(device, int) else device)
        for chunk, device in zip(tensor.split(chunk_sizes, dim), devices))
