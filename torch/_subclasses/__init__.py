"""Tensor subclasses of the package: tensors that have everything but values."""
from torch._subclasses.fake_tensor import (DynamicOutputShapeException, FakeTensor,
                                           FakeTensorMode, UnsupportedFakeTensorException)

__all__ = ["FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException",
           "DynamicOutputShapeException"]
