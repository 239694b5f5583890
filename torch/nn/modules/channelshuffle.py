"""Channels of groups interleaved (Zhang et al. 2018)."""
from __future__ import annotations

import torch.nn.functional as F

from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Divide the channels of (N, C, \\*) into `groups` groups and interleave them."""

    __constants__ = ["groups"]
    groups: int

    def __init__(self, groups) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
