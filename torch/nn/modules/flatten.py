"""Reshaping as layers."""
from __future__ import annotations

from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Join the dimensions `start_dim` to `end_dim` into one.

    Args:
        start_dim (int): first of them. Default: 1.
        end_dim (int): last of them. Default: -1.
    """

    __constants__ = ["start_dim", "end_dim"]
    start_dim: int
    end_dim: int

    def __init__(self, start_dim=1, end_dim=-1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split dimension `dim` into several.

    Args:
        dim (int): the dimension.
        unflattened_size (tuple or list of int, or torch.Size): the new sizes.

    Raises:
        TypeError: where `unflattened_size` is no sequence of ints.
    """

    __constants__ = ["dim", "unflattened_size"]
    dim: int
    unflattened_size: tuple[int, ...]

    def __init__(self, dim, unflattened_size) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def _require_tuple_int(self, input) -> None:
        if not isinstance(input, (tuple, list)):
            raise TypeError("unflattened_size must be a tuple of ints, but found type "
                            f"{type(input).__name__}")
        for index, element in enumerate(input):
            if not isinstance(element, int):
                raise TypeError("unflattened_size must be tuple of ints, but found element of "
                                f"type {type(element).__name__} at pos {index}")

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
