"""Page-locked copies of batches. Without an accelerator memory is never pinned."""

import collections.abc

import torch


def pin_memory(data, device=None):
    """`data` with its tensors, at any depth, in page-locked memory."""
    if isinstance(data, torch.Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        pinned = {k: pin_memory(v, device) for k, v in data.items()}
        return pinned if type(data) is dict else type(data)(pinned)
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[pin_memory(v, device) for v in data])
    if isinstance(data, (tuple, list)):
        return [pin_memory(v, device) for v in data]
    return data
