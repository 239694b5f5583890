"""Observers: modules that watch values and find the scale and zero point for them."""

import enum
import functools
import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch._missing import missing_class


class _PartialWrapper:
    """A class with some constructor arguments given; calling it makes an object."""

    def __init__(self, p):
        self.p = p
        self.callable_args = {}

    def __call__(self, *args, **keywords):
        late = {k: v() for k, v in self.callable_args.items() if k not in keywords}
        return self.p(*args, **late, **keywords)

    def __repr__(self):
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs):
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs):
        result = _PartialWrapper(self.p)
        result.callable_args = {**self.callable_args, **kwargs}
        return result


def _with_args(cls_or_self, **kwargs):
    """The class with these arguments given: what a `QConfig` holds."""
    result = _PartialWrapper(functools.partial(
        cls_or_self.p if isinstance(cls_or_self, _PartialWrapper) else cls_or_self, **kwargs
    ))
    if isinstance(cls_or_self, _PartialWrapper):
        result.callable_args = dict(cls_or_self.callable_args)
    return result


def _with_callable_args(cls_or_self, **kwargs):
    """Like `with_args`; the values are functions that are called when an object is made."""
    return _PartialWrapper(functools.partial(cls_or_self)).with_callable_args(**kwargs)


class ObserverBase(ABC, nn.Module):
    """The base of observers: `forward` watches and returns its input."""

    def __init__(self, dtype, is_dynamic=False):
        super().__init__()
        self.dtype = dtype
        self.is_dynamic = is_dynamic

    @abstractmethod
    def forward(self, x):
        pass

    @abstractmethod
    def calculate_qparams(self, **kwargs):
        pass

    with_args = classmethod(_with_args)
    with_callable_args = classmethod(_with_callable_args)


def _range_of(dtype, reduce_range):
    """The quantised range of a dtype; `reduce_range` leaves out a bit."""
    name = str(dtype).split(".")[-1]
    ranges = {"qint8": (-128, 127), "int8": (-128, 127), "quint8": (0, 255), "uint8": (0, 255),
              "qint32": (-2**31, 2**31 - 1), "int32": (-2**31, 2**31 - 1),
              "int16": (-2**15, 2**15 - 1), "uint16": (0, 2**16 - 1), "quint4x2": (0, 15)}
    low, high = ranges[name]
    if reduce_range and name in ("qint8", "int8", "quint8", "uint8"):
        low, high = (low // 2, high // 2)
    return low, high


class UniformQuantizationObserverBase(ObserverBase):
    """Finds scale and zero point from a least and a greatest value."""

    eps: torch.Tensor

    def __init__(self, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False,
                 quant_min=None, quant_max=None, factory_kwargs=None,
                 eps=torch.finfo(torch.float32).eps, is_dynamic=False, **kwargs):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = qscheme
        if reduce_range:
            warnings.warn("Please use quant_min and quant_max to specify the range for observers."
                          "                     reduce_range will be deprecated in a future "
                          "release of PyTorch.", stacklevel=2)
        self.reduce_range = reduce_range
        self.register_buffer("eps", torch.tensor([eps], **(factory_kwargs or {})))
        if self.qscheme not in (torch.per_tensor_affine, torch.per_tensor_symmetric,
                                torch.per_channel_affine, torch.per_channel_symmetric,
                                torch.per_channel_affine_float_qparams):
            raise AssertionError("Default Observer only works for per_tensor_affine, "
                                 "per_tensor_symmetric, per_channel_affine, per_channel_symmetric "
                                 "and per_channel_float_qparams quantization scheme")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            if not quant_min <= 0 <= quant_max:
                raise AssertionError("Used-specified quantization range must include 0.")
            if quant_min >= quant_max:
                raise AssertionError("qmin must be strictly less than qmax for user-specified "
                                     "quantization range.")
            self.quant_min, self.quant_max = quant_min, quant_max
        else:
            self.quant_min, self.quant_max = _range_of(dtype, reduce_range)

    def _calculate_qparams(self, min_val, max_val):
        """Scale and zero point: the range contains 0, which is represented exactly."""
        if min_val.numel() == 0 or bool((min_val == float("inf")).any() and
                                        (max_val == float("-inf")).any()):
            warnings.warn("must run observer before calling calculate_qparams. Returning default "
                          "values.", stacklevel=3)
            return torch.tensor([1.0]), torch.tensor([0])
        low = torch.min(min_val, torch.zeros_like(min_val))
        high = torch.max(max_val, torch.zeros_like(max_val))
        levels = float(self.quant_max - self.quant_min)
        shape = low.size() if low.dim() else (1,)
        if self.qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric):
            scale = torch.max(torch.max(-low, high) / (levels / 2), self.eps)
            middle = 0
            if str(self.dtype) in ("torch.quint8", "torch.uint8"):
                middle = ((self.quant_min + self.quant_max) // 2 if self.has_customized_qrange
                          else 128)
            return scale.reshape(shape), torch.full(shape, middle, dtype=torch.int64)
        if self.qscheme is torch.per_channel_affine_float_qparams:
            scale = (max_val - min_val) / levels
            scale = torch.where(scale > self.eps, scale, torch.ones_like(scale))
            return scale.reshape(shape), (-1 * min_val / scale).reshape(shape)
        scale = torch.max((high - low) / levels, self.eps).reshape(shape)
        zero = self.quant_min - torch.round(low.reshape(shape) / scale).to(torch.int32)
        return scale, zero.clamp(self.quant_min, self.quant_max)

    def reset_min_max_vals(self):
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


class MinMaxObserver(UniformQuantizationObserverBase):
    """The least and greatest value seen."""

    min_val: torch.Tensor
    max_val: torch.Tensor

    def __init__(self, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False,
                 quant_min=None, quant_max=None, factory_kwargs=None,
                 eps=torch.finfo(torch.float32).eps, is_dynamic=False, **kwargs):
        if qscheme in (torch.per_channel_affine, torch.per_channel_symmetric,
                       torch.per_channel_affine_float_qparams):
            raise NotImplementedError("MinMaxObserver's qscheme only support "
                                      "torch.per_tensor_symmetric and torch.per_tensor_affine.")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps,
                         is_dynamic, **kwargs)
        self._factory = factory_kwargs or {}
        self.reset_min_max_vals()

    def reset_min_max_vals(self):
        """Forgets what was seen."""
        for name, value in (("min_val", float("inf")), ("max_val", float("-inf"))):
            self.register_buffer(name, torch.tensor(value, **self._factory))

    def forward(self, x_orig):
        if x_orig.numel():
            low, high = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
            self._take(low, high)
        return x_orig

    def _take(self, low, high):
        self.min_val.copy_(torch.min(low, self.min_val))
        self.max_val.copy_(torch.max(high, self.max_val))

    def calculate_qparams(self):
        """(scale, zero_point)"""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"


def _moving(old, new, constant):
    return old + constant * (new - old)


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Moving averages of the least and greatest value of each input."""

    def __init__(self, averaging_constant=0.01, dtype=torch.quint8,
                 qscheme=torch.per_tensor_affine, reduce_range=False, quant_min=None,
                 quant_max=None, eps=torch.finfo(torch.float32).eps, is_dynamic=False, **kwargs):
        self.averaging_constant = averaging_constant
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps,
                         is_dynamic=is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def _take(self, low, high):
        if self.min_val == float("inf") and self.max_val == float("-inf"):
            self.min_val.copy_(low)
            self.max_val.copy_(high)
            return
        self.min_val.copy_(_moving(self.min_val, low, self.averaging_constant))
        self.max_val.copy_(_moving(self.max_val, high, self.averaging_constant))


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The least and greatest value of each index of dimension `ch_axis`."""

    min_val: torch.Tensor
    max_val: torch.Tensor

    def __init__(self, ch_axis=0, dtype=torch.quint8, qscheme=torch.per_channel_affine,
                 reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None,
                 eps=torch.finfo(torch.float32).eps, is_dynamic=False, **kwargs):
        if qscheme in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            raise NotImplementedError("PerChannelMinMaxObserver's qscheme only support "
                                      "torch.per_channel_symmetric, torch.per_channel_affine and "
                                      "torch.per_channel_affine_float_qparams.")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps,
                         is_dynamic, **kwargs)
        self.ch_axis = ch_axis
        self.reset_min_max_vals()

    def reset_min_max_vals(self):
        """Forgets what was seen."""
        self.register_buffer("min_val", torch.tensor([]))
        self.register_buffer("max_val", torch.tensor([]))

    def forward(self, x_orig):
        if x_orig.numel():
            x = x_orig.detach().to(self.min_val.dtype)
            rows = x.movedim(self.ch_axis, 0).flatten(start_dim=1) if x.dim() > 1 else x[:, None]
            low, high = torch.aminmax(rows, dim=1)
            self._take(low, high)
        return x_orig

    def _take(self, low, high):
        if self.min_val.numel():
            low, high = torch.min(low, self.min_val), torch.max(high, self.max_val)
        self._keep(low, high)

    def _keep(self, low, high):
        self.min_val.resize_(low.shape).copy_(low)
        self.max_val.resize_(high.shape).copy_(high)

    def calculate_qparams(self):
        """(scales, zero_points)"""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(self, state_dict, prefix, *args, **kwargs):
        for name in ("min_val", "max_val"):  # their length is known from the file only
            value = state_dict.get(prefix + name)
            if value is not None:
                getattr(self, name).resize_(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Moving averages of `PerChannelMinMaxObserver`."""

    def __init__(self, averaging_constant=0.01, ch_axis=0, dtype=torch.quint8,
                 qscheme=torch.per_channel_affine, reduce_range=False, quant_min=None,
                 quant_max=None, eps=torch.finfo(torch.float32).eps, is_dynamic=False, **kwargs):
        super().__init__(ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps,
                         is_dynamic=is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def _take(self, low, high):
        if self.min_val.numel():
            low = _moving(self.min_val, low, self.averaging_constant)
            high = _moving(self.max_val, high, self.averaging_constant)
        self._keep(low, high)


HistogramObserver = missing_class("torch.ao.quantization.observer.HistogramObserver",
                                  UniformQuantizationObserverBase)
HistogramObserver.__abstractmethods__ = frozenset()


class FixedQParamsObserver(ObserverBase):
    """A scale and zero point that are known."""

    scale: torch.Tensor
    zero_point: torch.Tensor

    def __init__(self, scale, zero_point, dtype=torch.quint8, qscheme=torch.per_tensor_affine,
                 quant_min=0, quant_max=255, is_dynamic=False, **kwargs):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.quant_min, self.quant_max = quant_min, quant_max
        self.register_buffer("scale", torch.tensor([scale], dtype=torch.float))
        self.register_buffer("zero_point", torch.tensor([zero_point], dtype=torch.int))
        self.dtype, self.qscheme = dtype, qscheme

    def forward(self, X):
        return X

    def calculate_qparams(self):
        return self.scale, self.zero_point


class _NoParams(ObserverBase):
    def forward(self, x):
        return x

    def calculate_qparams(self, **kwargs):
        raise Exception(f"calculate_qparams should not be called for {type(self).__name__}")


class PlaceholderObserver(_NoParams):
    """Only says a dtype: for values that are quantised as they come, or cast."""

    def __init__(self, dtype=torch.float32, custom_op_name="", compute_dtype=None, quant_min=None,
                 quant_max=None, qscheme=None, eps=None, is_dynamic=False):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = torch.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max, self.eps = quant_min, quant_max, eps
        self.custom_op = custom_op_name
        if compute_dtype:
            is_dynamic = True
            warnings.warn("Please use `is_dynamic` instead of `compute_dtype`.                    "
                          "`compute_dtype` will be deprecated in a future release of PyTorch.",
                          stacklevel=2)
        self.is_dynamic = is_dynamic

    def extra_repr(self):
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"


class NoopObserver(_NoParams):
    """Watches nothing; for values kept in float16."""

    def __init__(self, dtype=torch.float16, custom_op_name=""):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name


class ReuseInputObserver(_NoParams):
    """The output has the scale and zero point of the input."""

    def __init__(self):
        super().__init__(torch.quint8, is_dynamic=False)


class RecordingObserver(_NoParams):
    """Keeps the values it has seen."""

    def __init__(self, dtype=torch.quint8):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val = []

    def forward(self, x):
        self.tensor_val.append(x.clone())
        return x

    def get_tensor_value(self):
        return self.tensor_val


# ---------------------------------------------------------------- granularity


class MappingType(enum.Enum):
    """How numbers map to the quantised range."""

    SYMMETRIC = enum.auto()
    SYMMETRIC_NO_CLIPPING_ERR = enum.auto()
    ASYMMETRIC = enum.auto()


class ZeroPointDomain(enum.Enum):
    """What kind of number the zero point is."""

    INT = enum.auto()
    FLOAT = enum.auto()
    NONE = enum.auto()


TorchAODType = enum.Enum("TorchAODType", [f"INT{n}" for n in range(1, 8)], module=__name__)


@dataclass(frozen=True)
class Granularity:
    """Which values share a scale."""


@dataclass(frozen=True)
class PerBlock(Granularity):
    block_size: tuple


@dataclass(frozen=True)
class PerTensor(Granularity):
    pass


@dataclass(frozen=True)
class PerAxis(Granularity):
    axis: int


@dataclass(frozen=True)
class PerGroup(Granularity):
    group_size: int


class PerRow(Granularity):
    pass


class PerToken(Granularity):
    pass


def get_block_size(input_shape, granularity):
    """The shape of the blocks that share a scale."""
    if isinstance(granularity, PerTensor):
        return tuple(input_shape)
    if isinstance(granularity, PerBlock):
        return granularity.block_size
    if isinstance(granularity, PerAxis):
        return tuple(1 if i == granularity.axis else n for i, n in enumerate(input_shape))
    if isinstance(granularity, (PerRow, PerToken)):
        return (1,) * (len(input_shape) - 1) + (input_shape[-1],)
    if isinstance(granularity, PerGroup):
        return (1,) * (len(input_shape) - 1) + (granularity.group_size,)
    raise ValueError(f"Unsupported Granularity: {granularity}")


AffineQuantizedObserverBase = missing_class(
    "torch.ao.quantization.observer.AffineQuantizedObserverBase"
)


def get_observer_state_dict(mod):
    """The part of a model's state that belongs to observers."""
    return OrderedDict((k, v) for k, v in mod.state_dict().items()
                       if "activation_post_process" in k)


def load_observer_state_dict(mod, obs_dict):
    """Loads what `get_observer_state_dict` returned."""
    missing, unexpected = mod.load_state_dict(obs_dict, strict=False)
    missing = [k for k in missing if "observer" in k or "activation_post_process" in k]
    if missing or unexpected:
        raise Exception(f"Error(s) in loading state_dict for {mod.__class__.__name__}:\n"
                        f"Missing keys for observer {missing} in state_dict")


# ---------------------------------------------------------------- usual choices

_narrow = {"quant_min": -127, "quant_max": 127, "eps": 2**-12}
_symmetric = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric}
_channels = {"dtype": torch.qint8, "qscheme": torch.per_channel_symmetric}
_float_qparams = {"qscheme": torch.per_channel_affine_float_qparams, "ch_axis": 0}
_byte = {"dtype": torch.quint8, "quant_min": 0, "quant_max": 255}

default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_reuse_input_observer = ReuseInputObserver
default_weight_observer = MinMaxObserver.with_args(**_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(**_symmetric, **_narrow)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(**_channels)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    **_channels, **_narrow
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(**_byte, is_dynamic=True)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(dtype=torch.quint8,
                                                                    **_float_qparams)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, **_byte
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, **_byte
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
if hasattr(torch, "quint4x2"):
    default_float_qparams_observer_4bit = PerChannelMinMaxObserver.with_args(
        dtype=torch.quint4x2, **_float_qparams
    )
