"""Initial values of parameters, drawn in place.

Sources: Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al. 2013 (orthogonal),
Martens 2010 (sparse).
"""
from __future__ import annotations

import math
import warnings

import torch

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_",
    "eye_", "dirac_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
    "kaiming_normal_", "orthogonal_", "sparse_", "uniform", "normal", "constant", "eye",
    "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal",
    "orthogonal", "sparse",
]

_UNIT_GAIN = frozenset((
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "sigmoid"))


def _no_grad_uniform_(tensor, a, b, generator=None):
    with torch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor, mean, std, generator=None):
    with torch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor, val):
    with torch.no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor):
    with torch.no_grad():
        return tensor.zero_()


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance of a signal through `nonlinearity`.

    Args:
        nonlinearity (str): name of the function in ``nn.functional``.
        param: for ``"leaky_relu"``, its negative slope (default 0.01).

    Raises:
        ValueError: for an unknown name or a slope that is no number.
    """
    if nonlinearity in _UNIT_GAIN:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill with draws from U(a, b)."""
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fill with draws from N(mean, std**2)."""
    return _no_grad_normal_(tensor, mean, std, generator)


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_normal(tensor, mean, std, a, b, generator):
    """Rejection from the normal distribution: draw anew until all values are in [a, b]."""
    # The bounds as values of the tensor's dtype: half precision must not step over them.
    low = torch.tensor(a, dtype=tensor.dtype, device="cpu").item()
    high = torch.tensor(b, dtype=tensor.dtype, device="cpu").item()
    values = tensor.normal_(mean, std, generator=generator)
    outside = (values < low) | (values > high)
    while outside.any().item():
        fresh = torch.empty_like(tensor).normal_(mean, std, generator=generator)
        values = torch.where(outside, fresh, values)
        outside = (values < low) | (values > high)
    return tensor if values is tensor else tensor.copy_(values)


def _redraw_uniform(tensor, mean, std, a, b, generator):
    """Rejection from U(a, b) (Robert 1995): x is kept with probability p(x) / max p."""
    peak = min(max(mean, a), b)
    log_max = -0.5 * ((peak - mean) / std) ** 2

    def is_rejected(x):
        log_p = x.clone().sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_max)
        return torch.empty_like(x).uniform_(generator=generator).log_() > log_p

    values = tensor.uniform_(a, b, generator=generator)
    rejected = is_rejected(values)
    while rejected.any().item():
        fresh = torch.empty_like(tensor).uniform_(a, b, generator=generator)
        values = torch.where(rejected, fresh, values)
        rejected = rejected & is_rejected(values)
    return tensor if values is tensor else tensor.copy_(values)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fill with draws from N(mean, std**2) restricted to [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.", stacklevel=2)
    if tensor.is_meta:
        return tensor  # there are no values to draw
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    # Proposals from the normal distribution are wasted where little of it lies in [a, b].
    if tensor.is_meta:
        return tensor
    redraw = _redraw_normal if inside > 0.3 else _redraw_uniform
    with torch.no_grad():
        return redraw(tensor, mean, std, a, b, generator)


def constant_(tensor, val):
    """Fill with `val`."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor):
    """Fill with 1."""
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor):
    """Fill with 0."""
    return _no_grad_zero_(tensor)


def eye_(tensor):
    """Fill a matrix with the identity."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with torch.no_grad():
        torch.eye(*tensor.shape, out=tensor, device=tensor.device,
                  requires_grad=tensor.requires_grad)
    return tensor


def dirac_(tensor, groups=1):
    """Fill a convolution's weight so that it passes as many channels as possible through.

    Args:
        tensor (Tensor): of 3, 4 or 5 dimensions, (out, in, *kernel).
        groups (int): of the convolution; must divide ``out``.
    """
    dimensions = tensor.ndimension()
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = sizes[0] // groups
    center = tuple(size // 2 for size in sizes[2:])
    with torch.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, sizes[1])):
                tensor[(group * per_group + channel, channel, *center)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    dimensions = tensor.dim()
    if dimensions < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 "
                         "dimensions")
    shape = tensor.shape
    receptive_field = 1
    for size in shape[2:]:
        receptive_field *= size
    return shape[1] * receptive_field, shape[0] * receptive_field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    valid_modes = ["fan_in", "fan_out"]
    if mode not in valid_modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {valid_modes}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fill with U(-a, a), a = gain * sqrt(6 / (fan_in + fan_out))."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    a = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -a, a, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fill with N(0, std**2), std = gain * sqrt(2 / (fan_in + fan_out))."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return _no_grad_normal_(tensor, 0.0, std, generator)


def _is_empty(tensor):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill with U(-bound, bound), bound = gain * sqrt(3 / fan).

    Args:
        tensor (Tensor): of at least two dimensions.
        a (float): negative slope of a leaky ReLU after the layer.
        mode (str): ``"fan_in"`` or ``"fan_out"``.
        nonlinearity (str): as for :func:`calculate_gain`.
        generator (Generator, optional): source of the draws.
    """
    if _is_empty(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    gain = calculate_gain(nonlinearity, a)
    std = gain / math.sqrt(fan)
    bound = math.sqrt(3.0) * std
    with torch.no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill with N(0, std**2), std = gain / sqrt(fan); see :func:`kaiming_uniform_`."""
    if _is_empty(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    gain = calculate_gain(nonlinearity, a)
    std = gain / math.sqrt(fan)
    with torch.no_grad():
        return tensor.normal_(0, std, generator=generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Fill with a (semi-)orthogonal matrix times `gain`; later dimensions are flattened."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    flat = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
    if rows < cols:
        flat.t_()
    q, r = torch.linalg.qr(flat)
    # The signs of R's diagonal are arbitrary: fixing them makes Q uniformly distributed.
    q *= torch.diag(r, 0).sign()
    if rows < cols:
        q.t_()
    with torch.no_grad():
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill a matrix with N(0, std**2) and set a share `sparsity` of each column to zero."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    num_zeros = math.ceil(sparsity * rows)
    with torch.no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            zeros = torch.randperm(rows)[:num_zeros]
            tensor[zeros, col] = 0
    return tensor


def _deprecated(method):
    name = method.__name__
    old = name[:-1]

    def alias(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{name}`.",
                      FutureWarning, stacklevel=2)
        return method(*args, **kwargs)

    alias.__name__ = old
    alias.__qualname__ = old
    alias.__doc__ = f"Deprecated; use :func:`{name}`."
    return alias


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
