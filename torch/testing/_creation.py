"""`make_tensor`: random tensors of any dtype, from the generator that torch.manual_seed seeds."""

import collections.abc
import math
import warnings

import torch

_INTEGRAL = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16,
             torch.uint32, torch.uint64]
_FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
_FLOATING_8BIT = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz,
                  torch.float8_e5m2fnuz]
_COMPLEX = [torch.complex32, torch.complex64, torch.complex128]


def _uniform_random_(t, low, high):
    """Like `t.uniform_(low, high)`, also where high - low is more than the dtype can hold."""
    if high - low >= torch.finfo(t.dtype).max:
        return t.uniform_(low / 2, high / 2).mul_(2)
    return t.uniform_(low, high)


def _interval(dtype, low, high, default_low, default_high, smallest, largest):
    """The interval [low, high) to draw from, within the numbers of `dtype`."""
    low = default_low if low is None else low
    high = default_high if high is None else high
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    floating = dtype in _FLOATING + _FLOATING_8BIT + _COMPLEX
    if low == high and floating:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning, stacklevel=3)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < smallest or low >= largest:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), "
                         f"but {dtype} only supports [{smallest}, {largest})")
    low, high = (min(max(value, smallest), largest) for value in (low, high))
    return (low, high) if floating else (math.ceil(low), math.ceil(high))


def _draw(shape, dtype, device, low, high):
    if dtype is torch.bool:
        low, high = _interval(dtype, low, high, 0, 2, 0, 2)
        return torch.randint(low, high, shape, device=device, dtype=dtype)
    if dtype in _INTEGRAL:
        info = torch.iinfo(dtype)
        low, high = _interval(dtype, low, high, 0 if info.min == 0 else -9, 10, info.min,
                              # random_ takes its upper end as int64
                              info.max + (1 if info.max < 2**63 - 1 else 0))
        return torch.empty(shape, device=device, dtype=dtype).random_(
            low, min(high, 2**63 - 1))
    if dtype in _FLOATING:
        info = torch.finfo(dtype)
        low, high = _interval(dtype, low, high, -9, 9, info.min, info.max)
        return _uniform_random_(torch.empty(shape, device=device, dtype=dtype), low, high)
    if dtype in _COMPLEX:
        result = torch.empty(shape, device=device, dtype=dtype)
        parts = torch.view_as_real(result)
        info = torch.finfo(parts.dtype)
        low, high = _interval(dtype, low, high, -9, 9, info.min, info.max)
        _uniform_random_(parts, low, high)
        return result
    if dtype in _FLOATING_8BIT:
        info = torch.finfo(dtype)
        low, high = _interval(dtype, low, high, -9, 9, info.min, info.max)
        wide = torch.empty(shape, device=device, dtype=torch.float32)
        return _uniform_random_(wide, low, high).to(dtype)
    raise TypeError(f"The requested dtype '{dtype}' is not supported by "
                    "torch.testing.make_tensor().")


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False,
                noncontiguous=False, exclude_zero=False, memory_format=None):
    """A tensor of random elements, uniform in [low, high).

    The interval is [-9, 9) for floats and complex parts, [-9, 10) for signed integers, [0, 10)
    for unsigned ones, {False, True} for bool unless given, and is clipped to what the dtype
    holds. `exclude_zero` replaces zeros by a small value; `noncontiguous` gives every second
    element of a larger tensor and excludes `memory_format`.
    """
    if len(shape) == 1 and isinstance(shape[0], collections.abc.Sequence):
        shape = shape[0]
    shape = tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually "
                         f"exclusive, but got {noncontiguous=} and {memory_format=}")
    if requires_grad and (dtype is torch.bool or dtype in _INTEGRAL):
        raise ValueError("`requires_grad=True` is not supported for boolean and integral dtypes, "
                         f"but got {dtype=}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    result = _draw((*shape[:-1], 2 * shape[-1]) if noncontiguous else shape, dtype, device, low,
                   high)
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        small = 1 if dtype is torch.bool or dtype in _INTEGRAL else torch.finfo(dtype).tiny
        wide = {torch.complex32: torch.complex64}.get(dtype, torch.float32 if dtype in
                                                      _FLOATING_8BIT else dtype)
        result[result.to(wide) == 0] = small
    if dtype in _FLOATING + _COMPLEX:
        result.requires_grad_(requires_grad)
    return result
