"""`FullyShardedDataParallel`: the name, and the settings that are used with it."""

import torch
from torch.distributed._absent import absent_class
from torch.distributed.fsdp.api import *  # noqa: F401,F403
from torch.distributed.fsdp.api import __all__ as _settings

FullyShardedDataParallel = absent_class("FullyShardedDataParallel", __name__, (torch.nn.Module,))

__all__ = ["FullyShardedDataParallel", *_settings]
