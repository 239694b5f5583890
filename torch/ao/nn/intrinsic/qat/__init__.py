"""Fused modules that learn with simulated quantisation. Not written yet: making one raises."""

from torch._missing import add_missing

add_missing(globals(), "torch.ao.nn.intrinsic.qat", classes=(
    "ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d "
    "ConvReLU2d ConvReLU3d LinearReLU LinearBn1d"
))
