"""Settings of the binding of processes to nodes, as launchers hand them around."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["AffinityMode", "NumaOptions"]


class AffinityMode(str, Enum):
    """What a process is bound to."""

    NODE = "node"
    SOCKET = "socket"
    EXCLUSIVE = "exclusive"
    CORE_COMPLEX = "core-complex"


@dataclass(frozen=True)
class NumaOptions:
    """How processes are bound, and whether a failure is ignored."""

    affinity_mode: AffinityMode
    should_fall_back_if_binding_fails: bool = False
