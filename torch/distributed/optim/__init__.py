"""Optimizers spread over processes: the names only."""

from torch.distributed._absent import absent_class, absent_function
from torch.optim import Optimizer

DistributedOptimizer = absent_class("DistributedOptimizer", __name__)
PostLocalSGDOptimizer = absent_class("PostLocalSGDOptimizer", __name__, (Optimizer,))
ZeroRedundancyOptimizer = absent_class("ZeroRedundancyOptimizer", __name__, (Optimizer,))
as_functional_optim = absent_function("as_functional_optim", __name__)

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer",
           "as_functional_optim"]
