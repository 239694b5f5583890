"""Copies of a module on several devices."""
from __future__ import annotations

import torch

from ._devices import index_of

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """One replica of `network` per device, whose tensors are copies of the originals.

    Args:
        network (Module): stays as it is.
        devices (sequence): GPUs.
        detach (bool): whether the copies are cut off from autograd. Default: ``False``.
    """
    devices = [torch.device("cuda", index_of(device)) for device in devices]
    return [_replica(network, device, detach, {}) for device in devices]


def _replica(module, device, detach, done):
    """The replica of one module; `done` keeps modules with several names shared."""
    if module in done:
        return done[module]
    replica = module._replicate_for_data_parallel()
    replica._former_parameters = {}
    done[module] = replica
    for key, child in module._modules.items():
        replica._modules[key] = (None if child is None
                                 else _replica(child, device, detach, done))
    for key, param in module._parameters.items():
        if param is None:
            replica._parameters[key] = None
            continue
        copy = param.to(device)
        # A plain attribute: the copy is no leaf, so it cannot be a Parameter.
        setattr(replica, key, copy.detach() if detach else copy)
        replica._former_parameters[key] = copy
    for key, buffer in module._buffers.items():
        replica._buffers[key] = None if buffer is None else buffer.to(device)
    return replica
