"""Names for annotations: what functions of this package take and return."""

import os
from typing import IO, Any, List, Sequence, Tuple, Union

import torch
from torch import (  # noqa: F401
    Size,
    Tensor,
    device as _device,
    dtype as _dtype,
    layout as _layout,
)

__all__ = ["Number", "Device", "FileLike", "Storage"]

from builtins import (  # noqa: E402,F401
    bool as _bool,
    bytes as _bytes,
    complex as _complex,
    float as _float,
    int as _int,
    str as _str,
)

_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
_TensorOrOptionalTensors = Union[Tensor, Sequence[Any]]
_TensorOrTensorsOrGradEdge = Union[Tensor, Sequence[Tensor], Any]
_size = Union[Size, List[int], Tuple[int, ...]]
_symsize = Union[Size, Sequence[int]]
_dispatchkey = Union[str, Any]
IntLikeType = int
FloatLikeType = float
BoolLikeType = bool
py_sym_types = ()
PySymType = Union[int, float, bool]
Number = Union[int, float, bool]
_Number = (int, float, bool)
FileLike = Union[str, "os.PathLike[str]", IO[bytes]]
Device = Union[_device, str, int, None]
_qscheme = Any


def __getattr__(name):
    if name == "Storage":
        value = globals()[name] = torch.storage.UntypedStorage
        return value
    if name in ("SymInt", "SymFloat", "SymBool"):
        return getattr(torch, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
