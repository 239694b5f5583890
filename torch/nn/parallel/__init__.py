"""Modules run on several devices or in several processes."""
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter

__all__ = ["replicate", "scatter", "parallel_apply", "gather", "data_parallel",
           "DataParallel", "DistributedDataParallel"]


def DistributedDataParallelCPU(*args, **kwargs):
    """Deprecated; use :class:`DistributedDataParallel`."""
    import warnings
    warnings.warn("`torch.nn.parallel.DistributedDataParallelCPU` is deprecated, please use "
                  "`torch.nn.parallel.DistributedDataParallel` instead.", FutureWarning,
                  stacklevel=2)
    return DistributedDataParallel(*args, **kwargs)
