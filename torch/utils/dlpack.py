"""DLPack: tensors of other libraries, without a copy."""

import enum

import torch
from torch import _C

__all__ = ["DLDeviceType", "from_dlpack", "ReadOnlyTensorWrapper"]


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


class ReadOnlyTensorWrapper(torch.Tensor):
    """A tensor that can only be exported, and whose importers are told not to write to it."""

    _DLPACK_ALLOWED = frozenset({"__dlpack__", "__dlpack_device__"})

    @staticmethod
    def __new__(cls, tensor):
        return torch.Tensor._make_subclass(cls, tensor)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", str(func))
        if name not in cls._DLPACK_ALLOWED:
            raise RuntimeError(f"ReadOnlyTensorWrapper only supports DLPack export; {name!r} is "
                               "not allowed. Unwrap the tensor to operate on its data.")
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    def __dlpack__(self, *, max_version=None, **options):
        """A capsule of a DLPack version (1.0 or later) that knows of read-only memory."""
        with torch._C.DisableTorchFunctionSubclass():
            capsule = torch.Tensor.__dlpack__(self, max_version=max_version or (1, 0), **options)
        _mark_read_only(capsule)
        return capsule


def _mark_read_only(capsule):
    """Sets the flag DLPACK_FLAG_BITMASK_READ_ONLY of a DLManagedTensorVersioned."""
    import ctypes

    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    if not api.PyCapsule_IsValid(ctypes.py_object(capsule), b"dltensor_versioned"):
        raise BufferError("read-only memory can only be exported to DLPack 1.0 or later")
    address = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    # The version (two uint32), the manager's context and the deleter come before the flags.
    ctypes.c_uint64.from_address(address + 24).value |= 1
