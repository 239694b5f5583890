"""Modules whose weights are quantised. Not written yet: making one raises."""

from torch._missing import add_missing

add_missing(globals(), "torch.ao.nn.quantized.dynamic", classes=(
    "Linear LSTM GRU LSTMCell RNNCell GRUCell Conv1d Conv2d Conv3d ConvTranspose1d "
    "ConvTranspose2d ConvTranspose3d"
))
