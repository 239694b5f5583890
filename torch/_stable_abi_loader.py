"""Opens compiled extensions that are built on the stable C ABI (docs/ABI.md).

They name libraries of a PyTorch installation. Small stand-ins with those names are opened first;
the functions themselves are in the core.
"""

import ctypes
import os

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "standins")
_NAMES = ("libc10.so", "libtorch_cpu.so", "libtorch.so", "libc10_cuda.so", "libtorch_cuda.so")
_CUDA_RUNTIME = "libcudart.so.13"
_opened = []


def prepare():
    """Makes the names of the libraries known to the loader. Needed once."""
    if _opened:
        return
    from torch import _ops

    _ops._connect_compiled_code()
    for name in _NAMES:
        _opened.append(ctypes.CDLL(os.path.join(_FOLDER, name), ctypes.RTLD_GLOBAL))
    try:
        _opened.append(ctypes.CDLL(_CUDA_RUNTIME, ctypes.RTLD_GLOBAL))
    except OSError:
        _opened.append(ctypes.CDLL(os.path.join(_FOLDER, _CUDA_RUNTIME), ctypes.RTLD_GLOBAL))


def load(path):
    """Opens the library at `path`; what it registers appears in `torch.ops`."""
    prepare()
    return ctypes.CDLL(path)
