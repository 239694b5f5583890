"""The former place of torch.ao.quantization.qconfig."""

from torch.ao.quantization.qconfig import *  # noqa: F401,F403
