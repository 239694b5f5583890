"""`torch.sparse_coo_tensor` and the other constructors of sparse tensors from their parts.

The parts may be tensors, sequences or arrays. Whether they fit is checked only on request
(``check_invariants=True`` or `torch.sparse.check_sparse_tensor_invariants`), since it reads them.
"""

import torch
from torch import _C

__all__ = ["sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor",
           "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor"]

_STATE = {"check": False}


def _checked(check_invariants):
    return _STATE["check"] if check_invariants is None else check_invariants


def _part(data, dtype, device):
    if isinstance(data, torch.Tensor):
        return data.to(device=device, dtype=dtype) if dtype or device is not None else data
    return torch.tensor(data, dtype=dtype, device=device)


def _finish(tensor, requires_grad, pin_memory):
    if pin_memory:
        raise NotImplementedError("pin_memory of sparse tensors needs an accelerator")
    return tensor.requires_grad_() if requires_grad and not tensor.requires_grad else tensor


def _is_size(value):
    return isinstance(value, torch.Size) or (
        isinstance(value, (tuple, list)) and all(isinstance(v, int) for v in value))


def _coo_size(indices, values):
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    size = [0] * indices.shape[0]
    if indices.numel():
        low = indices.amin(1).tolist()
        for d, v in enumerate(low):
            if v < 0:
                raise RuntimeError(f"found negative index {v} for dim {d}")
        size = [v + 1 for v in indices.amax(1).tolist()]
    return size + list(values.shape[1:])


def sparse_coo_tensor(indices, values=None, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None,
                      is_coalesced=None):
    """A tensor given by the coordinates of its specified elements.

    Args:
        indices: integers of shape (sparse_dim, nnz). As the only argument: the size of a tensor
            without elements.
        values: the elements, (nnz, *dense sizes).
        size: the smallest that fits, if left out.
        dtype, device: those of `values`, if left out.
        check_invariants: whether the indices are checked against the size.
        is_coalesced: a promise that the indices are sorted and not repeated.

    Raises:
        RuntimeError: the parts do not belong together.
    """
    if values is None and _is_size(indices):
        values = torch.empty([0], dtype=dtype or torch.get_default_dtype(), device=device)
        size, indices = list(indices), torch.empty([len(indices), 0], dtype=torch.int64)
        made = _C._sparse_coo_tensor_with_dims_and_tensors(
            len(size), 0, size, indices, values, is_coalesced=True)
        return _finish(made, requires_grad, pin_memory)
    if values is None:
        raise TypeError("sparse_coo_tensor(): missing argument 'values'")
    values = _part(values, dtype, device)
    indices = _part(indices, torch.int64, values.device)
    if values.dim() == 0:
        values = values.expand(1)
    size = _coo_size(indices, values) if size is None else list(size)
    if _checked(check_invariants):
        _C._VariableFunctions._validate_sparse_coo_tensor_args(
            indices, values, size, is_coalesced=is_coalesced)
    sparse_dim = indices.shape[0] if indices.dim() else 0
    made = _C._sparse_coo_tensor_with_dims_and_tensors(
        sparse_dim, len(size) - sparse_dim, size, indices, values, is_coalesced=is_coalesced)
    return _finish(made, requires_grad, pin_memory)


_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_BLOCKS = (torch.sparse_bsr, torch.sparse_bsc)


def _compressed_size(compressed, plain, values, layout):
    """The smallest size that the parts fill."""
    batch = list(compressed.shape[:-1])
    at = len(batch) + 1
    block = list(values.shape[at:at + 2]) if layout in _BLOCKS else [1, 1]
    dense = list(values.shape[at + (2 if layout in _BLOCKS else 0):])
    lines = compressed.shape[-1] - 1
    across = int(plain.max()) + 1 if plain.numel() else 0
    rows, cols = (lines, across) if layout in _ROWS else (across, lines)
    return batch + [rows * block[0], cols * block[1]] + dense


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None,
                             layout=None, device=None, pin_memory=False, requires_grad=False,
                             check_invariants=None):
    """A tensor in a compressed layout (CSR, CSC, BSR or BSC).

    Args:
        compressed_indices: where each row (column for CSC and BSC) of elements or blocks begins,
            and their number: (*batch, n + 1).
        plain_indices: the column (row) of each element or block, (*batch, nnz).
        values: the elements or blocks, (*batch, nnz, *block, *dense sizes).
        size: the smallest that fits, if left out.
        layout: one of ``torch.sparse_csr``, ``sparse_csc``, ``sparse_bsr``, ``sparse_bsc``.

    Raises:
        RuntimeError: the parts do not belong together.
    """
    values = _part(values, dtype, device)
    compressed = _part(compressed_indices, None, values.device)
    plain = _part(plain_indices, None, values.device)
    if size is None and layout is not None and compressed.dim() and plain.dim():
        size = _compressed_size(compressed, plain, values, layout)
    size = list(size or ())
    if _checked(check_invariants):
        _C._VariableFunctions._validate_sparse_compressed_tensor_args(
            compressed, plain, values, size, layout)
    made = _C._sparse_compressed_tensor_with_parts(compressed, plain, values, size, layout=layout)
    return _finish(made, requires_grad, pin_memory)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None):
    """`sparse_compressed_tensor` with compressed rows."""
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, dtype=dtype, layout=torch.sparse_csr,
        device=device, pin_memory=pin_memory, requires_grad=requires_grad,
        check_invariants=check_invariants)


def sparse_csc_tensor(ccol_indices, row_indices, values, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None):
    """`sparse_compressed_tensor` with compressed columns."""
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, dtype=dtype, layout=torch.sparse_csc,
        device=device, pin_memory=pin_memory, requires_grad=requires_grad,
        check_invariants=check_invariants)


def sparse_bsr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None):
    """`sparse_compressed_tensor` of dense blocks, with compressed rows of blocks."""
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, dtype=dtype, layout=torch.sparse_bsr,
        device=device, pin_memory=pin_memory, requires_grad=requires_grad,
        check_invariants=check_invariants)


def sparse_bsc_tensor(ccol_indices, row_indices, values, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None):
    """`sparse_compressed_tensor` of dense blocks, with compressed columns of blocks."""
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, dtype=dtype, layout=torch.sparse_bsc,
        device=device, pin_memory=pin_memory, requires_grad=requires_grad,
        check_invariants=check_invariants)


def _validate_sparse_csr_tensor_args(crow_indices, col_indices, values, size):
    _C._VariableFunctions._validate_sparse_compressed_tensor_args(
        crow_indices, col_indices, values, size, torch.sparse_csr)


def _validate_sparse_csc_tensor_args(ccol_indices, row_indices, values, size):
    _C._VariableFunctions._validate_sparse_compressed_tensor_args(
        ccol_indices, row_indices, values, size, torch.sparse_csc)


def _validate_sparse_bsr_tensor_args(crow_indices, col_indices, values, size):
    _C._VariableFunctions._validate_sparse_compressed_tensor_args(
        crow_indices, col_indices, values, size, torch.sparse_bsr)


def _validate_sparse_bsc_tensor_args(ccol_indices, row_indices, values, size):
    _C._VariableFunctions._validate_sparse_compressed_tensor_args(
        ccol_indices, row_indices, values, size, torch.sparse_bsc)
