"""Tensors spread over a mesh of devices: placements are real, `DTensor` is a name."""

import torch
from torch._missing import missing_class, missing_function
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

DTensor = missing_class(__name__ + ".DTensor", torch.Tensor)
for _name in "distribute_module distribute_tensor empty full ones rand randn zeros".split():
    globals()[_name] = missing_function(f"{__name__}.{_name}")
del _name

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
           "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros"]
