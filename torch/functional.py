"""Functions of the `torch` namespace that are written with other functions.

A function that the core has under the same name is taken from there; these are the rest.
"""

import builtins
import itertools

import torch
from torch import _C
from torch.overrides import handle_torch_function, has_torch_function

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "align_tensors", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "block_diag", "cdist", "chain_matmul", "einsum", "istft",
    "lu", "norm", "meshgrid", "split", "stft", "tensordot", "unique", "unique_consecutive",
    "unravel_index",
]


def _overridable(f):
    """Lets tensors' classes take a function over, wherever tensors stand among its arguments."""
    import functools

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        relevant = []
        for a in itertools.chain(args, kwargs.values()):
            relevant.extend(a if isinstance(a, (list, tuple)) else (a,))
        if has_torch_function(tuple(relevant)):
            args, kwargs = _spelled_out(f, args, kwargs)
            return handle_torch_function(wrapped, relevant, *args, **kwargs)
        return f(*args, **kwargs)

    return wrapped


def _spelled_out(f, args, kwargs):
    """A call with optional arguments by name, defaults included: what overriding classes see."""
    import inspect

    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    args, kwargs = [], {}
    for name, parameter in bound.signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs.update(value)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            args.append(value)
        else:
            kwargs[name] = value
    return args, kwargs


def _spread(tensors):
    """``f(a, b)`` and ``f([a, b])`` are the same call."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return tuple(tensors[0])
    return tensors


# ---------------------------------------------------------------- shapes


def broadcast_shapes(*shapes):
    """The shape that shapes (or ints) broadcast to. RuntimeError when they do not."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    out = [1] * max((len(s) for s in shapes), default=0)
    for k, shape in enumerate(shapes):
        for i in range(-1, -1 - len(shape), -1):
            n = shape[i]
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n == 1 or n == out[i]:
                continue
            if out[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {i}! Mismatching "
                    f"argument at index {k} had {shape}; but expected shape should be "
                    f"broadcastable to {_needed(out)}"
                )
            out[i] = n
    return torch.Size(out)


def _needed(shape):
    """The shape so far, without leading dimensions that nothing asked for yet."""
    shape = list(shape)
    while len(shape) > 1 and shape[0] == 1:
        shape.pop(0)
    return shape


@_overridable
def broadcast_tensors(*tensors):
    """Views of all tensors in their common shape."""
    tensors = _spread(tensors)
    shape = ()
    for t in tensors:
        shape = _broadcast_two(shape, tuple(t.shape))
    return tuple(t.expand(shape) for t in tensors)


def _broadcast_two(a, b):
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    for i in range(n - 1, -1, -1):
        if a[i] != b[i] and a[i] != 1 and b[i] != 1:
            raise RuntimeError(
                f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at "
                f"non-singleton dimension {i}"
            )
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def align_tensors(*tensors):
    raise NotImplementedError("torch.align_tensors: named tensors are not implemented")


def _at_least(tensors, one):
    if len(tensors) == 1 and isinstance(tensors[0], torch.Tensor):
        return one(tensors[0])
    return tuple(one(t) for t in _spread(tensors))


@_overridable
def atleast_1d(*tensors):
    """Tensors with at least one dimension; several give a tuple."""
    return _at_least(tensors, lambda t: t.reshape(1) if t.dim() == 0 else t)


def _two(t):
    if t.dim() == 0:
        return t.reshape(1, 1)
    return t.unsqueeze(0) if t.dim() == 1 else t


@_overridable
def atleast_2d(*tensors):
    """Tensors with at least two dimensions, new ones in front; several give a tuple."""
    return _at_least(tensors, _two)


def _three(t):
    if t.dim() == 0:
        return t.reshape(1, 1, 1)
    if t.dim() == 1:
        return t.unsqueeze(0).unsqueeze(-1)
    return t.unsqueeze(-1) if t.dim() == 2 else t


@_overridable
def atleast_3d(*tensors):
    """Tensors with at least three dimensions; several give a tuple."""
    return _at_least(tensors, _three)


@_overridable
def split(tensor, split_size_or_sections, dim=0):
    """Pieces of a size, or of the sizes in a list, along `dim`; views."""
    return tensor.split(split_size_or_sections, dim)


@_overridable
def meshgrid(*tensors, indexing=None):
    """Coordinates of a grid: one tensor per axis, in the shape of the whole grid.

    `indexing` is ``"ij"`` (first axis first; the default, with a warning) or ``"xy"`` (the first
    two exchanged, as plots want it).
    """
    tensors = _spread(tensors)
    if indexing is None:
        import warnings

        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.", stacklevel=2,
        )
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}"
            )
        if t.dtype != tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    shape = [t.numel() for t in tensors]
    out = []
    for i, t in enumerate(tensors):
        view = [1] * len(shape)
        view[i] = shape[i]
        out.append(t.reshape(view).expand(shape))
    if swap:
        out[0], out[1] = out[1], out[0]
    return tuple(out)


@_overridable
def cartesian_prod(*tensors):
    """All combinations of the elements of 1-d tensors: one row each."""
    tensors = _spread(tensors)
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return torch.stack([g.reshape(-1) for g in grids], 1)


@_overridable
def block_diag(*tensors):
    """A matrix with the given matrices along its diagonal and zeros elsewhere."""
    tensors = _spread(tensors)
    matrices = []
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                f"{t.dim()} dimensions"
            )
        matrices.append(_two(t))
    if not matrices:
        return torch.empty(1, 0)
    dtype = matrices[0].dtype
    for m in matrices:
        dtype = torch.promote_types(dtype, m.dtype)
    width = builtins.sum(m.size(1) for m in matrices)
    rows, at = [], 0
    for m in matrices:
        left = m.new_zeros((m.size(0), at), dtype=dtype)
        right = m.new_zeros((m.size(0), width - at - m.size(1)), dtype=dtype)
        rows.append(torch.cat([left, m.to(dtype), right], 1))
        at += m.size(1)
    return torch.cat(rows, 0)


@_overridable
def unravel_index(indices, shape):
    """Coordinates, one tensor per dimension of `shape`, of flat indices."""
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(indices, torch.Tensor):
        raise TypeError("unravel_index: indices must be a Tensor")
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == torch.bool:
        raise ValueError(
            f"expected 'indices' to be integer dtype, but got {indices.dtype}"
        )
    for n in shape:
        if not isinstance(n, int) or n < 0:
            raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    out = []
    indices = indices.long()
    for n in reversed(tuple(shape)):
        out.append(indices.remainder(n))
        indices = indices.div(n, rounding_mode="floor")
    return torch.stack(out[::-1], -1).unbind(-1) if out else ()


# ---------------------------------------------------------------- products


@_overridable
def tensordot(a, b, dims=2, out=None):
    """Sum of products over dimensions of two tensors.

    `dims` is a number n (the last n of `a` with the first n of `b`) or two lists of dimensions.
    """
    if isinstance(dims, torch.Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > builtins.min(a.dim(), b.dim()):
            raise RuntimeError(
                f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}"
            )
        first, second = list(range(-dims, 0)), list(range(dims))
    else:
        first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    if out is None:
        return _C.tensordot(a, b, first, second)
    return _C.tensordot(a, b, first, second, out=out)


@_overridable
def chain_matmul(*matrices, out=None):
    """The product of matrices, in the order of multiplication that costs least."""
    matrices = list(_spread(matrices))
    return _C.chain_matmul(matrices) if out is None else _C.chain_matmul(matrices, out=out)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _subscripts(labels):
    """A list of numbers and Ellipsis as the letters of an equation."""
    text = ""
    for label in labels:
        if label is Ellipsis:
            text += "..."
        elif isinstance(label, int) and 0 <= label < 52:
            text += _LETTERS[label]
        elif isinstance(label, int):
            raise RuntimeError(
                "einsum(): not enough dims: expected subscript " + str(label)
                + " to be within the range [0, 52)"
            )
        else:
            raise ValueError("einsum(): subscripts must be integers or Ellipsis")
    return text


def einsum(*args):
    """Einstein summation: ``einsum("ij,jk->ik", a, b)``.

    Every letter names a dimension; letters that the output does not name are summed. ``...`` stands
    for dimensions that broadcast. Operands and lists of numbers, ``einsum(a, [0, 1], b, [1, 2])``,
    are the other way to say it. RuntimeError for equations that do not fit.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, "
            "or at least one operand and its subscripts list"
        )
    if isinstance(args[0], torch.Tensor):
        pairs = len(args) // 2 * 2
        operands = args[0:pairs:2]
        equation = ",".join(_subscripts(labels) for labels in args[1:pairs:2])
        if len(args) % 2 == 1:
            equation += "->" + _subscripts(args[-1])
    else:
        equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    if has_torch_function(operands):
        return handle_torch_function(einsum, operands, equation, *operands)
    return _C.einsum(equation, list(operands))


@_overridable
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances (p-norm) between all rows of two (batches of) matrices."""
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1,
             "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _C.cdist(x1, x2, p, modes[compute_mode])


# ---------------------------------------------------------------- norms, factorisations


@_overridable
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """A vector or matrix norm; `torch.linalg.vector_norm` and `matrix_norm` say which."""
    if isinstance(dim, int):
        dim = [dim]
    elif dim is not None:
        dim = list(dim)
    given = {} if out is None else {"out": out}
    if isinstance(p, str):
        if p == "fro" and (dim is None or len(dim) <= 2):
            return torch.linalg.vector_norm(input, 2, dim, keepdim, dtype=dtype, **given)
        if dim is None:
            dim = list(range(input.dim()))
        return torch.linalg.matrix_norm(input, p, dim, keepdim, dtype=dtype, **given)
    order = 2.0 if p is None else p
    return torch.linalg.vector_norm(input, order, dim, keepdim, dtype=dtype, **given)


@_overridable
def lu(A, pivot=True, get_infos=False, out=None):
    """LU factorisation in the packed form of LAPACK: (LU, pivots), with infos if asked."""
    result = _C._VariableFunctions._lu_with_info(A, pivot=pivot)
    if not get_infos:
        result = tuple(result)[:2]
    if out is not None:
        for o, r in zip(out, result):
            o.resize_(r.shape).copy_(r)
        return out
    return result


def lobpcg(*args, **kwargs):
    """Not there yet."""
    raise NotImplementedError("torch.lobpcg is not implemented")


# ---------------------------------------------------------------- unique


@_overridable
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along `dim`), with inverse indices and counts if asked."""
    if dim is None:
        values, inverse, counts = torch._unique2(
            input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts
        )
    else:
        values, inverse, counts = _C._VariableFunctions.unique_dim(
            input, dim, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts
        )
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _chosen(values, inverse, counts, return_inverse, return_counts):
    out = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return out if len(out) > 1 else values


@_overridable
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements without immediate repetitions."""
    values, inverse, counts = _C._VariableFunctions.unique_consecutive(
        input, return_inverse=return_inverse, return_counts=return_counts, dim=dim
    )
    return _chosen(values, inverse, counts, return_inverse, return_counts)


# ---------------------------------------------------------------- spectrograms


@_overridable
def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True,
         pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
         align_to_window=None):
    """Short-time Fourier transform: spectra of windows that move along the last dimension.

    Returns a complex tensor (..., frequencies, frames), or with ``return_complex=False`` real and
    imaginary parts in a last dimension of two.
    """
    from torch._spectrogram import stft as run

    return run(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized,
               onesided, return_complex)


@_overridable
def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True,
          normalized=False, onesided=None, length=None, return_complex=False):
    """The inverse of `stft`: overlapping frames added up and divided by the windows' envelope."""
    from torch._spectrogram import istft as run

    return run(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
               return_complex)


def __getattr__(name):
    if name in ("pca_lowrank", "svd_lowrank"):
        from torch import _lowrank

        return getattr(_lowrank, name)
    raise AttributeError(f"module 'torch.functional' has no attribute {name!r}")
