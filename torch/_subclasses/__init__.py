"""Subclasses of tensors for tracing: the names only (meta tensors are what this package has)."""

from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: F401

__all__ = ["FakeTensor", "FakeTensorMode"]
