"""The former place of torch.ao.quantization.fake_quantize."""

from torch.ao.quantization.fake_quantize import *  # noqa: F401,F403
