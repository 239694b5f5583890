"""Recurrent layers: plain RNN, LSTM (Hochreiter & Schmidhuber 1997), GRU (Cho et al. 2014)."""
from __future__ import annotations

import math
import numbers

import torch
from torch import Tensor
from torch.nn import init
from torch.nn.parameter import Parameter
from torch.nn.utils.rnn import PackedSequence

from .module import Module

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _apply_permutation(tensor, permutation, dim=1):
    return tensor.index_select(dim, permutation)


def apply_permutation(tensor, permutation, dim=1):
    """Deprecated; use ``tensor.index_select(dim, permutation)``."""
    import warnings
    warnings.warn("`apply_permutation` is deprecated, please use "
                  "`tensor.index_select(dim, permutation)` instead", FutureWarning,
                  stacklevel=2)
    return _apply_permutation(tensor, permutation, dim)


def _check_arguments(input_size, hidden_size, num_layers, bias, dropout, proj_size):
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 \
            or isinstance(dropout, bool):
        raise ValueError("dropout should be a number in range [0, 1] representing the "
                         "probability of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        import warnings
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero "
            f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}", stacklevel=4)
    if not isinstance(input_size, int):
        raise TypeError(
            f"input_size should be of type int, got: {type(input_size).__name__}")
    if input_size <= 0:
        raise ValueError("input_size must be greater than zero")
    if not isinstance(hidden_size, int):
        raise TypeError(
            f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """What RNN, LSTM and GRU share.

    Args:
        mode (str): "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        input_size (int): features of the input.
        hidden_size (int): features of the hidden state.
        num_layers (int): layers on top of each other. Default: 1.
        bias (bool): whether there are biases. Default: ``True``.
        batch_first (bool): whether tensors are (N, L, F) rather than (L, N, F).
        dropout (float): dropout between layers, in training. Default: 0.
        bidirectional (bool): whether there is a second, backward direction.
        proj_size (int): size that an LSTM's output is projected to; 0 for none.
    """

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias",
                     "batch_first", "dropout", "bidirectional", "proj_size"]
    __jit_unused_properties__ = ["all_weights"]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True,
                 batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        if not isinstance(bias, bool):
            raise TypeError(f"bias should be of type bool, got: {type(bias).__name__}")
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout if isinstance(dropout, bool) else float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        _check_arguments(input_size, hidden_size, num_layers, bias, self.dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for direction in range(2 if bidirectional else 1):
                self._add_layer(layer, direction, {"device": device, "dtype": dtype})
        self._init_flat_weights()
        self.reset_parameters()

    def _add_layer(self, layer, direction, factory):
        """Register the parameters of one direction of one layer."""
        out_size = self.proj_size if self.proj_size > 0 else self.hidden_size
        in_size = (self.input_size if layer == 0
                   else out_size * (2 if self.bidirectional else 1))
        gates = _GATES[self.mode] * self.hidden_size
        shapes = [("weight_ih", (gates, in_size)), ("weight_hh", (gates, out_size))]
        if self.bias:
            shapes += [("bias_ih", (gates,)), ("bias_hh", (gates,))]
        if self.proj_size > 0:
            shapes.append(("weight_hr", (self.proj_size, self.hidden_size)))
        suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
        names = [name + suffix for name, _ in shapes]
        for name, (_, shape) in zip(names, shapes):
            setattr(self, name, Parameter(torch.empty(shape, **factory)))
        self._flat_weights_names.extend(names)
        self._all_weights.append(names)

    def _init_flat_weights(self) -> None:
        self._flat_weights = [getattr(self, name, None)
                              for name in self._flat_weights_names]
        self.flatten_parameters()

    def __setattr__(self, attr, value) -> None:
        names = self.__dict__.get("_flat_weights_names")
        flat = self.__dict__.get("_flat_weights")
        if names is not None and flat is not None and attr in names:
            flat[names.index(attr)] = value
        super().__setattr__(attr, value)

    def flatten_parameters(self) -> None:
        """Do nothing: the kernels here take the weights where they are."""

    def _apply(self, fn, recurse=True):
        result = super()._apply(fn, recurse)
        self._init_flat_weights()
        return result

    def reset_parameters(self) -> None:
        """Draw all parameters from U(-k, k), k = 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input, batch_sizes) -> None:
        """Raise where dtype or sizes of `input` do not fit."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype and not torch.is_autocast_enabled():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype "
                f"({weight.dtype}). Convert input: input.to({weight.dtype}), or convert "
                f"model: model.to({input.dtype})")
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(
                f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {input.size(-1)}")

    def _batch_size(self, input, batch_sizes):
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0) if self.batch_first else input.size(1)

    def _state_shape(self, batch, size):
        directions = 2 if self.bidirectional else 1
        return (self.num_layers * directions, batch, size)

    def get_expected_hidden_size(self, input, batch_sizes):
        """Shape of the hidden state for `input`."""
        size = self.proj_size if self.proj_size > 0 else self.hidden_size
        return self._state_shape(self._batch_size(input, batch_sizes), size)

    def check_hidden_size(self, hx, expected_hidden_size,
                          msg="Expected hidden size {}, got {}") -> None:
        """Raise unless `hx` has the shape `expected_hidden_size`."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def _weights_have_changed(self):
        return any(getattr(self, name, None) is not weight for name, weight
                   in zip(self._flat_weights_names, self._flat_weights))

    def check_forward_args(self, input, hidden, batch_sizes) -> None:
        """Raise where `input` or `hidden` does not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """`hx` with its batch in another order."""
        if permutation is None:
            return hx
        return _apply_permutation(hx, permutation)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def _update_flat_weights(self) -> None:
        """Take the weights anew: parametrizations and functional calls exchange them."""
        owned = self._parameters
        self._flat_weights[:] = [
            owned[name] if name in owned else getattr(self, name, None)
            for name in self._flat_weights_names]

    def __getstate__(self):
        self._update_flat_weights()
        return super().__getstate__()

    def __setstate__(self, d):
        super().__setstate__(d)
        if "all_weights" in d:  # a very old name
            self._all_weights = d["all_weights"]
        self.__dict__.setdefault("proj_size", 0)  # pickles older than projections
        if self._all_weights and not isinstance(self._all_weights[0][0], str):
            self._all_weights = self._weight_names_by_layer()
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self._flat_weights = [getattr(self, name, None)
                              for name in self._flat_weights_names]

    def _weight_names_by_layer(self):
        layers = []
        for layer in range(self.num_layers):
            for direction in range(2 if self.bidirectional else 1):
                suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                names = ["weight_ih", "weight_hh"]
                names += ["bias_ih", "bias_hh"] if self.bias else []
                names += ["weight_hr"] if self.proj_size > 0 else []
                layers.append([name + suffix for name in names])
        return layers

    @property
    def all_weights(self):
        """The parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _replicate_for_data_parallel(self):
        replica = super()._replicate_for_data_parallel()
        # The flat list must not be shared: the copies have other tensors.
        replica._flat_weights = replica._flat_weights[:]
        return replica

    # --- pieces of forward that all kinds share -------------------------------------------

    def _check_rank(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got "
                             f"{input.dim()}D instead")

    def _zeros(self, like, batch, size):
        return torch.zeros(self._state_shape(batch, size), dtype=like.dtype,
                           device=like.device)

    def _run(self, function, input, hx, batch_sizes):
        if batch_sizes is None:
            return function(input, hx, self._flat_weights, self.bias, self.num_layers,
                            self.dropout, self.training, self.bidirectional,
                            self.batch_first)
        return function(input, batch_sizes, hx, self._flat_weights, self.bias,
                        self.num_layers, self.dropout, self.training, self.bidirectional)

    def _forward_single_state(self, function, input, hx, got):
        """The forward of RNN and GRU, whose state is one tensor."""
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            data, batch_sizes, sorted_indices, unsorted_indices = input
            if hx is None:
                hx = self._zeros(data, int(batch_sizes[0]), self.hidden_size)
            else:
                hx = self.permute_hidden(hx, sorted_indices)
            self.check_forward_args(data, hx, batch_sizes)
            output, hidden = self._run(function, data, hx, batch_sizes)
            output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return output, self.permute_hidden(hidden, unsorted_indices)
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got "
                             f"{input.dim()}D {got}instead")
        batched = input.dim() == 3
        if hx is not None and hx.dim() != input.dim():
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {input.dim()}-D but "
                               f"got {hx.dim()}-D tensor")
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
            hx = hx.unsqueeze(1) if hx is not None else None
        if hx is None:
            hx = self._zeros(input, input.size(batch_dim), self.hidden_size)
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(function, input, hx, None)
        if not batched:
            return output.squeeze(batch_dim), hidden.squeeze(1)
        return output, hidden


class RNN(RNNBase):
    """``h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh)``.

    Args:
        nonlinearity (str): "tanh" (default) or "relu"; the fourth positional argument.

    The others are those of :class:`RNNBase` without `mode` and `proj_size`. ``forward(input,
    hx=None)`` takes (L, N, F), (L, F) or a PackedSequence and returns (output, h_n).
    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity == "tanh":
            mode = "RNN_TANH"
        elif self.nonlinearity == "relu":
            mode = "RNN_RELU"
        else:
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' "
                             "or 'relu'.")
        super().__init__(mode, *args, **kwargs)

    def forward(self, input, hx=None):
        function = torch.rnn_tanh if self.mode == "RNN_TANH" else torch.rnn_relu
        return self._forward_single_state(function, input, hx, "tensor ")


class LSTM(RNNBase):
    """Long short-term memory.

    Arguments are those of :class:`RNNBase` without `mode`. ``forward(input, hx=None)`` takes
    (L, N, F), (L, F) or a PackedSequence, and (h_0, c_0); it returns (output, (h_n, c_n)).
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """Shape of the cell state for `input`."""
        return self._state_shape(self._batch_size(input, batch_sizes), self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes) -> None:
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        if permutation is None:
            return hx
        return _apply_permutation(hx[0], permutation), _apply_permutation(hx[1], permutation)

    def _zero_states(self, like, batch):
        size = self.proj_size if self.proj_size > 0 else self.hidden_size
        return self._zeros(like, batch, size), self._zeros(like, batch, self.hidden_size)

    def _forward_packed(self, packed, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = packed
        if hx is None:
            hx = self._zero_states(data, int(batch_sizes[0]))
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, *hidden = self._run(torch.lstm, data, hx, batch_sizes)
        output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(tuple(hidden), unsorted_indices)

    def forward(self, input, hx=None):
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        self._check_rank(input)
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
        if hx is None:
            hx = self._zero_states(input, input.size(batch_dim))
        else:
            rank = 3 if batched else 2
            if hx[0].dim() != rank or hx[1].dim() != rank:
                kind = "batched 3-D" if batched else "unbatched 2-D"
                raise RuntimeError(
                    f"For {kind} input, hx and cx should also be {rank}-D but got "
                    f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
            if not batched:
                hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        self.check_forward_args(input, hx, None)
        output, *hidden = self._run(torch.lstm, input, hx, None)
        if not batched:
            return output.squeeze(batch_dim), (hidden[0].squeeze(1), hidden[1].squeeze(1))
        return output, tuple(hidden)


class GRU(RNNBase):
    """Gated recurrent units.

    Arguments are those of :class:`RNNBase` without `mode` and `proj_size`. ``forward(input,
    hx=None)`` takes (L, N, F), (L, F) or a PackedSequence and returns (output, h_n).
    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input, hx=None):
        return self._forward_single_state(torch.gru, input, hx, "")


class RNNCellBase(Module):
    """What the cells share: one step of one layer."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None,
                 dtype=None) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(torch.empty((rows, input_size), **factory))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), **factory))
        if bias:
            self.bias_ih = Parameter(torch.empty(rows, **factory))
            self.bias_hh = Parameter(torch.empty(rows, **factory))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if "nonlinearity" in self.__dict__ and self.nonlinearity != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def reset_parameters(self) -> None:
        """Draw all parameters from U(-k, k), k = 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check_rank(self, what, tensor):
        if tensor.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected {what} to be 1D or 2D, got "
                             f"{tensor.dim()}D instead")

    def _step(self, function, input, hx):
        return function(input, hx, self.weight_ih, self.weight_hh, self.bias_ih,
                        self.bias_hh)

    def _forward_single_state(self, function, input, hx):
        """The forward of RNNCell and GRUCell, whose state is one tensor."""
        self._check_rank("input", input)
        if hx is not None:
            self._check_rank("hidden", hx)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype,
                             device=input.device)
        elif not batched:
            hx = hx.unsqueeze(0)
        result = self._step(function, input, hx)
        return result if batched else result.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of an RNN: (N, input_size), (N, hidden_size) -> (N, hidden_size).

    Args:
        input_size, hidden_size (int): sizes of input and state.
        bias (bool): whether there are biases. Default: ``True``.
        nonlinearity (str): "tanh" (default) or "relu".
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None,
                 dtype=None) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device,
                         dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx: Tensor | None = None):
        if self.nonlinearity == "tanh":
            function = torch.rnn_tanh_cell
        elif self.nonlinearity == "relu":
            function = torch.rnn_relu_cell
        else:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._forward_single_state(function, input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM; ``forward(input, (h, c)=None)`` returns the new (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device,
                         dtype=dtype)

    def forward(self, input, hx: tuple[Tensor, Tensor] | None = None):
        self._check_rank("input", input)
        if hx is not None:
            for idx, value in enumerate(hx):
                self._check_rank(f"hx[{idx}]", value)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype,
                                device=input.device)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = self._step(torch.lstm_cell, input, hx)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a GRU: (N, input_size), (N, hidden_size) -> (N, hidden_size)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device,
                         dtype=dtype)

    def forward(self, input, hx: Tensor | None = None):
        return self._forward_single_state(torch.gru_cell, input, hx)
