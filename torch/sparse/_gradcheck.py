"""Functions of sparse tensors as functions of strided ones, for numerical differentiation."""

import torch

__all__ = ["dense_problem"]


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


def _full(tensor):
    """The same with every element specified: what an unmasked gradient is taken at."""
    dense = tensor.to_dense()
    if tensor.layout == torch.sparse_coo:
        index = torch.ones(dense.shape[:tensor.sparse_dim()]).nonzero().t()
        values = dense.reshape((index.shape[1],) + dense.shape[tensor.sparse_dim():])
        return torch.sparse_coo_tensor(index, values, dense.shape, is_coalesced=True)
    return tensor


def dense_problem(func, inputs, masked):
    """A function of strided tensors, and its arguments, that say the same as `func(*inputs)`."""
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    likes, flat = [], []
    for x in inputs:
        if isinstance(x, torch.Tensor) and x.layout != torch.strided:
            like = x.detach() if masked else _full(x.detach())
            likes.append(like)
            flat.append(_values(like).clone().requires_grad_(x.requires_grad))
        else:
            likes.append(None)
            flat.append(x)

    def strided(y):
        sparse = isinstance(y, torch.Tensor) and y.layout != torch.strided
        return y.to_dense(masked_grad=masked) if sparse else y

    def inner(*args):
        given = [a if like is None else _rebuild(like, a) for like, a in zip(likes, args)]
        out = func(*given)
        if isinstance(out, (tuple, list)):
            return tuple(strided(y) for y in out)
        return strided(out)

    return inner, tuple(flat)
