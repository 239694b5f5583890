"""Products of groups of matrices, as mixtures of experts use them. Made of ordinary products."""

import torch

__all__ = ["grouped_mm"]

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def _type_name(dtype):
    return torch.empty((), dtype=dtype).type().split(".")[-1].replace("Tensor", "")


def _check_strides(m):
    rows, columns = m.stride(-2), m.stride(-1)
    step = rows if columns == 1 else columns
    if step * m.element_size() % 16:
        raise RuntimeError("strides should be multiple of 16 bytes")


def _check(a, b, offs, bias, out_dtype):
    if a.dtype not in _DTYPES:
        raise RuntimeError("Expected mat_a to be Float32, BFloat16 or Float16 matrix, got "
                           f"{_type_name(a.dtype)}")
    if a.dtype != b.dtype:
        raise RuntimeError("Expected mat_a and mat_b to have the same dtype, got "
                           f"{_type_name(a.dtype)} and {_type_name(b.dtype)}")
    for m, name in ((a, "mat_a"), (b, "mat_b")):
        if m.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    both = a.dim() == 3 and b.dim() == 3
    if both and a.size(0) != b.size(0):
        raise RuntimeError("batched dimension has to match")
    if a.size(-1) != b.size(-2):
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    _check_strides(a)
    _check_strides(b)
    if (offs is None) != both:
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both "
                           "matrices are 3d")
    if offs is not None and offs.dtype != torch.int32:
        raise RuntimeError("Offsets have to be int32")
    for m in (a, b):
        if offs is not None and m.dim() == 3 and m.size(0) != offs.numel():
            raise RuntimeError("matrix batch sizes have to match")
    if out_dtype not in (None, a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")


def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """Products of groups of matrices.

    Two 3-d operands are multiplied pair by pair. Otherwise `offs` (int32) holds the ends of the
    groups: of the rows of a 2-d `mat_a`, of the columns of a 2-d `mat_b`, or of the contracted
    dimension when both are 2-d (the result is then 3-d). float32, bfloat16 and float16; other
    dtypes, odd strides and offsets that do not fit raise RuntimeError.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return torch.bmm(mat_a, mat_b)
    ends = offs.tolist()
    parts, start = [], 0
    for i, end in enumerate(ends):
        a = mat_a[i] if mat_a.dim() == 3 else None
        b = mat_b[i] if mat_b.dim() == 3 else None
        if a is None:
            a = mat_a[start:end] if b is not None else mat_a[:, start:end]
        if b is None:
            b = mat_b[:, start:end] if mat_a.dim() == 3 else mat_b[start:end]
        parts.append(torch.mm(a, b))
        start = end
    if mat_a.dim() == 2 and mat_b.dim() == 2:
        return torch.stack(parts)
    dim = 0 if mat_a.dim() == 2 else 1
    left = mat_a.size(0) - start if dim == 0 else mat_b.size(1) - start
    if left > 0:  # what no group covers
        shape = (left, mat_b.size(-1)) if dim == 0 else (mat_a.size(-2), left)
        parts.append(mat_a.new_zeros(shape))
    return torch.cat(parts, dim)
