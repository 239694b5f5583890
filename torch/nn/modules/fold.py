"""Sliding blocks: taken out of a batch (Unfold) or added up into one (Fold)."""
from __future__ import annotations

import torch.nn.functional as F

from .module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Add blocks (N, C * prod(kernel), L) up into (N, C, \\*output_size).

    Args:
        output_size, kernel_size (int or tuple): sizes of the result and of a block.
        dilation, padding, stride (int or tuple): as of a convolution.
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding,
                      self.stride)

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
                f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}")


class Unfold(Module):
    """Take the blocks of (N, C, \\*spatial) out as columns (N, C * prod(kernel), L).

    Args:
        kernel_size (int or tuple): size of a block.
        dilation, padding, stride (int or tuple): as of a convolution.
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
                f"padding={self.padding}, stride={self.stride}")
