"""One module on several GPUs of one process."""
from __future__ import annotations

from typing import Generic, TypeVar

import torch
from torch.nn.modules.module import Module

from ._devices import available, index_of
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]

T = TypeVar("T", bound=Module)


class DataParallel(Module, Generic[T]):
    """Divides each batch among GPUs; without a GPU it just calls the module.

    Args:
        module (Module): the module; its parameters are on the first device.
        device_ids (sequence, optional): the GPUs. Default: all.
        output_device (int or device, optional): where outputs go. Default: the first.
        dim (int): dimension of the batch. Default: 0.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0) -> None:
        super().__init__()
        gpus = available()
        if not gpus:
            self.module = module
            self.device_ids = []
            return
        if device_ids is None:
            device_ids = gpus
        if not device_ids:
            raise RuntimeError("no available devices were found")
        if output_device is None:
            output_device = device_ids[0]
        self.dim = dim
        self.module = module
        self.device_ids = [index_of(device) for device in device_ids]
        self.output_device = index_of(output_device)
        self.src_device_obj = torch.device("cuda", self.device_ids[0])
        if len(self.device_ids) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        for tensor in (*self.module.parameters(), *self.module.buffers()):
            if tensor.device != self.src_device_obj:
                raise RuntimeError(
                    "module must have its parameters and buffers on device "
                    f"{self.src_device_obj} (device_ids[0]) but found one of them on device: "
                    f"{tensor.device}")
        args, keywords = self.scatter(inputs, kwargs, self.device_ids)
        if not args and not keywords:
            args, keywords = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*args[0], **keywords[0])
        replicas = self.replicate(self.module, self.device_ids[:len(args)])
        outputs = self.parallel_apply(replicas, args, keywords)
        return self.gather(outputs, self.output_device)

    def replicate(self, module, device_ids):
        """One copy of the module per device."""
        return replicate(module, device_ids, not torch.is_grad_enabled())

    def scatter(self, inputs, kwargs, device_ids):
        """The arguments divided among the devices."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """The outputs of the replicas."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[:len(replicas)])

    def gather(self, outputs, output_device):
        """The outputs joined on one device."""
        return gather(outputs, output_device, dim=self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0,
                  module_kwargs=None):
    """Call `module` once on several GPUs; arguments as of :class:`DataParallel`.

    Raises:
        RuntimeError: where there is no GPU.
    """
    if not isinstance(inputs, tuple):
        inputs = (inputs,) if inputs is not None else ()
    gpus = available()
    if not gpus:
        raise RuntimeError("device type could not be determined")
    device_ids = gpus if device_ids is None else device_ids
    if not device_ids:
        raise RuntimeError("no available devices were found")
    wrapper = DataParallel(module, device_ids, output_device, dim)
    return wrapper(*inputs, **(module_kwargs or {}))
