"""`torch.distributed` as far as one process needs it.

Nothing can be communicated yet: `is_available()` is False, no process group can be made, and every
collective says that none has been made, as PyTorch's do. What programs and libraries name, test
with `isinstance` or use as configuration is here. `distributed_c10d` has the functions.
"""

import sys as _sys
from importlib import import_module as _import_module

_MODULES = frozenset("algorithms constants device_mesh distributed_c10d fsdp optim rpc tensor"
                     .split())


def is_available():
    """False: this build has no communication between processes."""
    return False


def is_torchelastic_launched():
    """Whether the launcher of PyTorch's elastic runs started this process."""
    import os

    return "TORCHELASTIC_RUN_ID" in os.environ


class DistError(RuntimeError):
    """What goes wrong between processes."""


class DistBackendError(DistError):
    """An error of a communication backend."""


class DistNetworkError(DistError):
    """An error of the network."""


class DistStoreError(DistError):
    """An error of a key-value store."""


class QueueEmptyError(DistStoreError):
    """A store's queue had nothing to give."""


def __getattr__(name):
    if name in _MODULES:
        return _import_module("torch.distributed." + name)
    if name in ("DeviceMesh", "init_device_mesh"):
        home = _import_module("torch.distributed.device_mesh")
    elif name.startswith("__"):
        raise AttributeError(name)
    else:
        home = _import_module("torch.distributed.distributed_c10d")
    if name != "group" and name not in getattr(home, "__all__"):
        raise AttributeError(f"module 'torch.distributed' has no attribute {name!r}")
    return getattr(home, name)


def __dir__():
    home = _import_module("torch.distributed.distributed_c10d")
    return sorted(set(vars(_sys.modules[__name__])) | _MODULES | set(home.__all__)
                  | {"DeviceMesh", "init_device_mesh"})
