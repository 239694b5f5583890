"""Causal masks that need not be stored: attention biases for unequal lengths."""
from __future__ import annotations

from enum import IntEnum, auto

import torch
from torch import Tensor

__all__ = ["causal_upper_left", "causal_lower_right", "CausalVariant", "CausalBias"]


class CausalVariant(IntEnum):
    """Which corner of a rectangular causal mask the diagonal starts from."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A causal mask (seq_len_q, seq_len_kv), True where attention is allowed.

    Args:
        variant (CausalVariant): which corner the diagonal is aligned with.
        seq_len_q, seq_len_kv (int): numbers of queries and keys.
    """

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant)}")
        offset = 0 if variant is CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
        mask = torch.ones(seq_len_q, seq_len_kv, dtype=torch.bool).tril(diagonal=offset)
        return Tensor._make_subclass(cls, mask, False)

    def __init__(self, variant, seq_len_q, seq_len_kv):
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            import warnings
            warnings.warn("Lower right causal bias will produce NaNs in the output when "
                          "seq_len_q > seq_len_kv!", stacklevel=2)

    def _materialize(self, device=None):
        """The mask as an ordinary tensor."""
        return self.as_subclass(Tensor).to(device) if device else self.as_subclass(Tensor)

    def __repr__(self):
        return self._materialize().__repr__()


def causal_upper_left(*size):
    """A mask whose query i sees the keys 0 ... i."""
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size):
    """A mask whose last query sees all keys, the one before all but the last, and so on."""
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
