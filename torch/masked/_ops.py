"""Masked operations as compositions: masked elements become the operation's identity.

A mask broadcasts to the input. Where all elements of a result are masked out, the result is the
identity, or nan for means, variances, medians and softmax.
"""

import functools
import math

import torch

Tensor = torch.Tensor
_INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32)


# ---- masks, dimensions and identities ------------------------------------------------------------

def _input_mask(input, mask):
    """`mask` as booleans of the input's shape; None stays None."""
    if mask is None:
        return None
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher "
                         "than of the input)")
    if mask.shape != input.shape:
        mask = torch.broadcast_to(mask.clone(), input.shape)
    return mask if mask.dtype == torch.bool else mask.to(torch.bool)


def _canonical_dim(dim, ndim):
    """Sorted non-negative dimensions; all of them for None or ()."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    dims = []
    for d in (dim,) if isinstance(dim, int) else dim:
        span = max(ndim, 1)
        if not -span <= d < span:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, "
                             f"{span - 1}], but got {d})")
        d = d % span
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        dims.append(d)
    return tuple(sorted(d for d in dims if d < ndim))


def _extreme(name, dtype, sign):
    """The value that never wins: -inf or the smallest number for sign -1, the other way for 1."""
    if dtype.is_floating_point:
        return sign * math.inf
    if dtype == torch.bool or dtype.is_complex:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    info = torch.iinfo(dtype)
    return info.max if sign > 0 else info.min


def _fill(input, mask, value):
    mask = _input_mask(input, mask)
    if mask is None:
        return input
    return torch.where(mask, input, torch.full((), value, dtype=input.dtype, device=input.device))


def _wide(dtype, input):
    """The result's dtype of sums and products: int64 for small integers."""
    if dtype is not None:
        return dtype
    return torch.int64 if input.dtype in _INTEGERS else input.dtype


def _maskable(function):
    """Accepts MaskedTensor as the input: its mask is used, and the result is masked too."""

    @functools.wraps(function)
    def call(input, *args, **kwargs):
        from .maskedtensor import MaskedTensor

        if not isinstance(input, MaskedTensor):
            return function(input, *args, **kwargs)
        mask = kwargs.pop("mask", None)
        own = input.get_mask()
        mask = own if mask is None else own & _input_mask(own, mask)
        data = function(input.get_data(), *args, mask=mask, **kwargs)
        if data.shape == mask.shape:
            return MaskedTensor(data, mask)
        dim = kwargs.get("dim", args[0] if args and function.__name__ not in _SECOND else None)
        dims = _canonical_dim(dim, mask.ndim)
        valid = mask
        for d in reversed(dims):
            valid = valid.any(d, keepdim=bool(kwargs.get("keepdim")))
        return MaskedTensor(data, valid)

    return call


_SECOND = ("norm", "normalize")


# ---- reductions ----------------------------------------------------------------------------------

@_maskable
def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Sum of the elements that the mask selects."""
    dtype = _wide(dtype, input)
    dims = _canonical_dim(dim, input.ndim)
    return _fill(input.to(dtype), mask, 0).sum(dims, bool(keepdim), dtype=dtype) if dims else (
        _fill(input.to(dtype), mask, 0).clone())


@_maskable
def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Product of the elements that the mask selects."""
    dtype = _wide(dtype, input)
    result = _fill(input.to(dtype), mask, 1)
    for d in reversed(_canonical_dim(dim, input.ndim)):
        result = result.prod(d, keepdim=bool(keepdim))
    return result.to(dtype)


@_maskable
def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Largest of the elements that the mask selects."""
    input = input if dtype is None else input.to(dtype)
    dims = _canonical_dim(dim, input.ndim)
    if mask is not None:
        input = _fill(input, mask, _extreme("amax", input.dtype, -1))
    return torch.amax(input, dims, bool(keepdim))


@_maskable
def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Smallest of the elements that the mask selects."""
    input = input if dtype is None else input.to(dtype)
    dims = _canonical_dim(dim, input.ndim)
    if mask is not None:
        input = _fill(input, mask, _extreme("amin", input.dtype, 1))
    return torch.amin(input, dims, bool(keepdim))


@_maskable
def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Position of the largest selected element, in the input's dtype."""
    dtype = input.dtype if dtype is None else dtype
    if mask is not None:
        input = _fill(input, mask, _extreme("argmax", input.dtype, -1))
    return torch.argmax(input, dim, bool(keepdim)).to(dtype)


@_maskable
def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Position of the smallest selected element, in the input's dtype."""
    dtype = input.dtype if dtype is None else dtype
    if mask is not None:
        input = _fill(input, mask, _extreme("argmin", input.dtype, 1))
    return torch.argmin(input, dim, bool(keepdim)).to(dtype)


def _count(input, dims, keepdim, mask):
    """How many elements are selected, as the input's dtype."""
    mask = _input_mask(input, mask)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=input.device).expand(input.shape)
    return mask.to(torch.int64).sum(dims, keepdim) if dims else mask.to(torch.int64)


@_maskable
def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Mean of the elements that the mask selects."""
    dtype = input.dtype if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError("mean(): Could not infer output dtype. Input dtype must be either a "
                         f"floating point or complex dtype. Got: {dtype}")
    dims = _canonical_dim(dim, input.ndim)
    if mask is None and dims:
        return torch.mean(input, dims, bool(keepdim), dtype=dtype)
    total = sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, dims, bool(keepdim), mask)


@_maskable
def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """Lower median of the elements that the mask selects."""
    dtype = input.dtype if dtype is None else dtype
    x = input.to(dtype)
    if not x.is_floating_point():
        x = x.to(torch.float64)
    if mask is None:
        return torch.median(x, dim, bool(keepdim))[0].to(dtype)
    return torch.nanmedian(_fill(x, mask, math.nan), dim, bool(keepdim))[0].to(dtype)


@_maskable
def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Logarithm of the sum of exponentials of the selected elements."""
    dtype = input.dtype if dtype is None else dtype
    dims = _canonical_dim(dim, input.ndim)
    x = input.to(dtype)
    if mask is not None:
        x = _fill(x, mask, _extreme("logsumexp", dtype, -1))
    return torch.logsumexp(x, dims, bool(keepdim)).to(dtype)


@_maskable
def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Vector norm of the elements that the mask selects."""
    dtype = input.dtype if dtype is None else dtype
    dims = _canonical_dim(dim, input.ndim)
    x = input.to(dtype)
    if mask is not None:
        x = _fill(x, mask, math.inf if ord is not None and ord < 0 else 0)
    order = 2.0 if ord is None else ord
    return torch.linalg.vector_norm(x, order, dims, bool(keepdim), dtype=dtype)


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask):
    assert unbiased is None or correction is None, \
        "Only one of unbiased and correction may be given"
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    if dtype is None:
        dtype = input.dtype
        if not (dtype.is_floating_point or dtype.is_complex):
            dtype = torch.float32
    compute = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    dims = _canonical_dim(dim, input.ndim)
    x = input.to(compute)
    count = _count(x, dims, True, mask)
    average = torch.divide(sum(x, dims, keepdim=True, dtype=compute, mask=mask), count)
    apart = x - average
    square = apart * apart.conj() if dtype.is_complex else apart * apart
    total = sum(square.real if dtype.is_complex else square, dims, keepdim=keepdim, mask=mask)
    if not keepdim and dims:
        count = count.reshape(total.shape)
    if correction:
        count = torch.clamp(count - correction, min=0)
    result = torch.divide(total, count)
    return result.to(dtype)


@_maskable
def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Variance of the elements that the mask selects."""
    return _variance(input, dim, unbiased, correction, bool(keepdim), dtype, mask)


@_maskable
def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Standard deviation of the elements that the mask selects."""
    return torch.sqrt(_variance(input, dim, unbiased, correction, bool(keepdim), dtype, mask))


# ---- along a dimension ---------------------------------------------------------------------------

def cumsum(input, dim, *, dtype=None, mask=None):
    """Running sums; masked elements count as 0."""
    dtype = dtype or input.dtype
    return torch.cumsum(_fill(input.to(dtype), mask, 0), dim, dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Running products; masked elements count as 1."""
    dtype = dtype or input.dtype
    return torch.cumprod(_fill(input.to(dtype), mask, 1), dim, dtype=dtype)


@_maskable
def softmax(input, dim, *, dtype=None, mask=None):
    """Softmax over the selected elements; 0 elsewhere."""
    x = input if dtype is None else input.to(dtype)
    filled = x if mask is None else _fill(x, mask, _extreme("softmax", x.dtype, -1))
    return torch.softmax(filled, dim)


@_maskable
def log_softmax(input, dim, *, dtype=None, mask=None):
    """Logarithm of the softmax over the selected elements; -inf elsewhere."""
    x = input if dtype is None else input.to(dtype)
    filled = x if mask is None else _fill(x, mask, _extreme("log_softmax", x.dtype, -1))
    return torch.log_softmax(filled, dim)


@_maskable
def softmin(input, dim, *, dtype=None, mask=None):
    """softmax(-x) over the selected elements; 0 elsewhere."""
    x = input if dtype is None else input.to(dtype)
    filled = x if mask is None else _fill(x, mask, _extreme("softmin", x.dtype, 1))
    return torch.nn.functional.softmin(filled, dim)


@_maskable
def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """x / max(norm, eps) over the selected elements; 0 elsewhere."""
    x = input if dtype is None else input.to(dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return _fill(x, mask, 0) / torch.clamp(length, min=eps)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(a) + exp(b)); masked elements count as exp = 0."""
    a = input if dtype is None else input.to(dtype)
    b = other if dtype is None else other.to(dtype)
    return torch.logaddexp(_fill(a, input_mask, -math.inf), _fill(b, other_mask, -math.inf))
