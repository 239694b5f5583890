"""Modules that learn with simulated dynamic quantisation. Not written yet: making one raises."""

from torch._missing import add_missing

add_missing(globals(), "torch.ao.nn.qat.dynamic", classes=(
    "Linear"
))
