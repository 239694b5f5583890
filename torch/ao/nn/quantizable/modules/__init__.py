"""Modules made of parts that can be quantised. Not written yet: making one raises."""

from torch._missing import add_missing

add_missing(globals(), "torch.ao.nn.quantizable.modules", classes=(
    "LSTM LSTMCell MultiheadAttention"
))
