"""Which devices the modules of this package run on."""
from __future__ import annotations

import torch


def available():
    """Indices of the GPUs; none where there is no GPU support."""
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_available():
        return []
    return list(range(cuda.device_count()))


def index_of(device):
    """The index of a GPU given as a number, a name or a torch.device."""
    if isinstance(device, int):
        return device
    device = torch.device(device)
    if device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return device.index if device.index is not None else torch.cuda.current_device()


def place(device):
    """The device that a number, a name or a torch.device means; -1 and "cpu" are the CPU."""
    if device == -1 or device == "cpu" or device == torch.device("cpu"):
        return torch.device("cpu")
    return torch.device("cuda", index_of(device))
