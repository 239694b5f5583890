"""Batches divided among devices and put together again."""
from __future__ import annotations

import torch
from torch import Tensor

from ._devices import place

__all__ = ["scatter", "scatter_kwargs", "gather"]


def _is_namedtuple(obj):
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def _scatter_tensor(tensor, target_gpus, dim):
    if len(target_gpus) == 0:
        raise RuntimeError("Expected at least one device to scatter to")
    chunks = tensor.chunk(len(target_gpus), dim)
    return tuple(chunk.to(place(gpu)) for chunk, gpu in zip(chunks, target_gpus))


def scatter(inputs, target_gpus, dim=0):
    """One copy of the structure `inputs` per device, its tensors divided along `dim`.

    Other objects are repeated.
    """

    def scatter_map(obj):
        if isinstance(obj, Tensor):
            return _scatter_tensor(obj, target_gpus, dim)
        if _is_namedtuple(obj):
            return [type(obj)(*args) for args in zip(*map(scatter_map, obj))]
        if isinstance(obj, tuple) and len(obj) > 0:
            return list(zip(*map(scatter_map, obj)))
        if isinstance(obj, list) and len(obj) > 0:
            return [list(items) for items in zip(*map(scatter_map, obj))]
        if isinstance(obj, dict) and len(obj) > 0:
            return [type(obj)(items) for items in zip(*map(scatter_map, obj.items()))]
        return [obj for _ in target_gpus]

    return scatter_map(inputs)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """`scatter` of positional and keyword arguments; both lists get the same length."""
    scattered = scatter(inputs, target_gpus, dim) if inputs else []
    scattered_kwargs = scatter(kwargs, target_gpus, dim) if kwargs else []
    missing = len(scattered_kwargs) - len(scattered)
    scattered = list(scattered) + [() for _ in range(missing)]
    scattered_kwargs = list(scattered_kwargs) + [{} for _ in range(-missing)]
    return tuple(scattered), tuple(scattered_kwargs)


def gather(outputs, target_device, dim=0):
    """The structures `outputs` of several devices as one, tensors joined along `dim`."""
    first = outputs[0]
    if isinstance(first, Tensor):
        if any(out.device.type == "cpu" for out in outputs):
            raise AssertionError("Gather function not implemented for CPU tensors")
        if isinstance(target_device, int) and target_device >= 0:
            target_device = torch.device("cuda", target_device)
        elif target_device == -1:
            target_device = "cpu"
        if all(out.dim() == 0 for out in outputs) and dim == 0:
            outputs = [out.view(1) for out in outputs]
        return torch.cat([out.to(target_device) for out in outputs], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(first) == len(out) for out in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([out[key] for out in outputs], target_device, dim))
                           for key in first)
    if _is_namedtuple(first):
        return type(first)._make(gather(list(items), target_device, dim)
                                 for items in zip(*outputs))
    return type(first)(gather(list(items), target_device, dim) for items in zip(*outputs))
