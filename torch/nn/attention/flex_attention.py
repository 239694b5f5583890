"""Attention with user-written scores and masks, and block-sparse masks.

Scores and masks are functions of indices. They are called once with index tensors that
broadcast to (batch, head, query, key), so they must be written with tensor operations.
"""
from __future__ import annotations

from typing import NamedTuple, Optional

import torch
from torch import Tensor

__all__ = ["BlockMask", "flex_attention", "AuxOutput", "AuxRequest", "FlexKernelOptions",
           "create_block_mask", "create_mask", "or_masks", "and_masks", "noop_mask"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_LARGE_SPARSE_BLOCK_SIZE = 1 << 30


class AuxRequest(NamedTuple):
    """What else `flex_attention` is to return."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by an :class:`AuxRequest`; None for the rest."""

    lse: Optional[Tensor] = None
    max_scores: Optional[Tensor] = None


class FlexKernelOptions(dict):
    """Hints for fused kernels; accepted and not needed here."""


def noop_mask(batch, head, token_q, token_kv):
    """The mask that allows everything."""
    return batch.new_ones(size=(), dtype=torch.bool)


def _check_mods(mask_mods):
    if not all(callable(mod) for mod in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def or_masks(*mask_mods):
    """A mask that allows what any of `mask_mods` allows."""
    _check_mods(mask_mods)

    def or_mask(b, h, q_idx, kv_idx):
        result = b.new_zeros((), dtype=torch.bool)
        for mod in mask_mods:
            result = result | mod(b, h, q_idx, kv_idx)
        return result

    return or_mask


def and_masks(*mask_mods):
    """A mask that allows what all of `mask_mods` allow."""
    _check_mods(mask_mods)

    def and_mask(b, h, q_idx, kv_idx):
        result = b.new_ones((), dtype=torch.bool)
        for mod in mask_mods:
            result = result & mod(b, h, q_idx, kv_idx)
        return result

    return and_mask


def _indices(B, H, Q, KV, device):
    """Index tensors of all four dimensions, each along its own."""
    return (torch.arange(B, device=device).view(-1, 1, 1, 1),
            torch.arange(H, device=device).view(1, -1, 1, 1),
            torch.arange(Q, device=device).view(1, 1, -1, 1),
            torch.arange(KV, device=device).view(1, 1, 1, -1))


def _positional_count(function):
    import inspect
    parameters = inspect.signature(function).parameters.values()
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               and p.default is p.empty for p in parameters)


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The dense bool mask (B, H, Q_LEN, KV_LEN) of a mask or score function.

    Args:
        mod_fn (callable): ``mask(b, h, q_idx, kv_idx)`` or ``score(score, b, h, q_idx,
            kv_idx)``; a score of -inf counts as forbidden.
        B, H (int, optional): None means 1.
    """
    if not callable(mod_fn):
        raise TypeError(f"{mod_fn!r} is not a callable object")
    B, H = 1 if B is None else B, 1 if H is None else H
    shape = (B, H, Q_LEN, KV_LEN)
    index = _indices(*shape, device)
    if _positional_count(mod_fn) == 5:
        scores = mod_fn(torch.zeros(shape, device=device), *index)
        return torch.broadcast_to(scores != float("-inf"), shape).contiguous()
    return torch.broadcast_to(mod_fn(*index), shape).contiguous()


def _round_up(n, multiple):
    return (n + multiple - 1) // multiple * multiple


def _blocks(mask, q_block, kv_block, separate_full_blocks):
    """(partial, full) bool tensors (B, H, rows, cols) of a dense mask."""
    B, H, Q, KV = mask.shape
    padded = mask.new_zeros((B, H, _round_up(Q, q_block), _round_up(KV, kv_block)))
    padded[:, :, :Q, :KV] = mask
    rows, cols = padded.size(2) // q_block, padded.size(3) // kv_block
    count = padded.view(B, H, rows, q_block, cols, kv_block).sum(dim=(3, 5))
    if not separate_full_blocks:
        return count > 0, None
    full = count == q_block * kv_block
    return (count > 0) & ~full, full


def _to_lists(blocks):
    """(number per row, column indices with those of the blocks first), both int32."""
    if blocks is None:
        return None, None
    number = blocks.sum(dim=-1).to(torch.int32)
    order = torch.argsort(blocks.to(torch.int32), dim=-1, descending=True, stable=True)
    return number.contiguous(), order.to(torch.int32).contiguous()


def _to_blocks(number, order):
    """The inverse of `_to_lists`, as int32."""
    if number is None:
        return None
    position = torch.arange(order.size(-1), device=order.device)
    listed = (position < number.unsqueeze(-1)).to(torch.int32)
    return torch.zeros_like(order).scatter(-1, order.long(), listed)


class BlockMask:
    """A mask as lists of blocks: which key blocks each query block needs.

    Blocks that are only partly allowed are in ``kv_num_blocks`` and ``kv_indices``; the
    others are in ``full_kv_num_blocks`` and ``full_kv_indices``. The lists starting with
    ``q`` are the same seen from the keys. Made by :func:`create_block_mask`.
    """

    _TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
                "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")

    def __init__(self, seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks,
                 full_kv_indices, q_num_blocks, q_indices, full_q_num_blocks, full_q_indices,
                 BLOCK_SIZE=(_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
                 mask_mod=noop_mask):
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError(
                "full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        self.seq_lengths = seq_lengths
        values = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices,
                  q_num_blocks, q_indices, full_q_num_blocks, full_q_indices)
        for name, value in zip(self._TENSORS, values):
            setattr(self, name, value)
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(cls, kv_num_blocks, kv_indices, full_kv_num_blocks=None,
                       full_kv_indices=None, BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE,
                       mask_mod=None, seq_lengths=None, compute_q_blocks=True):
        """Build the mask from the lists of key blocks; see the class."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if isinstance(BLOCK_SIZE, int):
            BLOCK_SIZE = (BLOCK_SIZE, BLOCK_SIZE)
        q = full_q = (None, None)
        if compute_q_blocks:
            q = _to_lists(_to_blocks(kv_num_blocks, kv_indices).transpose(-2, -1) > 0)
            if full_kv_num_blocks is not None:
                full = _to_blocks(full_kv_num_blocks, full_kv_indices)
                full_q = _to_lists(full.transpose(-2, -1) > 0)
        if seq_lengths is None:
            seq_lengths = (kv_indices.size(-2) * BLOCK_SIZE[0],
                           kv_indices.size(-1) * BLOCK_SIZE[1])
        return cls(seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks,
                   full_kv_indices, *q, *full_q, BLOCK_SIZE, mask_mod or noop_mask)

    def as_tuple(self, flatten=True):
        """Lengths, lists, block sizes and function, as the constructor takes them."""
        sizes = tuple(self.BLOCK_SIZE) if flatten else (tuple(self.BLOCK_SIZE),)
        lengths = tuple(self.seq_lengths) if flatten else (tuple(self.seq_lengths),)
        return (*lengths, *(getattr(self, name) for name in self._TENSORS), *sizes,
                self.mask_mod)

    @property
    def shape(self):
        """(batch, heads, query length, key length)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self):
        """The number of elements of the dense mask."""
        result = 1
        for size in self.shape:
            result *= size
        return result

    def to_dense(self):
        """int32 (B, H, query blocks, key blocks): 1 for every block that is needed."""
        dense = _to_blocks(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None:
            dense = dense | _to_blocks(self.full_kv_num_blocks, self.full_kv_indices)
        return dense

    def sparsity(self):
        """The share of blocks that are not needed, in percent."""
        needed = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            needed += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - needed / self.kv_indices.numel())

    def to(self, device):
        """The same mask on another device."""
        moved = (None if t is None else t.to(device)
                 for t in (getattr(self, name) for name in self._TENSORS))
        return BlockMask(self.seq_lengths, *moved, self.BLOCK_SIZE, self.mask_mod)

    def __getitem__(self, index):
        """The mask of some batch entries, heads and query blocks; dimensions stay.

        Its function still counts from the beginning of the whole mask.
        """
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index)
        rows = torch.arange(self.kv_indices.size(-2))
        if len(index) > 2:
            rows = rows[index[2]]
        ends = ((rows + 1) * self.BLOCK_SIZE[0]).clamp(max=self.seq_lengths[0])
        q_len = int((ends - rows * self.BLOCK_SIZE[0]).sum())
        picked = (None if t is None else t[index]
                  for t in (getattr(self, name) for name in self._TENSORS[:4]))
        return BlockMask.from_kv_blocks(
            *picked, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=None,
            seq_lengths=(q_len, self.seq_lengths[1]),
            compute_q_blocks=self.q_indices is not None)

    def _adjust(self, new_q_len, new_kv_len):
        """The mask for other lengths: cropped, or with nothing allowed in what is added."""
        rows = _round_up(new_q_len, self.BLOCK_SIZE[0]) // self.BLOCK_SIZE[0]
        cols = _round_up(new_kv_len, self.BLOCK_SIZE[1]) // self.BLOCK_SIZE[1]

        def resized(number, order):
            if number is None:
                return None, None
            old = _to_blocks(number, order)
            new = old.new_zeros((*old.shape[:-2], rows, cols))
            r, c = min(rows, old.size(-2)), min(cols, old.size(-1))
            new[..., :r, :c] = old[..., :r, :c]
            return _to_lists(new > 0)

        return BlockMask.from_kv_blocks(
            *resized(self.kv_num_blocks, self.kv_indices),
            *resized(self.full_kv_num_blocks, self.full_kv_indices), BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod, seq_lengths=(new_q_len, new_kv_len),
            compute_q_blocks=self.q_indices is not None)

    def to_string(self, grid_size=(20, 20), limit=5):
        """A drawing of the blocks for the first `limit - 1` heads."""
        rows, cols = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        dense = self.to_dense().flatten(0, -3).to(torch.float32)
        heads = self.kv_indices.size(-3) if self.kv_indices.dim() > 2 else 1
        lines = []
        for i in range(dense.size(0)):
            if i == limit - 1 and dense.size(0) > limit - 1:
                lines += ["...", "To print out more, set BlockMask.to_string(limit=N)",
                          "You can also index (BlockMask[batch, head]) to choose a specific "
                          "batch or head"]
                break
            lines += [f"({i // heads}, {i % heads})", *_draw(dense[i], rows, cols), ""]
        return "\n".join(lines)

    def __str__(self):
        head = f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n"
        return head + self.to_string().removesuffix("\n") + "\n)"

    def __repr__(self):
        lines = []
        for name in self._TENSORS:
            value = getattr(self, name)
            lines.append(f"    {name}={value.shape if value is not None else None},")
        lines += [f"    BLOCK_SIZE={self.BLOCK_SIZE},", f"    shape={self.shape},",
                  f"    sparsity={self.sparsity():.2f}%,",
                  f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}"]
        return "BlockMask(\n" + "\n".join(lines) + "\n)"


def _draw(dense, max_rows, max_cols):
    """One line of text per row of a grid: full, partly filled or empty cells."""
    row_step = max(1, -(-dense.size(0) // max_rows))
    col_step = max(1, -(-dense.size(1) // max_cols))
    lines = []
    for r in range(0, dense.size(0), row_step):
        line = ""
        for c in range(0, dense.size(1), col_step):
            share = dense[r:r + row_step, c:c + col_step].mean().item()
            line += "\u2588\u2588" if share == 1 else "\u2591\u2591" if share > 0 else "  "
        lines.append(line)
    return lines


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None,
                      BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE, _compile=False,
                      separate_full_blocks=True, compute_dq_write_order=False, dq_kv_order=True):
    """The :class:`BlockMask` of a mask function.

    Args:
        mask_mod (callable): ``mask(b, h, q_idx, kv_idx)``, True where attention is allowed.
        B, H (int, optional): batch size and heads; None where the mask does not depend on
            them.
        Q_LEN, KV_LEN (int): numbers of queries and keys.
        device: where the lists are.
        BLOCK_SIZE (int or tuple): queries and keys in a block. Default: 128.
        separate_full_blocks (bool): whether blocks without exceptions are listed apart.
        compute_dq_write_order, dq_kv_order: for kernels of GPUs; the first must be False.
    """
    if compute_dq_write_order:
        raise NotImplementedError("create_block_mask with compute_dq_write_order=True is not "
                                  "implemented")
    if callable(mask_mod) and _positional_count(mask_mod) == 5:
        raise AssertionError(
            f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    if isinstance(BLOCK_SIZE, int):
        BLOCK_SIZE = (BLOCK_SIZE, BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    partial, full = _blocks(mask, *BLOCK_SIZE, separate_full_blocks)
    return BlockMask.from_kv_blocks(*_to_lists(partial), *_to_lists(full),
                                    BLOCK_SIZE=BLOCK_SIZE, mask_mod=mask_mod,
                                    seq_lengths=(Q_LEN, KV_LEN))


def _check_inputs(query, key, value, enable_gqa, block_mask):
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not enable_gqa and query.size(-3) != key.size(-3):
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={query.size(-3)} and Hkv={key.size(-3)}. Try setting enable_gqa=True for GQA.")
    if enable_gqa and query.size(-3) % key.size(-3) != 0:
        raise ValueError("Expect number of query heads to be a multiple of kv heads for GQA "
                         f"but got Hq={query.size(-3)} and Hkv={key.size(-3)}.")
    if key.size(0) != query.size(0) or value.shape[:3] != key.shape[:3]:
        raise ValueError("Expect query, key and value to have the same batch size, and key and "
                         f"value the same lengths, but got {tuple(query.shape)}, "
                         f"{tuple(key.shape)} and {tuple(value.shape)}.")
    if query.size(-1) != key.size(-1):
        raise ValueError("Expect query and key/value to have the same embedding dimension but "
                         f"got E={query.size(-1)} and E={key.size(-1)}.")
    if block_mask is not None:
        q_len, kv_len = block_mask.seq_lengths
        for name, dim in (("batch", 0), ("head", 1)):
            size = block_mask.shape[dim]
            if size not in (1, query.size(dim)):
                raise ValueError(f"block_mask has {name} size {size}, but query has "
                                 f"{query.size(dim)}")
        if query.size(-2) > q_len or key.size(-2) > kv_len:
            raise RuntimeError(
                "block_mask was created for a smaller length than you're using it for, you "
                "likely need to create a new block mask.")
        if query.size(-2) < q_len or key.size(-2) < kv_len:
            raise RuntimeError(
                "block_mask was created for a larger length than you're using it for, you can "
                "either create a new block mask with the correct length, or adjust this one by "
                "calling block_mask._adjust(q_len, kv_len).")


def _allowed(block_mask, index, q_len, kv_len):
    """The dense mask of `block_mask`: its function within the blocks it needs."""
    def spread(blocks):
        blocks = blocks.bool().repeat_interleave(block_mask.BLOCK_SIZE[0], dim=-2)
        blocks = blocks.repeat_interleave(block_mask.BLOCK_SIZE[1], dim=-1)
        return blocks[..., :q_len, :kv_len]

    partial = spread(_to_blocks(block_mask.kv_num_blocks, block_mask.kv_indices))
    allowed = partial & block_mask.mask_mod(*index)
    if block_mask.full_kv_num_blocks is not None:
        allowed = allowed | spread(
            _to_blocks(block_mask.full_kv_num_blocks, block_mask.full_kv_indices))
    return allowed


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None,
                   enable_gqa=False, return_lse=False, kernel_options=None, *,
                   return_aux=None):
    """``softmax(score_mod(q @ k.T * scale)) @ v`` where `block_mask` allows it.

    Args:
        query, key, value (Tensor): (B, Hq, L, E), (B, Hkv, S, E), (B, Hkv, S, Ev).
        score_mod (callable, optional): ``score(score, b, h, q_idx, kv_idx)``.
        block_mask (BlockMask, optional): from :func:`create_block_mask`.
        scale (float, optional): None means 1 / sqrt(E).
        enable_gqa (bool): whether Hq may be a multiple of Hkv.
        return_lse (bool): deprecated; whether the logsumexp of the scores is returned too.
        kernel_options (dict, optional): hints, not needed here.
        return_aux (AuxRequest, optional): what else to return, as an :class:`AuxOutput`.

    A query that may attend to nothing gets zeros.
    """
    _check_inputs(query, key, value, enable_gqa, block_mask)
    scale = query.size(-1) ** -0.5 if scale is None else scale
    if key.size(-3) != query.size(-3):
        repeats = query.size(-3) // key.size(-3)
        key = key.repeat_interleave(repeats, dim=-3)
        value = value.repeat_interleave(repeats, dim=-3)
    working = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = (query @ key.transpose(-2, -1)).to(working) * scale
    index = _indices(*scores.shape, query.device)
    if score_mod is not None:
        scores = score_mod(scores, *index).to(working)
    if block_mask is not None:
        allowed = _allowed(block_mask, index, query.size(-2), key.size(-2))
        scores = scores.masked_fill(~allowed, float("-inf"))
    top = scores.amax(dim=-1, keepdim=True) if scores.size(-1) else scores.sum(-1, True)
    # Rows without any key: exp(-inf - 0) gives zeros instead of nan.
    safe = torch.where(top == float("-inf"), torch.zeros_like(top), top).detach()
    weights = torch.exp(scores - safe)
    total = weights.sum(dim=-1, keepdim=True)
    weights = weights / torch.where(total == 0, torch.ones_like(total), total)
    output = weights.to(query.dtype) @ value.to(query.dtype)
    lse = (torch.log(total) + safe).squeeze(-1)
    if return_aux is not None:
        return output, AuxOutput(lse=lse if return_aux.lse else None,
                                 max_scores=top.squeeze(-1) if return_aux.max_scores else None)
    return (output, lse) if return_lse else output
