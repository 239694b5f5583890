"""The former place of torch.ao.quantization.fuse_modules."""

from torch.ao.quantization.fuse_modules import *  # noqa: F401,F403
