"""The former place of torch.ao.quantization.observer."""

from torch.ao.quantization.observer import *  # noqa: F401,F403
