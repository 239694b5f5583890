"""The functions of `torch.distributed.rpc`; all of them need an agent, which cannot be started."""

import functools


def _is_current_rpc_agent_set():
    return False


def _require_initialized(func):
    """Decorator: the function raises RuntimeError as long as RPC has not been started."""
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        if not _is_current_rpc_agent_set():
            raise RuntimeError("RPC has not been initialized. Call "
                               "torch.distributed.rpc.init_rpc first.")
        return func(*args, **kwargs)

    return wrapper


@_require_initialized
def rpc_sync(to, func, args=None, kwargs=None, timeout=-1.0):
    """Calls a function in another process and waits for its result."""


@_require_initialized
def rpc_async(to, func, args=None, kwargs=None, timeout=-1.0):
    """Calls a function in another process; a Future of its result."""


@_require_initialized
def remote(to, func, args=None, kwargs=None, timeout=-1.0):
    """Calls a function in another process; a reference to the result, which stays there."""


@_require_initialized
def get_worker_info(worker_name=None):
    """What is known of a worker."""


@_require_initialized
def shutdown(graceful=True, timeout=0):
    """Ends the agent of this process."""


@_require_initialized
def _all_gather(obj, worker_names=None, timeout=-1.0):
    """One object of every worker."""
