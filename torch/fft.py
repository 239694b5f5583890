"""torch.fft: discrete Fourier transforms, their frequencies and shifts."""

import torch
from torch import _C

Tensor = torch.Tensor
_C._fill_namespace(globals(), "_fft")


def _check_floating(name, dtype):
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    return dtype


def _finish(values, d, n, out, requires_grad):
    values = values * (1.0 / (n * d)) if n else values
    if out is not None:
        return out.resize_(values.shape).copy_(values)
    return values.requires_grad_() if requires_grad else values


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=torch.strided, device=None,
            requires_grad=False):
    """Frequencies of the bins of a transform of n samples, `d` apart: positive, then negative."""
    dtype = _check_floating("fftfreq", dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    positive = torch.arange(0, (n + 1) // 2, dtype=dtype, device=device)
    negative = torch.arange(-(n // 2), 0, dtype=dtype, device=device)
    return _finish(torch.cat([positive, negative]), d, n, out, requires_grad)


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=torch.strided, device=None,
             requires_grad=False):
    """Frequencies of the bins of `rfft` of n samples, `d` apart."""
    dtype = _check_floating("rfftfreq", dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return _finish(torch.arange(0, n // 2 + 1, dtype=dtype, device=device), d, n, out,
                   requires_grad)


def _rolled(input, dim, shift):
    if dim is None:
        dims = list(range(input.dim()))
    else:
        dims = [dim] if isinstance(dim, int) else list(dim)
    if not dims:
        return input.clone()
    return torch.roll(input, [shift(input.size(d)) for d in dims], dims)


def fftshift(input, dim=None):
    """Moves frequency zero to the middle of the given dimensions, or of all."""
    return _rolled(input, dim, lambda n: n // 2)


def ifftshift(input, dim=None):
    """The inverse of `fftshift`."""
    return _rolled(input, dim, lambda n: (n + 1) // 2)


__all__ = [_n for _n in dir() if not _n.startswith("_") and _n not in ("torch", "Tensor")]
