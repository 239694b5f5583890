"""Modules that round values as quantisation would, in floating point, and let gradients through."""

from abc import ABC, abstractmethod

import torch
from torch._missing import missing_class
from torch.ao.quantization.observer import (
    FixedQParamsObserver,
    HistogramObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    _with_args,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)
from torch.nn import Module


class _Rounding(torch.autograd.Function):
    """To the quantised grid and back; the gradient passes where nothing was cut off."""

    @staticmethod
    def forward(ctx, x, scale, zero_point, quant_min, quant_max):
        q = torch.round(x * (1.0 / scale)) + zero_point
        ctx.save_for_backward((q >= quant_min) & (q <= quant_max))
        return (q.clamp(quant_min, quant_max) - zero_point) * scale

    @staticmethod
    def backward(ctx, grad):
        (inside,) = ctx.saved_tensors
        return grad * inside, None, None, None, None


class FakeQuantizeBase(ABC, Module):
    """The base: two flags say whether to observe and whether to round."""

    fake_quant_enabled: torch.Tensor
    observer_enabled: torch.Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.uint8))

    @abstractmethod
    def forward(self, x):
        pass

    @abstractmethod
    def calculate_qparams(self, **kwargs):
        pass

    def enable_fake_quant(self, enabled=True):
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self):
        self.enable_fake_quant(False)

    def enable_observer(self, enabled=True):
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self):
        self.enable_observer(False)

    with_args = classmethod(_with_args)


_PER_CHANNEL = (torch.per_channel_affine, torch.per_channel_symmetric,
                torch.per_channel_affine_float_qparams)


class FakeQuantize(FakeQuantizeBase):
    """Observes with `observer` and rounds with the scale and zero point that it gives."""

    scale: torch.Tensor
    zero_point: torch.Tensor

    def __init__(self, observer=MovingAverageMinMaxObserver, quant_min=None, quant_max=None,
                 is_dynamic=False, **observer_kwargs):
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        self.quant_min = self.activation_post_process.quant_min
        self.quant_max = self.activation_post_process.quant_max
        self.is_dynamic = self.activation_post_process.is_dynamic
        self.dtype = self.activation_post_process.dtype
        self.qscheme = self.activation_post_process.qscheme
        self.ch_axis = getattr(self.activation_post_process, "ch_axis", -1)
        floats = self.qscheme is torch.per_channel_affine_float_qparams
        self.register_buffer("scale", torch.tensor([1.0], dtype=torch.float))
        self.register_buffer("zero_point",
                             torch.tensor([0], dtype=torch.float if floats else torch.int))
        self.is_per_channel = self.qscheme in _PER_CHANNEL

    def calculate_qparams(self):
        return self.activation_post_process.calculate_qparams()

    def forward(self, X):
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            scale, zero_point = self.calculate_qparams()
            self.scale.resize_(scale.shape).copy_(scale)
            self.zero_point.resize_(zero_point.shape).copy_(zero_point)
        if self.fake_quant_enabled[0] == 1:
            scale, zero_point = self.scale, self.zero_point
            if self.is_per_channel:
                shape = [1] * X.dim()
                shape[self.ch_axis] = -1
                scale, zero_point = scale.view(shape), zero_point.view(shape)
            X = _Rounding.apply(X, scale, zero_point, self.quant_min, self.quant_max)
        return X

    def extra_repr(self):
        return (f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled="
                f"{self.observer_enabled}, quant_min={self.activation_post_process.quant_min}, "
                f"quant_max={self.activation_post_process.quant_max}, dtype={self.dtype}, "
                f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, "
                f"zero_point={self.zero_point}")

    def _load_from_state_dict(self, state_dict, prefix, *args, **kwargs):
        for name in ("scale", "zero_point"):
            value = state_dict.get(prefix + name)
            if value is not None:
                getattr(self, name).resize_(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


class FixedQParamsFakeQuantize(FakeQuantize):
    """`FakeQuantize` with a known scale and zero point."""

    def __init__(self, observer):
        super().__init__(observer=observer)
        if type(self.activation_post_process) is not FixedQParamsObserver:
            raise AssertionError(f"{self.__class__.__name__}'s observer must be a "
                                 "FixedQParamsObserver")
        self.scale = self.activation_post_process.scale
        self.zero_point = self.activation_post_process.zero_point

    def calculate_qparams(self):
        return self.scale, self.zero_point


FusedMovingAvgObsFakeQuantize = missing_class(
    "torch.ao.quantization.fake_quantize.FusedMovingAvgObsFakeQuantize", FakeQuantize
)

_act = {"quant_min": 0, "quant_max": 255}
_weight = {"quant_min": -128, "quant_max": 127, "dtype": torch.qint8}
_tensor = {"qscheme": torch.per_tensor_symmetric}
_channel = {"qscheme": torch.per_channel_symmetric}
_narrow = {"quant_min": -127, "quant_max": 127, "dtype": torch.qint8}
_float_qparams = {"qscheme": torch.per_channel_affine_float_qparams}
_average = MovingAverageMinMaxObserver
_average_channels = MovingAveragePerChannelMinMaxObserver

default_fake_quant = FakeQuantize.with_args(
    observer=_average, **_act, dtype=torch.quint8, qscheme=torch.per_tensor_affine,
    reduce_range=True,
)
default_weight_fake_quant = FakeQuantize.with_args(observer=_average, **_weight, **_tensor,
                                                   reduce_range=False)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=_average, **_act, is_dynamic=True, dtype=torch.quint8, averaging_constant=1
)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=_average_channels, **_weight, **_channel, reduce_range=False, ch_axis=0
)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=_average_channels, **_float_qparams, dtype=torch.quint8, **_act, ch_axis=0,
    averaging_constant=1,
)
default_embedding_fake_quant_4bit = FakeQuantize.with_args(
    observer=_average_channels, **_float_qparams, ch_axis=0, dtype=torch.quint4x2,
    averaging_constant=1,
)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver, **_act, dtype=torch.quint8, qscheme=torch.per_tensor_affine,
    reduce_range=True,
)
_Fused = FusedMovingAvgObsFakeQuantize
default_fused_act_fake_quant = _Fused.with_args(observer=_average, **_act, dtype=torch.quint8)
default_fused_wt_fake_quant = _Fused.with_args(observer=_average, **_weight, **_tensor)
default_fused_per_channel_wt_fake_quant = _Fused.with_args(observer=_average_channels, **_weight,
                                                           **_channel)
fused_wt_fake_quant_range_neg_127_to_127 = _Fused.with_args(observer=_average, **_narrow,
                                                            **_tensor, eps=2**-12)
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = _Fused.with_args(
    observer=_average_channels, **_narrow, **_channel, eps=2**-12
)


def _each(method):
    def apply(mod):
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, method)()

    apply.__name__ = apply.__qualname__ = method
    apply.__doc__ = f"Calls `{method}` of a fake-quantise module: ``model.apply({method})``."
    return apply


disable_fake_quant, enable_fake_quant = _each("disable_fake_quant"), _each("enable_fake_quant")
disable_observer, enable_observer = _each("disable_observer"), _each("enable_observer")
