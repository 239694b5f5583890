"""Several modules called at the same time, each in a thread of its own."""
from __future__ import annotations

import threading

import torch
from torch import Tensor

from ._devices import index_of

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj):
    """The first tensor in a nested structure, or None."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, dict):
        obj = obj.items()
    if isinstance(obj, (list, tuple)) or hasattr(obj, "__iter__") and not isinstance(obj, str):
        for item in obj:
            found = get_a_var(item)
            if found is not None:
                return found
    return None


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """``[module(*args, **kwargs) ...]``, one thread per module.

    Args:
        modules (sequence of Module): the modules.
        inputs (sequence): the positional arguments of each (a tuple), or its one argument.
        kwargs_tup (sequence of dict, optional): keyword arguments of each.
        devices (sequence, optional): the GPU of each.
    """
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number "
                             f"of inputs {len(inputs)}")
    kwargs_tup = kwargs_tup if kwargs_tup is not None else [{}] * len(modules)
    devices = [None] * len(modules) if devices is None else [
        None if d is None else index_of(d) for d in devices]
    results = {}
    grad_enabled = torch.is_grad_enabled()

    def work(i, module, args, kwargs, device):
        torch.set_grad_enabled(grad_enabled)
        if not isinstance(args, (list, tuple)):
            args = (args,)
        try:
            if device is None:
                results[i] = module(*args, **kwargs)
            else:
                with torch.cuda.device(device):
                    results[i] = module(*args, **kwargs)
        except Exception as error:  # raised again in the caller's thread
            results[i] = _Failure(error, i, device)

    jobs = list(zip(range(len(modules)), modules, inputs, kwargs_tup, devices))
    if len(jobs) == 1:
        work(*jobs[0])
        torch.set_grad_enabled(grad_enabled)
    else:
        threads = [threading.Thread(target=work, args=job) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    outputs = [results[i] for i in range(len(modules))]
    for output in outputs:
        if isinstance(output, _Failure):
            raise output.error
    return outputs


class _Failure:
    def __init__(self, error, index, device):
        self.error = error
        self.where = f"in replica {index} on device {device}"
