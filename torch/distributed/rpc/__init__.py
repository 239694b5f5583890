"""Remote procedure calls: there are none; what would make one says that RPC is not initialised."""

from torch._missing import missing_function
from torch.distributed.rpc import api
from torch.distributed.rpc.api import (
    get_worker_info,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)


def is_available():
    """False: this build has no communication between processes."""
    return False


init_rpc = missing_function(__name__ + ".init_rpc")

__all__ = ["api", "get_worker_info", "init_rpc", "is_available", "remote", "rpc_async",
           "rpc_sync", "shutdown"]
