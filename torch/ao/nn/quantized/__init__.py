"""Quantised modules. `FloatFunctional` works; the others are not written yet."""

from torch._missing import add_missing
from torch.ao.nn.quantized.functional_modules import (  # noqa: F401
    FloatFunctional,
    FXFloatFunctional,
    QFunctional,
)

add_missing(globals(), "torch.ao.nn.quantized", classes=(
    "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "DeQuantize Dropout ELU Embedding EmbeddingBag GroupNorm Hardswish InstanceNorm1d "
    "InstanceNorm2d InstanceNorm3d LSTM LayerNorm LeakyReLU Linear MultiheadAttention PReLU "
    "Quantize ReLU6 Sigmoid Softmax"
))


def __getattr__(name):
    if name in ("dynamic", "functional_modules"):
        from importlib import import_module

        return import_module("torch.ao.nn.quantized." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
