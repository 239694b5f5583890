"""Named tuples that operators with several results return, such as ``torch.return_types.max``."""

from torch import _C

__all__ = []


def __getattr__(name):
    found = _C._return_types().get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__():
    return sorted(_C._return_types())


def pytree_register_structseq(cls):
    """Named tuples are plain tuples to `torch.utils._pytree`."""
