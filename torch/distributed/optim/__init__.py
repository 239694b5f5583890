"""Optimizers spread over processes: the names only."""

from torch._missing import missing_class, missing_function
from torch.optim import Optimizer

DistributedOptimizer = missing_class(__name__ + ".DistributedOptimizer")
PostLocalSGDOptimizer = missing_class(__name__ + ".PostLocalSGDOptimizer", Optimizer)
ZeroRedundancyOptimizer = missing_class(__name__ + ".ZeroRedundancyOptimizer", Optimizer)
as_functional_optim = missing_function(__name__ + ".as_functional_optim")

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer",
           "as_functional_optim"]
