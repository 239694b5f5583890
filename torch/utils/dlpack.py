"""DLPack: tensors of other libraries, without a copy."""

import enum

import torch
from torch import _C

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """Kinds of devices as DLPack numbers them."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def to_dlpack(tensor):
    """A capsule over the memory of `tensor`; it can be consumed once."""
    return _C._to_dlpack(tensor)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of a capsule, or of an object with ``__dlpack__``.

    Args:
        device: where the result is wanted.
        copy: True for memory of its own; False to raise ValueError where that is not possible.
    """
    result = _C._from_dlpack(ext_tensor)
    if device is not None and torch.device(device).type != result.device.type:
        if copy is False:
            raise ValueError(f"cannot move DLPack tensor from {result.device} to {device} "
                             "without copying. Set copy=None or copy=True.")
        return result.to(device)
    return result.clone() if copy else result
