"""Modules that learn with simulated quantisation. Not written yet."""

from torch.ao.nn.qat import dynamic, modules  # noqa: F401
from torch.ao.nn.qat.modules import (  # noqa: F401
    Conv1d,
    Conv2d,
    Conv3d,
    Embedding,
    EmbeddingBag,
    Linear,
)
