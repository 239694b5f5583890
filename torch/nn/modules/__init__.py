"""All module classes; the rarer ones are loaded when they are first asked for."""
from __future__ import annotations

from .module import Module
from .linear import Bilinear, Identity, LazyLinear, Linear
from .activation import (
    CELU, ELU, GELU, GLU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, LogSigmoid,
    LogSoftmax, Mish, MultiheadAttention, PReLU, ReLU, ReLU6, RReLU, SELU, Sigmoid, SiLU,
    Softmax, Softmax2d, Softmin, Softplus, Softshrink, Softsign, Tanh, Tanhshrink, Threshold,
)
from .container import (
    Container, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential,
)
from .batchnorm import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d,
    SyncBatchNorm,
)
from .conv import (
    Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, LazyConv1d,
    LazyConv2d, LazyConv3d, LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d,
)
from .dropout import (
    AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout,
)
from .flatten import Flatten, Unflatten
from .normalization import CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm
from .sparse import Embedding, EmbeddingBag

# name -> the submodule that defines it
_LAZY = {}
for _file, _names in (
    ("adaptive", "AdaptiveLogSoftmaxWithLoss"),
    ("channelshuffle", "ChannelShuffle"),
    ("distance", "CosineSimilarity PairwiseDistance"),
    ("fold", "Fold Unfold"),
    ("instancenorm", "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d "
     "LazyInstanceNorm2d LazyInstanceNorm3d"),
    ("linear_cross_entropy_options", "LinearCrossEntropyOptions"),
    ("loss", "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss CTCLoss "
     "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss "
     "MarginRankingLoss MSELoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss "
     "NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss "
     "TripletMarginWithDistanceLoss"),
    ("padding", "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
     "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d "
     "ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"),
    ("pixelshuffle", "PixelShuffle PixelUnshuffle"),
    ("pooling", "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
     "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d "
     "FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d "
     "MaxUnpool1d MaxUnpool2d MaxUnpool3d"),
    ("rnn", "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase"),
    ("transformer", "Transformer TransformerDecoder TransformerDecoderLayer "
     "TransformerEncoder TransformerEncoderLayer"),
    ("upsampling", "Upsample UpsamplingBilinear2d UpsamplingNearest2d"),
):
    for _name in _names.split():
        _LAZY[_name] = _file

_SUBMODULES = frozenset((
    "_functions", "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv",
    "distance", "dropout", "flatten", "fold", "instancenorm", "lazy", "linear",
    "linear_cross_entropy_options", "loss", "module", "normalization", "padding",
    "pixelshuffle", "pooling", "rnn", "sparse", "transformer", "upsampling", "utils"))

__all__ = sorted(
    [_name for _name, _value in list(globals().items())
     if isinstance(_value, type) and issubclass(_value, Module)] + list(_LAZY))


def __getattr__(name):
    file = _LAZY.get(name)
    if file is None and name not in _SUBMODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    module = import_module("." + (file or name), __name__)
    value = module if file is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_LAZY, *_SUBMODULES})


from torch._lazy_module import complete_dict as _complete_dict  # noqa: E402

_complete_dict(__name__)
