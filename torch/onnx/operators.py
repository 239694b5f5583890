"""Operators that an exported graph computes rather than fixes."""

import torch

__all__ = ["shape_as_tensor", "reshape_from_tensor_shape"]


def shape_as_tensor(x):
    """The sizes of `x` as an int64 tensor."""
    return torch.tensor(list(x.shape), dtype=torch.int64)


def reshape_from_tensor_shape(x, shape):
    """`x` reshaped to the sizes in the tensor `shape`."""
    return x.reshape(shape.tolist())
