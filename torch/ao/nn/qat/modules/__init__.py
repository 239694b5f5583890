"""Modules that learn with simulated quantisation. Not written yet: making one raises."""

from torch._missing import add_missing

add_missing(globals(), "torch.ao.nn.qat.modules", classes=(
    "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"
))
