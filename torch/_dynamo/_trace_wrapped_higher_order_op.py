"""`TransformGetItemToIndex`: indexing by 0-dim tensors stays indexing inside the block."""

from torch.overrides import TorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(TorchFunctionMode):
    """Inside the block ``x[i]`` with 0-dim integer tensors selects, as under `vmap` it must."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        import torch

        if func is torch.Tensor.__getitem__:
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            integral = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
            if all(isinstance(i, torch.Tensor) and i.dim() == 0 and i.dtype in integral
                   for i in index):
                return torch.ops.aten.index(args[0], list(index))
        return func(*args, **(kwargs or {}))
