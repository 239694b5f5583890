"""Fused quantised modules. Not written yet: making one raises."""

from torch._missing import add_missing

add_missing(globals(), "torch.ao.nn.intrinsic.quantized", classes=(
    "BNReLU2d BNReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearReLU LinearLeakyReLU "
    "LinearTanh ConvAdd2d ConvAddReLU2d"
))
