"""Pooling of `torch.nn.functional`: variants with and without indices, optional output sizes."""

from torch.nn.functional import (
    _op, _override, has_torch_function_unary, has_torch_function_variadic,
)
from torch.nn.modules.utils import _pair, _single, _triple


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls `if_true` or `if_false` by its boolean argument `arg_name`."""

    def fn(*args, **kwargs):
        if arg_name in kwargs:
            chosen = kwargs[arg_name]
        else:
            chosen = args[arg_index] if len(args) > arg_index else default
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_false.__doc__ or if_true.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = fn.__qualname__ = func_name
    return fn


# ---- maximum over windows ------------------------------------------------------------------------

def _make_max_pool(ndim):
    """max_pool{ndim}d in its three forms."""
    both_name = f"max_pool{ndim}d_with_indices"
    one_name = f"max_pool{ndim}d"

    def both(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
             return_indices=False):
        if has_torch_function_unary(input):
            return _override(both, (input,), input, kernel_size, stride=stride, padding=padding,
                             dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
        return getattr(_op, both_name)(input, kernel_size, [] if stride is None else stride,
                                       padding, dilation, ceil_mode)

    def values(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
        if has_torch_function_unary(input):
            return _override(dispatch, (input,), input, kernel_size, stride=stride, padding=padding,
                             dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
        return getattr(_op, one_name)(input, kernel_size, [] if stride is None else stride, padding,
                                      dilation, ceil_mode)

    both.__name__ = both.__qualname__ = both_name
    values.__name__ = values.__qualname__ = "_" + one_name
    both.__doc__ = f"Maxima of {ndim}-d windows and their positions."
    values.__doc__ = f"Maxima of {ndim}-d windows; with return_indices their positions too."
    dispatch = boolean_dispatch("return_indices", 6, False, both, values, "torch.nn.functional",
                                one_name)
    return values, both, dispatch


_max_pool1d, max_pool1d_with_indices, max_pool1d = _make_max_pool(1)
_max_pool2d, max_pool2d_with_indices, max_pool2d = _make_max_pool(2)
_max_pool3d, max_pool3d_with_indices, max_pool3d = _make_max_pool(3)


# ---- windows that adapt to the output size -------------------------------------------------------

def _list_with_default(out_size, defaults):
    """`out_size` with its None entries taken from the last entries of `defaults`."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [d if v is None else v
            for v, d in zip(out_size, defaults[-len(out_size):] if out_size else [])]


def _make_adaptive_max_pool(ndim):
    one_name = f"adaptive_max_pool{ndim}d"
    both_name = one_name + "_with_indices"

    def both(input, output_size, return_indices=False):
        if has_torch_function_unary(input):
            return _override(both, (input,), input, output_size, return_indices=return_indices)
        if ndim > 1:
            output_size = _list_with_default(output_size, input.size())
        return getattr(_op, one_name)(input, output_size)

    def values(input, output_size, return_indices=False):
        if has_torch_function_unary(input):
            return _override(dispatch, (input,), input, output_size,
                             return_indices=return_indices)
        return both(input, output_size)[0]

    both.__name__ = both.__qualname__ = both_name
    values.__name__ = values.__qualname__ = "_" + one_name
    both.__doc__ = f"Maxima of {ndim}-d bins of a given number, and their positions."
    values.__doc__ = f"Maxima of {ndim}-d bins of a given number."
    dispatch = boolean_dispatch("return_indices", 2, False, both, values, "torch.nn.functional",
                                one_name)
    return values, both, dispatch


(_adaptive_max_pool1d, adaptive_max_pool1d_with_indices,
 adaptive_max_pool1d) = _make_adaptive_max_pool(1)
(_adaptive_max_pool2d, adaptive_max_pool2d_with_indices,
 adaptive_max_pool2d) = _make_adaptive_max_pool(2)
(_adaptive_max_pool3d, adaptive_max_pool3d_with_indices,
 adaptive_max_pool3d) = _make_adaptive_max_pool(3)


def adaptive_avg_pool2d(input, output_size):
    """Means of a given number of 2-d bins; None keeps an input size."""
    if has_torch_function_unary(input):
        return _override(adaptive_avg_pool2d, (input,), input, output_size)
    return _op.adaptive_avg_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_avg_pool3d(input, output_size):
    """Means of a given number of 3-d bins; None keeps an input size."""
    if has_torch_function_unary(input):
        return _override(adaptive_avg_pool3d, (input,), input, output_size)
    return _op.adaptive_avg_pool3d(input, _list_with_default(output_size, input.size()))


# ---- fractional pooling (Graham 2014) ------------------------------------------------------------

def _make_fractional_max_pool(ndim):
    one_name = f"fractional_max_pool{ndim}d"
    both_name = one_name + "_with_indices"
    expand = _pair if ndim == 2 else _triple

    def both(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
             _random_samples=None):
        import torch

        if has_torch_function_variadic(input, _random_samples):
            return _override(both, (input, _random_samples), input, kernel_size,
                             output_size=output_size, output_ratio=output_ratio,
                             return_indices=return_indices, _random_samples=_random_samples)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{one_name} requires specifying either an output_size or an "
                             "output_ratio")
        if output_size is None:
            if len(output_ratio) > ndim:
                raise ValueError(f"{one_name} requires output_ratio to either be a single Int or "
                                 "tuple of Ints.")
            output_size = [int(input.size(d - ndim) * output_ratio[d]) for d in range(ndim)]
        if _random_samples is None:
            batch = 1 if input.dim() == ndim + 1 else input.size(0)
            _random_samples = torch.rand(batch, input.size(-ndim - 1), ndim, dtype=input.dtype,
                                         device=input.device)
        return getattr(_op, one_name)(input, expand(kernel_size), expand(output_size),
                                      _random_samples)

    def values(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
               _random_samples=None):
        if has_torch_function_variadic(input, _random_samples):
            return _override(dispatch, (input, _random_samples), input, kernel_size,
                             output_size=output_size, output_ratio=output_ratio,
                             return_indices=return_indices, _random_samples=_random_samples)
        return both(input, kernel_size, output_size, output_ratio, return_indices,
                    _random_samples)[0]

    both.__name__ = both.__qualname__ = both_name
    values.__name__ = values.__qualname__ = "_" + one_name
    both.__doc__ = f"Maxima of {ndim}-d windows at random positions, and where they are."
    values.__doc__ = f"Maxima of {ndim}-d windows at random positions."
    dispatch = boolean_dispatch("return_indices", 4, False, both, values, "torch.nn.functional",
                                one_name)
    return values, both, dispatch


(_fractional_max_pool2d, fractional_max_pool2d_with_indices,
 fractional_max_pool2d) = _make_fractional_max_pool(2)
(_fractional_max_pool3d, fractional_max_pool3d_with_indices,
 fractional_max_pool3d) = _make_fractional_max_pool(3)


# ---- the inverse of max pooling ------------------------------------------------------------------

def _unpool_output_size(input, kernel_size, stride, padding, output_size):
    """The spatial output size: the one without overlap, or a given one near it."""
    spatial = input.size()[-len(kernel_size):]
    default = [(n - 1) * s + k - 2 * p
               for n, k, s, p in zip(spatial, kernel_size, stride, padding)]
    if output_size is None:
        return default
    count = len(kernel_size)
    if len(output_size) == count + 2:
        output_size = output_size[2:]
    if len(output_size) != count:
        raise ValueError(f"output_size should be a sequence containing {count} or {count + 2} "
                         f"elements, but it has a length of '{len(output_size)}'")
    for d in range(count):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} '
                             f"and {high})")
    return output_size


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back where max_pool1d found them; zeros elsewhere."""
    if has_torch_function_unary(input):
        return _override(max_unpool1d, (input,), input, indices, kernel_size, stride=stride,
                         padding=padding, output_size=output_size)
    kernel_size = _single(kernel_size)
    stride = kernel_size if stride is None else _single(stride)
    size = _unpool_output_size(input, kernel_size, stride, _single(padding), output_size)
    size = [*size, 1]
    return _op.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back where max_pool2d found them; zeros elsewhere."""
    if has_torch_function_unary(input):
        return _override(max_unpool2d, (input,), input, indices, kernel_size, stride=stride,
                         padding=padding, output_size=output_size)
    kernel_size = _pair(kernel_size)
    stride = kernel_size if stride is None else _pair(stride)
    size = _unpool_output_size(input, kernel_size, stride, _pair(padding), output_size)
    return _op.max_unpool2d(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back where max_pool3d found them; zeros elsewhere."""
    if has_torch_function_unary(input):
        return _override(max_unpool3d, (input,), input, indices, kernel_size, stride=stride,
                         padding=padding, output_size=output_size)
    kernel_size = _triple(kernel_size)
    stride = kernel_size if stride is None else _triple(stride)
    padding = _triple(padding)
    size = _unpool_output_size(input, kernel_size, stride, padding, output_size)
    return _op.max_unpool3d(input, indices, size, stride, padding)


# ---- power means ---------------------------------------------------------------------------------

def _signed_root(pooled, count, norm_type):
    """(sum of powers) ** (1 / norm_type) from the mean of powers; negative sums give 0."""
    positive = pooled.sign() * _op.relu(pooled.abs())
    return positive.mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """norm_type-th root of sums of powers over windows."""
    if has_torch_function_unary(input):
        return _override(lp_pool1d, (input,), input, norm_type, kernel_size, stride=stride,
                         ceil_mode=ceil_mode)
    out = _op.avg_pool1d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0,
                         ceil_mode)
    count = kernel_size if isinstance(kernel_size, int) else kernel_size[0]
    return _signed_root(out, count, norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """norm_type-th root of sums of powers over 2-d windows."""
    if has_torch_function_unary(input):
        return _override(lp_pool2d, (input,), input, norm_type, kernel_size, stride=stride,
                         ceil_mode=ceil_mode)
    kh, kw = _pair(kernel_size)
    out = _op.avg_pool2d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0,
                         ceil_mode)
    return _signed_root(out, kh * kw, norm_type)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """norm_type-th root of sums of powers over 3-d windows."""
    if has_torch_function_unary(input):
        return _override(lp_pool3d, (input,), input, norm_type, kernel_size, stride=stride,
                         ceil_mode=ceil_mode)
    kd, kh, kw = _triple(kernel_size)
    out = _op.avg_pool3d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0,
                         ceil_mode)
    return _signed_root(out, kd * kh * kw, norm_type)
