"""torch.multiprocessing: Python's multiprocessing, with tensors that travel in shared memory.

Everything of `multiprocessing` is here under the same name. A tensor put into a queue or given to a
process is moved to shared memory once; what arrives on the other side is a tensor on that memory.
"""

import multiprocessing
from multiprocessing import *  # noqa: F403

from .reductions import init_reductions
from .spawn import (  # noqa: F401
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = ["set_sharing_strategy", "get_sharing_strategy", "get_all_sharing_strategies"]
__all__ += multiprocessing.__all__

_all_sharing_strategies = {"file_descriptor", "file_system"}
_sharing_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy):
    """Chooses how CPU tensors are shared.

    Args:
        new_strategy: ``"file_descriptor"`` passes descriptors of nameless memory, which vanishes
            with its last user; ``"file_system"`` passes names, which needs no open descriptors.
    """
    global _sharing_strategy
    if new_strategy not in _all_sharing_strategies:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {_all_sharing_strategies}"
        )
    _sharing_strategy = new_strategy


def get_sharing_strategy():
    """The current way of sharing CPU tensors."""
    return _sharing_strategy


def get_all_sharing_strategies():
    """All ways of sharing CPU tensors here."""
    return _all_sharing_strategies


def __getattr__(name):
    if name in ("queue", "pool"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


init_reductions()
