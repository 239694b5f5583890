"""Functions of sparse tensors as functions of strided ones, for numerical differentiation."""

import torch

__all__ = ["dense_problem", "strided"]


def _parts(tensor):
    if tensor.layout == torch.sparse_coo:
        return (tensor._indices(),)
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices()
    return tensor.ccol_indices(), tensor.row_indices()


def _values(tensor):
    return tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()


def _rebuild(like, values):
    parts = _parts(like)
    if like.layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(*parts, values, like.shape,
                                       is_coalesced=like.is_coalesced())
    return torch.sparse_compressed_tensor(*parts, values, like.shape, layout=like.layout)


class _Specified(torch.autograd.Function):
    """A sparse tensor like a given one from all its elements; more places where they are not 0.

    Its gradient is that of the sparse tensor, wherever that is specified.
    """

    @staticmethod
    def forward(ctx, dense, like):
        if like.layout == torch.sparse_coo:
            mask = _rebuild(like, torch.ones_like(_values(like))).to_dense() != 0
            places = mask | (dense != 0)
            index = places.nonzero().t()
            out = torch.sparse_coo_tensor(index, dense[places], dense.shape, is_coalesced=True)
            return out if like.is_coalesced() else _rebuild(out, _values(out))
        ones = _rebuild(like, torch.ones_like(_values(like))).to_dense()
        filled = torch.where(dense != 0, dense, ones)
        block = tuple(like.values().shape[-2:]) if "bs" in str(like.layout) else None
        shape = filled.to_sparse(layout=like.layout, blocksize=block)
        return dense.sparse_mask(shape)

    @staticmethod
    def backward(ctx, grad):
        return grad.to_dense(), None


def dense_problem(func, inputs, masked):
    """A function of strided tensors, and its arguments, that say the same as `func(*inputs)`.

    With `masked` the arguments are the values of the sparse inputs, else all their elements.
    """
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    likes, flat = [], []
    for x in inputs:
        if isinstance(x, torch.Tensor) and x.layout != torch.strided:
            like = x.detach()
            start = _values(like).clone() if masked else like.to_dense()
            likes.append(like)
            flat.append(start.requires_grad_(x.requires_grad))
        else:
            likes.append(None)
            flat.append(x)

    def inner(*args):
        make = _rebuild if masked else (lambda like, a: _Specified.apply(a, like))
        return func(*[a if like is None else make(like, a) for like, a in zip(likes, args)])

    return inner, tuple(flat)


def strided(function, masked):
    """`function` with sparse results as strided ones."""
    def one(y):
        sparse = isinstance(y, torch.Tensor) and y.layout != torch.strided
        return y.to_dense(masked_grad=masked) if sparse else y

    def inner(*args):
        out = function(*args)
        return tuple(map(one, out)) if isinstance(out, (tuple, list)) else one(out)

    return inner
