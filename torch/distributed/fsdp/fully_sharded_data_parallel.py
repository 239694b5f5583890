"""`FullyShardedDataParallel`: the name, and the settings that are used with it."""

import torch
from torch._missing import missing_class
from torch.distributed.fsdp.api import *  # noqa: F401,F403
from torch.distributed.fsdp.api import __all__ as _settings

FullyShardedDataParallel = missing_class(__name__ + ".FullyShardedDataParallel", torch.nn.Module)

__all__ = ["FullyShardedDataParallel", *_settings]
