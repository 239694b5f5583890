"""One module in several processes, gradients averaged."""
from __future__ import annotations

from contextlib import contextmanager

import torch
from torch.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


def _process_group(process_group):
    """The group to use and the module torch.distributed; errors where there is none."""
    try:
        import torch.distributed as dist
    except ImportError:
        raise RuntimeError("DistributedDataParallel needs torch.distributed, which this build "
                           "does not have") from None
    if not dist.is_available():
        raise RuntimeError("DistributedDataParallel needs torch.distributed, which is not "
                           "available in this build")
    if not dist.is_initialized():
        raise ValueError("Default process group has not been initialized, please make sure to "
                         "call init_process_group.")
    return process_group if process_group is not None else dist.group.WORLD, dist


class DistributedDataParallel(Module):
    """Averages the gradients of `module` over all processes of a group after each backward.

    Args:
        module (Module): the module; parameters and buffers of rank 0 are sent to the others.
        device_ids (list, optional): at most one device, for modules on a GPU.
        process_group (ProcessGroup, optional): the processes. Default: all.
        broadcast_buffers (bool): whether buffers of rank 0 are sent before each forward.
        gradient_as_bucket_view, bucket_cap_mb, find_unused_parameters, static_graph, ...:
            accepted as hints about how gradients are communicated.

    Raises:
        ValueError: before ``init_process_group``.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0,
                 broadcast_buffers=True, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False,
                 delay_all_reduce_named_params=None, param_to_hook_all_reduce=None,
                 mixed_precision=None, device_mesh=None, skip_all_reduce_unused_params=False,
                 bucket_cap_mb_list=None, batched_grad_copy=False, forward_sync_buffers=None,
                 lazy_bucket_allocation=False):
        super().__init__()
        self.process_group, dist = _process_group(process_group)
        self._trained = [p for p in module.parameters() if p.requires_grad]
        if not self._trained:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't "
                               "have any parameter that requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError(
                "device_ids can only be None or contain a single element.")
        if mixed_precision is not None or device_mesh is not None:
            raise NotImplementedError(
                "DistributedDataParallel: mixed_precision and device_mesh")
        self.module = module
        self.device_ids = device_ids
        self.output_device = output_device
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.bucket_bytes = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 2 ** 20)
        if init_sync:
            self._broadcast([*module.parameters(), *module.buffers()])
        self._install_reduction(dist)

    def _broadcast(self, tensors):
        import torch.distributed as dist
        for tensor in tensors:
            dist.broadcast(tensor.detach(), 0, group=self.process_group)

    def _install_reduction(self, dist):
        """Reduce all gradients when the last of them has been accumulated."""
        self._waiting = set()

        def on_gradient(param):
            if not self.require_backward_grad_sync:
                return
            self._waiting.discard(id(param))
            if not self._waiting:
                self._reduce(dist)

        self._handles = [param.register_post_accumulate_grad_hook(on_gradient)
                         for param in self._trained]

    def _reduce(self, dist):
        world = dist.get_world_size(self.process_group)
        for bucket in self._buckets():
            flat = torch.cat([param.grad.reshape(-1) for param in bucket])
            dist.all_reduce(flat, group=self.process_group)
            flat.div_(world)
            start = 0
            for param in bucket:
                stop = start + param.grad.numel()
                param.grad.copy_(flat[start:stop].view_as(param.grad))
                start = stop

    def _buckets(self):
        """Parameters with gradients, in groups of one dtype and at most `bucket_bytes`."""
        bucket, size = [], 0
        for param in self._trained:
            if param.grad is None:
                continue
            if bucket and (size >= self.bucket_bytes
                           or bucket[0].grad.dtype != param.grad.dtype):
                yield bucket
                bucket, size = [], 0
            bucket.append(param)
            size += param.grad.numel() * param.grad.element_size()
        if bucket:
            yield bucket

    def forward(self, *inputs, **kwargs):
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            if self.find_unused_parameters:
                raise NotImplementedError("DistributedDataParallel: find_unused_parameters")
            self._waiting = {id(param) for param in self._trained}
        if self.broadcast_buffers and self.require_backward_grad_sync and self.training:
            self._broadcast(self.module.buffers())
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self):
        """Within it gradients are accumulated locally only."""
        old = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = old
