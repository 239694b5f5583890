"""`associative_scan`: running combinations of slices, in a logarithmic number of steps."""

import torch
from torch.utils import _pytree as pytree

__all__ = ["associative_scan"]


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """All prefixes of ``x[0] * x[1] * ...`` along a dimension, where ``*`` is `combine_fn`.

    Args:
        combine_fn: takes two trees of slices (stacked along `dim`) and combines them elementwise;
            must be associative.
        xs: a tree of tensors of the same size along `dim`.
        reverse: combine from the end.
        combine_mode: ``"pointwise"`` or ``"generic"``: the same here.

    Returns a tree of tensors of the shapes of `xs`.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError("Combine_mode must either 'pointwise' or 'generic', but got "
                         f"{combine_mode}")
    leaves, spec = pytree.tree_flatten(xs)
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    if not all(isinstance(x, torch.Tensor) for x in leaves):
        raise ValueError(f"xs leaves must be a Tensor, but got {leaves}")
    if any(x.shape[dim] != leaves[0].shape[dim] for x in leaves):
        raise ValueError("All xs leaves must have the same size along dim")
    if reverse:
        leaves = [x.flip(dim) for x in leaves]

    def combine(a, b):
        result = combine_fn(pytree.tree_unflatten(a, spec), pytree.tree_unflatten(b, spec))
        return pytree.tree_leaves(result)

    result = _scan(combine, [x.movedim(dim, 0) for x in leaves])
    result = [x.movedim(0, dim) for x in result]
    if reverse:
        result = [x.flip(dim) for x in result]
    return pytree.tree_unflatten(result, spec)


def _scan(combine, xs):
    """Doubles the number of combined slices in every round (Hillis and Steele, 1986)."""
    length, step = xs[0].shape[0], 1
    while step < length:
        later = combine([x[:-step] for x in xs], [x[step:] for x in xs])
        xs = [torch.cat([x[:step], y]) for x, y in zip(xs, later)]
        step *= 2
    return xs
