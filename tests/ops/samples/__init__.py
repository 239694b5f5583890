"""Test inputs of operators by the name in an entry's `samples:` key.

Each family file has a table CASES: name -> function of a Maker that returns a list of calls, each
made by `C(*arguments, **keywords)`. A call is small: its gradients are checked by finite
differences. Layouts (strided, expanded, zero sizes, ...) are the business of the tests, not of the
tables. Nothing here depends on which implementation is imported as `torch`.
"""

import torch

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
WIDE_UNSIGNED = tuple(getattr(torch, f"uint{n}") for n in (16, 32, 64))


def C(*args, **kwargs):
    """One call."""
    return args, kwargs


class Maker:
    """Makes the tensors of calls in one dtype, the same ones for the same seed."""

    def __init__(self, dtype, seed=0):
        self.d = dtype
        self.generator = torch.Generator().manual_seed(seed)

    @property
    def real(self):
        """The dtype of absolute values."""
        return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(self.d, self.d)

    def uniform(self, *size):
        return torch.rand(size, dtype=torch.float64, generator=self.generator)

    def x(self, *size, low=0.1, high=0.9, dtype=None):
        """Values inside (0, 1), away from the edges of domains; integers from 1 to 8."""
        dtype = dtype or self.d
        if dtype == torch.bool:
            return self.uniform(*size) < 0.5
        if dtype in INTEGERS or dtype in WIDE_UNSIGNED:
            return (self.uniform(*size) * 8 + 1).to(torch.int64).to(dtype)
        value = self.uniform(*size) * (high - low) + low
        if dtype.is_complex:
            value = torch.complex(value, self.uniform(*size) * (high - low) + low)
        return value.to(dtype)

    def r(self, *size, low=0.1, high=0.9):
        """Like x, but real for a complex dtype."""
        return self.x(*size, low=low, high=high, dtype=self.real)

    def n(self, *size, low=0.1, high=0.9):
        """Values of both signs (where the dtype has them), away from zero."""
        value = self.x(*size, low=low, high=high)
        if self.d == torch.bool or self.d == torch.uint8 or self.d in WIDE_UNSIGNED:
            return value
        return torch.where(self.uniform(*size) < 0.5, -value, value)

    def i(self, high, *size):
        """Indices below high."""
        return (self.uniform(*size) * high).to(torch.int64)

    def m(self, *size):
        """A mask."""
        return self.uniform(*size) < 0.6

    def distinct(self, *size):
        """Values that differ by far more than the step of a finite difference."""
        count = 1
        for s in size:
            count *= s
        order = torch.argsort(self.uniform(count))
        if self.d.is_floating_point or self.d.is_complex:
            return ((order + 1).to(torch.float64) / (count + 1)).to(self.d).reshape(size)
        return order.to(self.d).reshape(size)

    def sq(self, n, *batch):
        """Well-conditioned square matrices."""
        return self.x(*batch, n, n) + n * torch.eye(n, dtype=torch.float64).to(self.d)

    def spd(self, n, *batch):
        """Hermitian positive definite matrices."""
        a = self.x(*batch, n, n)
        return a @ a.transpose(-1, -2).conj() + n * torch.eye(n, dtype=torch.float64).to(self.d)

    def tri(self, n, *batch):
        """Lower triangular, well conditioned, with a real diagonal."""
        a = torch.tril(self.sq(n, *batch))
        if self.d.is_complex:
            a = a - 1j * torch.diag_embed(torch.diagonal(a, 0, -2, -1).imag).to(self.d)
        return a


def tables():
    from . import create, index, linalg, nn, pointwise, rearrange, reduce

    merged = {}
    for module in (create, index, linalg, nn, pointwise, rearrange, reduce):
        for name, make in module.CASES.items():
            assert name not in merged, name
            merged[name] = make
    return merged


SAMPLES = {}


def calls(name, dtype, seed=0):
    """The calls of one table row in one dtype."""
    if not SAMPLES:
        SAMPLES.update(tables())
    return SAMPLES[name](Maker(dtype, seed))
