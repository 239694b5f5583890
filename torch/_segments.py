"""segment_reduce: reductions of consecutive runs of rows."""

import torch

__all__ = ["segment_reduce"]

_IDENTITY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": float("-inf"), "amin": float("inf")}
_NAMES = {"max": "amax", "min": "amin"}


def _lengths(lengths, offsets, size, unsafe):
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if lengths is None:
        lengths = offsets.diff(dim=-1)
    elif not unsafe and bool((lengths.sum(-1) != size).any()):
        raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                           "data.size(lengths.dim()-1) when !unsafe.")
    return lengths


def _reduce_rows(data, reduce, lengths, initial):
    """One reduction of a run of rows for every length."""
    covered = int(lengths.sum())
    row = torch.repeat_interleave(torch.arange(lengths.numel()), lengths)
    row = row.reshape(-1, *[1] * (data.dim() - 1)).expand(covered, *data.shape[1:])
    first = _IDENTITY[reduce] if initial is None else initial
    out = data.new_full((lengths.numel(), *data.shape[1:]), first)
    how = "sum" if reduce == "mean" else reduce
    out = out.scatter_reduce(0, row, data[:covered], how)
    if reduce == "mean":
        n = lengths.to(out.dtype).reshape(-1, *[1] * (data.dim() - 1))
        out = out / (n if initial is None else n.clamp(min=1))
    return out


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0,
                   unsafe=False, initial=None):
    """The sum, mean, max, min or prod of consecutive runs along `axis`.

    Args:
        lengths: of the runs; its leading dimensions are those of `data` before `axis`.
        offsets: starts of the runs and the end of the last, instead of `lengths`.
        initial: the value of an empty run, and a further value of the others.
    """
    reduce = _NAMES.get(reduce, reduce)
    if reduce not in _IDENTITY:
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got "
                           f"{reduce}")
    if indices is not None:
        raise NotImplementedError("segment_reduce: indices are not implemented")
    lengths = _lengths(lengths, offsets, data.size(axis), unsafe)
    if lengths.dim() != axis + 1:
        raise RuntimeError("segment_reduce(): lengths must have axis + 1 dimensions")
    if axis == 0:
        return _reduce_rows(data, reduce, lengths, initial)
    rows = [segment_reduce(d, reduce, lengths=n, axis=axis - 1, unsafe=True, initial=initial)
            for d, n in zip(data.unbind(0), lengths.unbind(0))]
    return torch.stack(rows)
