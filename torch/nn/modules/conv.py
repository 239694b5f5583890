"""Convolutions and transposed convolutions over 1, 2 and 3 spatial dimensions."""
from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch.nn import init
from torch.nn.parameter import Parameter, UninitializedParameter

from .lazy import LazyModuleMixin
from .module import Module
from .utils import _pair, _reverse_repeat_tuple, _single, _triple

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_PADDING_STRINGS = {"same", "valid"}
_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What all convolutions share; sizes are tuples with one entry per spatial dimension."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode",
                     "output_padding", "in_channels", "out_channels", "kernel_size"]
    in_channels: int
    _reversed_padding_repeated_twice: list[int]
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation,
                 transposed, output_padding, groups, bias, padding_mode, device=None,
                 dtype=None) -> None:
        super().__init__()
        self._check_arguments(in_channels, out_channels, stride, padding, groups,
                              padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_for_pad()
        channels = ((in_channels, out_channels // groups) if transposed
                    else (out_channels, in_channels // groups))
        self.weight = Parameter(
            torch.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    @staticmethod
    def _check_arguments(in_channels, out_channels, stride, padding, groups, padding_mode):
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in _PADDING_STRINGS:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of "
                                 f"{_PADDING_STRINGS}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, but got "
                             f"padding_mode='{padding_mode}'")

    def _padding_for_pad(self):
        """The padding in the order of F.pad, used by the modes other than "zeros"."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        amounts = [0, 0] * len(self.kernel_size)
        if self.padding == "same":
            last = len(self.kernel_size) - 1
            for i, (d, k) in enumerate(zip(self.dilation, self.kernel_size)):
                total = d * (k - 1)
                left = total // 2
                amounts[2 * (last - i)] = left
                amounts[2 * (last - i) + 1] = total - left
        return amounts

    def reset_parameters(self) -> None:
        """Draw both parameters from U(-k, k), k = 1 / sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = len(self.stride)
        text = (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}")
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state):
        super().__setstate__(state)
        # Pickles of old versions know zero padding only.
        self.__dict__.setdefault("padding_mode", "zeros")


class Conv1d(_ConvNd):
    """Cross-correlation over signals: (N, C, L) or (C, L).

    Args:
        in_channels, out_channels (int): channels of input and output.
        kernel_size (int or tuple): size of the kernel.
        stride (int or tuple): step of the kernel. Default: 1.
        padding (int, tuple, "same" or "valid"): added on both sides. Default: 0.
        dilation (int or tuple): distance between the kernel's taps. Default: 1.
        groups (int): blocks of channels convolved separately. Default: 1.
        bias (bool): whether a bias is added. Default: ``True``.
        padding_mode (str): "zeros", "reflect", "replicate" or "circular".
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 dilation=1, groups=1, bias=True, padding_mode="zeros", device=None,
                 dtype=None) -> None:
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride),
            padding if isinstance(padding, str) else _single(padding), _single(dilation),
            False, _single(0), groups, bias, padding_mode, device=device, dtype=dtype)

    def _conv_forward(self, input, weight, bias: torch.Tensor | None):
        if self.padding_mode == "zeros":
            return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation,
                            self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return F.conv1d(padded, weight, bias, self.stride, _single(0), self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """Cross-correlation over images: (N, C, H, W) or (C, H, W); arguments of `Conv1d`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 dilation=1, groups=1, bias=True, padding_mode="zeros", device=None,
                 dtype=None) -> None:
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride),
            padding if isinstance(padding, str) else _pair(padding), _pair(dilation),
            False, _pair(0), groups, bias, padding_mode, device=device, dtype=dtype)

    def _conv_forward(self, input, weight, bias: torch.Tensor | None):
        if self.padding_mode == "zeros":
            return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation,
                            self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return F.conv2d(padded, weight, bias, self.stride, _pair(0), self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """Cross-correlation over volumes: (N, C, D, H, W) or (C, D, H, W); see `Conv1d`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 dilation=1, groups=1, bias=True, padding_mode="zeros", device=None,
                 dtype=None) -> None:
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride),
            padding if isinstance(padding, str) else _triple(padding), _triple(dilation),
            False, _triple(0), groups, bias, padding_mode, device=device, dtype=dtype)

    def _conv_forward(self, input, weight, bias: torch.Tensor | None):
        if self.padding_mode == "zeros":
            return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation,
                            self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return F.conv3d(padded, weight, bias, self.stride, _triple(0), self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    """What the transposed convolutions share."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation,
                 transposed, output_padding, groups, bias, padding_mode, device=None,
                 dtype=None) -> None:
        if padding_mode != "zeros":
            raise ValueError('Only "zeros" padding mode is supported for '
                             f"{self.__class__.__name__}")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation,
                         transposed, output_padding, groups, bias, padding_mode,
                         device=device, dtype=dtype)

    def _output_padding(self, input, output_size, stride, padding, kernel_size,
                        num_spatial_dims, dilation=None):
        """The output padding that makes the result `output_size`; ValueError if none does."""
        if output_size is None:
            return _single(self.output_padding)
        n = num_spatial_dims
        extra = input.dim() - n
        if len(output_size) == extra + n:
            output_size = output_size[extra:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{extra + n} elements (got {len(output_size)})")
        lowest, highest = [], []
        for d in range(n):
            reach = (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1)
            size = (input.size(d + extra) - 1) * stride[d] - 2 * padding[d] + reach + 1
            lowest.append(size)
            highest.append(size + stride[d] - 1)
        for size, low, high in zip(output_size, lowest, highest):
            if size < low or size > high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from "
                    f"{lowest} to {highest} (for an input of {input.size()[2:]})")
        return [output_size[d] - lowest[d] for d in range(n)]

    def _transpose(self, function, n, input, output_size):
        if self.padding_mode != "zeros":
            raise ValueError("Only `zeros` padding mode is supported for "
                             f"{self.__class__.__name__}")
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, n,
            self.dilation)
        return function(input, self.weight, self.bias, self.stride, self.padding,
                        output_padding, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of `Conv1d` with respect to its input, as a layer of its own.

    Args:
        output_padding (int or tuple): added to one side of the output, to choose among the
            sizes that a strided convolution maps to the same one. Default: 0.

    The others are those of :class:`Conv1d`; ``forward`` also takes `output_size`.
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros",
                 device=None, dtype=None) -> None:
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride),
            _single(padding), _single(dilation), True, _single(output_padding), groups, bias,
            padding_mode, device=device, dtype=dtype)

    def forward(self, input, output_size: list[int] | None = None):
        return self._transpose(F.conv_transpose1d, 1, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of `Conv2d` with respect to its input; see :class:`ConvTranspose1d`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros",
                 device=None, dtype=None) -> None:
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride), _pair(padding),
            _pair(dilation), True, _pair(output_padding), groups, bias, padding_mode,
            device=device, dtype=dtype)

    def forward(self, input, output_size: list[int] | None = None):
        return self._transpose(F.conv_transpose2d, 2, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of `Conv3d` with respect to its input; see :class:`ConvTranspose1d`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros",
                 device=None, dtype=None) -> None:
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride),
            _triple(padding), _triple(dilation), True, _triple(output_padding), groups, bias,
            padding_mode, device=device, dtype=dtype)

    def forward(self, input, output_size: list[int] | None = None):
        return self._transpose(F.conv_transpose3d, 3, input, output_size)


class _LazyConvXdMixin(LazyModuleMixin):
    """Learns `in_channels` from the first input."""

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs) -> None:
        """Take the channels from `input` and draw the parameters."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if self.transposed:
            channels = (self.in_channels, self.out_channels // self.groups)
        else:
            channels = (self.out_channels, self.in_channels // self.groups)
        self.weight.materialize((*channels, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input):
        spatial = self._get_num_spatial_dims()
        unbatched, batched = spatial + 1, spatial + 2
        if input.dim() not in (unbatched, batched):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {batched}D (batched) input to "
                f"{self.__class__.__name__}, but got input of size: {input.shape}")
        return input.shape[1] if input.dim() == batched else input.shape[0]

    def _get_num_spatial_dims(self):
        raise NotImplementedError

    def _make_lazy(self, out_channels, bias, device, dtype):
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)


def _lazy_conv(base, spatial):
    """A class that is `base` once it knows its channels."""
    name = "Lazy" + base.__name__

    def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
                 bias=True, padding_mode="zeros", device=None, dtype=None) -> None:
        # Channels of zero, no bias: the base class draws nothing.
        super(cls, self).__init__(0, 0, kernel_size, stride, padding, dilation, groups, False,
                                  padding_mode, device=device, dtype=dtype)
        self._make_lazy(out_channels, bias, device, dtype)

    def __init_transposed__(self, out_channels, kernel_size, stride=1, padding=0,
                            output_padding=0, groups=1, bias=True, dilation=1,
                            padding_mode="zeros", device=None, dtype=None) -> None:
        super(cls, self).__init__(0, 0, kernel_size, stride, padding, output_padding, groups,
                                  False, dilation, padding_mode, device=device, dtype=dtype)
        self._make_lazy(out_channels, bias, device, dtype)

    init = __init_transposed__ if issubclass(base, _ConvTransposeNd) else __init__
    init.__name__ = "__init__"
    init.__qualname__ = name + ".__init__"
    cls = type(name, (_LazyConvXdMixin, base), {
        "__module__": __name__,
        "__doc__": f"A {base.__name__} that learns `in_channels` from its first input.",
        "cls_to_become": base,
        "__init__": init,
        "_get_num_spatial_dims": lambda self: spatial,
    })
    return cls


LazyConv1d = _lazy_conv(Conv1d, 1)
LazyConv2d = _lazy_conv(Conv2d, 2)
LazyConv3d = _lazy_conv(Conv3d, 3)
LazyConvTranspose1d = _lazy_conv(ConvTranspose1d, 1)
LazyConvTranspose2d = _lazy_conv(ConvTranspose2d, 2)
LazyConvTranspose3d = _lazy_conv(ConvTranspose3d, 3)
