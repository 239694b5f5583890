"""Modules made of parts that can be quantised. Not written yet."""

from torch.ao.nn.quantizable import modules  # noqa: F401
from torch.ao.nn.quantizable.modules import LSTM, LSTMCell, MultiheadAttention  # noqa: F401
