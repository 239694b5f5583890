"""`QConfig`: which observers a module gets for its results and its weight."""

from collections import namedtuple
from typing import Optional

import torch
import torch.nn as nn
from torch.ao.quantization import fake_quantize as fq
from torch.ao.quantization import observer as ob

__all__ = ["QConfig", "QConfigDynamic", "QConfigAny", "default_qconfig", "default_qat_qconfig",
           "get_default_qconfig", "get_default_qat_qconfig", "qconfig_equals"]


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """Makers of observers (classes or `with_args` of them), not observers."""

    __slots__ = ()

    def __new__(cls, activation, weight):
        if isinstance(activation, nn.Module) or isinstance(weight, nn.Module):
            raise ValueError("QConfig received observer instance, please pass observer class "
                             "instead. Use MyObserver.with_args(x=1) to override arguments to "
                             "constructor if needed")
        return super().__new__(cls, activation, weight)


class QConfigDynamic(namedtuple("QConfigDynamic", ["activation", "weight"])):
    """The older form for dynamic quantisation."""

    __slots__ = ()

    def __new__(cls, activation=nn.Identity, weight=nn.Identity):
        if isinstance(weight, nn.Module):
            raise ValueError("QConfigDynamic received observer instance, please pass observer "
                             "class instead. Use MyObserver.with_args(x=1) to override arguments "
                             "to constructor if needed")
        return super().__new__(cls, activation, weight)


QConfigAny = Optional[QConfig]

default_qconfig = QConfig(ob.default_observer, ob.default_weight_observer)
default_debug_qconfig = QConfig(ob.default_debug_observer, ob.default_weight_observer)
default_per_channel_qconfig = QConfig(ob.default_observer, ob.default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(ob.default_dynamic_quant_observer, ob.default_weight_observer)
float16_dynamic_qconfig = QConfig(
    ob.PlaceholderObserver.with_args(dtype=torch.float16, is_dynamic=True),
    ob.PlaceholderObserver.with_args(dtype=torch.float16),
)
float16_static_qconfig = QConfig(ob.PlaceholderObserver.with_args(dtype=torch.float16),
                                 ob.PlaceholderObserver.with_args(dtype=torch.float16))
per_channel_dynamic_qconfig = QConfig(ob.default_dynamic_quant_observer,
                                      ob.default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(ob.default_placeholder_observer,
                                            ob.default_float_qparams_observer)
float_qparams_weight_only_qconfig_4bit = QConfig(ob.default_placeholder_observer,
                                                 ob.default_float_qparams_observer_4bit)
default_qat_qconfig = QConfig(fq.default_fake_quant, fq.default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(fq.default_dynamic_fake_quant, fq.default_weight_fake_quant)
default_weight_only_qconfig = QConfig(torch.nn.Identity, fq.default_weight_fake_quant)
default_activation_only_qconfig = QConfig(fq.default_fake_quant, torch.nn.Identity)
default_qat_qconfig_v2 = QConfig(fq.default_fused_act_fake_quant, fq.default_fused_wt_fake_quant)
default_reuse_input_qconfig = QConfig(ob.default_reuse_input_observer, ob.NoopObserver)
default_embedding_qat_qconfig = QConfig(ob.NoopObserver.with_args(dtype=torch.float32),
                                        fq.default_embedding_fake_quant)


def _check_backend(backend):
    if backend not in ("fbgemm", "x86", "qnnpack", "onednn"):
        raise AssertionError(f"backend: {backend} not supported. backend must be one of "
                             "['fbgemm', 'x86', 'qnnpack', 'onednn']")


def get_default_qconfig(backend="x86", version=0):
    """The usual `QConfig` for a backend's quantised kernels."""
    _check_backend(backend)
    if version != 0:
        raise AssertionError(f"Version number: {version} in get_default_qconfig is not supported. "
                             "Version number must be 0")
    histogram = ob.HistogramObserver.with_args
    if backend == "qnnpack":
        return QConfig(histogram(reduce_range=False), ob.default_weight_observer)
    return QConfig(histogram(reduce_range=backend != "onednn"),
                   ob.default_per_channel_weight_observer)


def get_default_qat_qconfig(backend="x86", version=1):
    """The usual `QConfig` for learning with simulated quantisation."""
    _check_backend(backend)
    if version not in (0, 1):
        raise AssertionError(f"Version number: {version} in get_default_qat_qconfig is not "
                             "supported. Version number must be 0 or 1")
    per_tensor = backend == "qnnpack"
    kind = fq.FakeQuantize if version == 0 else fq.FusedMovingAvgObsFakeQuantize
    activation = kind.with_args(observer=ob.MovingAverageMinMaxObserver, quant_min=0,
                                quant_max=255, reduce_range=backend in ("fbgemm", "x86"))
    if version == 0:
        weight = (fq.default_weight_fake_quant if per_tensor
                  else fq.default_per_channel_weight_fake_quant)
    else:
        weight = (fq.default_fused_wt_fake_quant if per_tensor
                  else fq.default_fused_per_channel_wt_fake_quant)
    return QConfig(activation, weight)


def get_default_qconfig_dict(backend="x86", version=0):
    return {"": get_default_qconfig(backend, version)}


def get_default_qat_qconfig_dict(backend="x86", version=1):
    return {"": get_default_qat_qconfig(backend, version)}


def _same_maker(a, b):
    if isinstance(a, ob._PartialWrapper) and isinstance(b, ob._PartialWrapper):
        return (a.p.func is b.p.func and a.p.args == b.p.args and a.p.keywords == b.p.keywords)
    return a == b


def qconfig_equals(q1, q2):
    """Do two `QConfig`s make the same observers?"""
    if q1 is None or q2 is None:
        return q1 == q2
    return _same_maker(q1.activation, q2.activation) and _same_maker(q1.weight, q2.weight)
