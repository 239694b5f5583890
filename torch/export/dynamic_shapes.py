"""Marks of sizes that may change: `Dim`. Nothing exports them yet."""

import enum

from torch._missing import missing_class

__all__ = ["Dim", "dims", "ShapesCollection", "AdditionalInputs"]

AdditionalInputs = missing_class("torch.export.AdditionalInputs")
ShapesCollection = missing_class("torch.export.ShapesCollection")


class _DimHintType(enum.Enum):
    AUTO = enum.auto()
    STATIC = enum.auto()
    DYNAMIC = enum.auto()


class _DimHint:
    """A size without a name: free, fixed, or to be found out."""

    def __init__(self, type, min=None, max=None):
        self.type, self.min, self.max = type, min, max

    def __call__(self, min=None, max=None):
        """The same with bounds."""
        for bound in (min, max):
            if bound is not None and bound < 0:
                raise AssertionError("bounds must be non-negative")
        return _DimHint(self.type, min, max)

    def __repr__(self):
        parts = [self.type.name]
        parts += [f"{n}={v}" for n, v in (("min", self.min), ("max", self.max)) if v is not None]
        return f"DimHint({', '.join(parts)})"


class Dim:
    """A size with a name and bounds: ``Dim("batch", min=2)``."""

    AUTO = _DimHint(_DimHintType.AUTO)
    STATIC = _DimHint(_DimHintType.STATIC)
    DYNAMIC = _DimHint(_DimHintType.DYNAMIC)

    def __init__(self, name, *, min=None, max=None):
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.min = 0 if min is None else min
        self.max = float("inf") if max is None else max
        if self.max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        self.__name__ = name

    def __repr__(self):
        return f"Dim('{self.__name__}', min={self.min}, max={self.max})"


def dims(*names, min=None, max=None):
    """Several `Dim`s with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)
