"""Fully sharded training: settings are real, what needs processes are names."""

from dataclasses import dataclass

from torch._missing import missing_class, missing_function
from torch.distributed.fsdp.api import __all__ as _settings
from torch.distributed.fsdp.fully_sharded_data_parallel import *  # noqa: F401,F403

FSDPModule = missing_class(__name__ + ".FSDPModule")
UnshardHandle = missing_class(__name__ + ".UnshardHandle")
fully_shard = missing_function(__name__ + ".fully_shard")
register_fsdp_forward_method = missing_function(__name__ + ".register_fsdp_forward_method")


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """dtypes of parameters, gradients and outputs while they are computed with."""

    param_dtype: "torch.dtype | None" = None  # noqa: F821
    reduce_dtype: "torch.dtype | None" = None  # noqa: F821
    output_dtype: "torch.dtype | None" = None  # noqa: F821
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters lie in the CPU's memory."""

    pin_memory: bool = True


__all__ = ["FullyShardedDataParallel", "FSDPModule", "UnshardHandle", "fully_shard",
           "register_fsdp_forward_method", "MixedPrecisionPolicy", "OffloadPolicy",
           "CPUOffloadPolicy", *_settings]
