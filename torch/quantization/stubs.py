"""The former place of torch.ao.quantization.stubs."""

from torch.ao.quantization.stubs import *  # noqa: F401,F403
