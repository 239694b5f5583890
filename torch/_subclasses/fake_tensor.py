"""Fake tensors: names for `isinstance` and annotations. ``device="meta"`` is what exists."""

import torch
from torch._missing import missing_class

FakeTensor = missing_class(__name__ + ".FakeTensor", torch.Tensor)
FakeTensorMode = missing_class(__name__ + ".FakeTensorMode")


def is_fake(x):
    """Is it a fake tensor? None can be made."""
    return isinstance(x, FakeTensor)


class UnsupportedFakeTensorException(RuntimeError):
    """An operator that fake tensors cannot run."""


class DynamicOutputShapeException(RuntimeError):
    """An operator whose output's shape depends on data."""


class DataDependentOutputException(RuntimeError):
    """An operator whose result depends on data."""
