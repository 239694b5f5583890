"""Tensors spread over a mesh of devices: placements are real, `DTensor` is a name."""

import torch
from torch.distributed._absent import absent_class, absent_function
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

DTensor = absent_class("DTensor", __name__, (torch.Tensor,), "A tensor spread over devices.")
for _name in "distribute_module distribute_tensor empty full ones rand randn zeros".split():
    globals()[_name] = absent_function(_name, __name__)
del _name

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
           "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros"]
