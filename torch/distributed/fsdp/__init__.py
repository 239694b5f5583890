"""Fully sharded training: settings are real, what needs processes are names."""

from dataclasses import dataclass

from torch.distributed._absent import absent_class, absent_function
from torch.distributed.fsdp.api import __all__ as _settings
from torch.distributed.fsdp.fully_sharded_data_parallel import *  # noqa: F401,F403

FSDPModule = absent_class("FSDPModule", __name__)
UnshardHandle = absent_class("UnshardHandle", __name__)
fully_shard = absent_function("fully_shard", __name__)
register_fsdp_forward_method = absent_function("register_fsdp_forward_method", __name__)


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
