"""Batches of sequences of different lengths: padded tensors and packed ones."""
from __future__ import annotations

from collections import namedtuple

import torch
from torch import Tensor

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence",
           "pad_packed_sequence", "pad_sequence", "unpad_sequence", "pack_sequence",
           "unpack_sequence"]

PackedSequence_ = namedtuple(
    "PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"],
    defaults=(None, None))
PackedSequence_.__module__ = __name__


class PackedSequence(PackedSequence_):
    """Sequences packed step by step, longest first; made by :func:`pack_padded_sequence`.

    Attributes:
        data (Tensor): (sum of lengths, \\*), all first steps, then all second steps, ...
        batch_sizes (Tensor): int64 on the CPU, how many sequences have each step.
        sorted_indices (Tensor, optional): the original positions in packed order.
        unsorted_indices (Tensor, optional): the inverse permutation.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        return super().__new__(cls, *_packed_sequence_init_args(
            data, batch_sizes, sorted_indices, unsorted_indices))

    def pin_memory(self):
        """A copy in page-locked memory."""
        return type(self)(
            self.data.pin_memory(), self.batch_sizes,
            *(None if t is None else t.pin_memory()
              for t in (self.sorted_indices, self.unsorted_indices)))

    def to(self, *args, **kwargs):
        """As ``Tensor.to`` on `data`; the indices follow to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        # The indices keep their dtype.
        others = {key: value for key, value in kwargs.items()
                  if key not in ("device", "dtype")}
        moved = (None if t is None else t.to(data.device, **others)
                 for t in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, *moved)

    def cuda(self, *args, **kwargs):
        """A copy on the GPU."""
        probe = torch.tensor((), dtype=self.data.dtype, device=self.data.device)
        if probe.to(*args, **kwargs).is_cuda:
            return self.to(*args, **kwargs)
        kwargs["device"] = "cuda"
        return self.to(*args, **kwargs)

    def cpu(self, *args, **kwargs):
        """A copy on the CPU."""
        probe = torch.tensor((), dtype=self.data.dtype, device=self.data.device)
        if probe.to(*args, **kwargs).device.type == "cpu":
            return self.to(*args, **kwargs)
        kwargs["device"] = "cpu"
        return self.to(*args, **kwargs)

    def double(self):
        """`data` as float64."""
        return self.to(dtype=torch.double)

    def float(self):
        """`data` as float32."""
        return self.to(dtype=torch.float)

    def half(self):
        """`data` as float16."""
        return self.to(dtype=torch.half)

    def long(self):
        """`data` as int64."""
        return self.to(dtype=torch.long)

    def int(self):
        """`data` as int32."""
        return self.to(dtype=torch.int)

    def short(self):
        """`data` as int16."""
        return self.to(dtype=torch.short)

    def char(self):
        """`data` as int8."""
        return self.to(dtype=torch.int8)

    def byte(self):
        """`data` as uint8."""
        return self.to(dtype=torch.uint8)

    @property
    def is_cuda(self):
        """Whether `data` is on the GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether `data` is in page-locked memory."""
        return self.data.is_pinned()


def _packed_sequence_init_args(data, batch_sizes=None, sorted_indices=None,
                               unsorted_indices=None):
    if unsorted_indices is None:
        unsorted_indices = invert_permutation(sorted_indices)
    if batch_sizes is not None:
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should "
                "never be created manually. They should be instantiated by functions like "
                "pack_sequence and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence")
        return data, batch_sizes, sorted_indices, unsorted_indices
    if not (isinstance(data, (list, tuple)) and len(data) == 2):
        raise AssertionError("Expected data to be a list or tuple of length 2")
    return data[0], data[1], sorted_indices, unsorted_indices


def invert_permutation(permutation):
    """The permutation that undoes `permutation`; None for None."""
    if permutation is None:
        return None
    output = torch.empty_like(permutation, memory_format=torch.contiguous_format)
    output.scatter_(0, permutation, torch.arange(
        0, permutation.numel(), device=permutation.device))
    return output


def _step_mask(lengths, steps):
    """(steps, batch), whether a sequence of each length still has each step."""
    return torch.arange(steps).unsqueeze(1) < lengths.unsqueeze(0)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack a padded batch.

    Args:
        input (Tensor): (L, N, \\*), or (N, L, \\*) if `batch_first`.
        lengths (Tensor or list of int): length of each sequence, on the CPU.
        batch_first (bool): layout of `input`. Default: ``False``.
        enforce_sorted (bool): whether sequences must come longest first; else they are sorted
            here. Default: ``True``.

    Raises:
        RuntimeError: for lengths that are unsorted, not positive or too few.
    """
    if not isinstance(lengths, Tensor):
        lengths = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _pack(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices,
                          invert_permutation(sorted_indices))


def _pack(input, lengths, batch_first):
    if lengths.device.type != "cpu":
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got "
                           f"{lengths.dim()}D {lengths.device} {lengths.dtype} tensor")
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if batch_first:
        input = input.transpose(0, 1)
    if lengths.numel() != input.size(1):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got "
                           f"{lengths.numel()} (batch_size={input.size(1)})")
    values = lengths.tolist()
    if any(a < b for a, b in zip(values, values[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is "
            "True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or "
            "pack_sequence to sidestep this requirement if you do not need ONNX "
            "exportability.")
    if values[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an "
                           "element in 'lengths' that is <= 0")
    mask = _step_mask(lengths, int(values[0]))
    positions = mask.reshape(-1).nonzero().squeeze(1).to(input.device)
    data = input.flatten(0, 1).index_select(0, positions)
    return data, mask.sum(1)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The inverse of :func:`pack_padded_sequence`: (padded tensor, lengths).

    Args:
        sequence (PackedSequence): the batch.
        batch_first (bool): layout of the result. Default: ``False``.
        padding_value (float): what fills the rest. Default: 0.
        total_length (int, optional): number of steps of the result, if more than needed.
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{steps}")
        steps = total_length
    padded, lengths = _unpack(sequence.data, sequence.batch_sizes, padding_value, steps)
    if batch_first:
        padded = padded.transpose(0, 1)
    unsorted_indices = sequence.unsorted_indices
    if unsorted_indices is not None:
        batch_dim = 0 if batch_first else 1
        return (padded.index_select(batch_dim, unsorted_indices),
                lengths[unsorted_indices.cpu()])
    return padded, lengths


def _unpack(data, batch_sizes, padding_value, steps):
    batch = int(batch_sizes[0])
    mask = torch.arange(batch).unsqueeze(0) < batch_sizes.unsqueeze(1)
    positions = mask.reshape(-1).nonzero().squeeze(1).to(data.device)
    padded = data.new_full((steps * batch, *data.shape[1:]), padding_value)
    padded = padded.index_copy(0, positions, data)
    return padded.unflatten(0, (steps, batch)), mask.sum(0)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stack sequences (L_i, \\*) into one tensor, shorter ones padded.

    Args:
        sequences (iterable of Tensor): the sequences.
        batch_first (bool): whether the result is (N, L, \\*) rather than (L, N, \\*).
        padding_value (float): what fills the rest. Default: 0.
        padding_side (str): "right" (default) or "left".
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(type(sequences), "__iter__"):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg "
                           f"of type: {type(sequences)}")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError("Expected padding_side to be one of left or right, but got "
                           f"{padding_side}.")
    lengths = [sequence.size(0) for sequence in sequences]
    longest, count = max(lengths), len(sequences)
    first = sequences[0]
    padded = first.new_full((count * longest, *first.shape[1:]), padding_value)
    data = torch.cat(sequences)
    positions = []
    for i, length in enumerate(lengths):
        start = i * longest + (longest - length if padding_side == "left" else 0)
        positions.append(torch.arange(start, start + length))
    padded = padded.index_copy(0, torch.cat(positions).to(first.device), data.to(padded.dtype))
    padded = padded.unflatten(0, (count, longest))
    return padded if batch_first else padded.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The list of sequences that a padded batch was made of.

    Args:
        padded_sequences (Tensor): (L, N, \\*), or (N, L, \\*) if `batch_first`.
        lengths (Tensor): length of each sequence.
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[:int(length)]
            for sequence, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack a list of sequences (L_i, \\*); see :func:`pack_padded_sequence`."""
    lengths = torch.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths,
                                enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
