"""`infer_schema`."""

from torch._infer_schema import infer_schema

__all__ = ["infer_schema"]
