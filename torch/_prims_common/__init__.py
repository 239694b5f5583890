"""Rules about dtypes, shapes and strides as functions: promotion, dimensions, memory formats."""

import enum
import math
import operator
from functools import reduce
from typing import Optional, Sequence, Tuple, Union

import torch

ShapeType = Union[torch.Size, Sequence[int], Tuple[int, ...]]
StrideType = Sequence[int]
DimsType = Union[int, Sequence[int]]
DeviceLikeType = Union[str, torch.device, int]
TensorLike = torch.Tensor
TensorLikeType = torch.Tensor
NumberType = Union[bool, int, float, complex]
Number = (bool, int, float, complex)
Dim = int
IntLike = (int, torch.SymInt)
FloatLike = (float, torch.SymFloat)
BoolLike = (bool, torch.SymBool)
IntWithoutSymInt = int
MatrixShape = Tuple[int, int]
OptionalDtype = Optional[torch.dtype]

_integer_dtypes = (torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16,
                   torch.int32, torch.int64)
_low_precision_dtypes = (torch.float16, torch.bfloat16, torch.complex32)
_complex_dtypes = (torch.complex32, torch.complex64, torch.complex128)
_real_of = {torch.complex32: torch.float16, torch.complex64: torch.float32,
            torch.complex128: torch.float64}
_complex_of = {torch.float16: torch.complex32, torch.bfloat16: torch.complex64,
               torch.float32: torch.complex64, torch.float64: torch.complex128}
_computation_dtypes = {torch.bfloat16: torch.float32, torch.float16: torch.float32,
                       torch.complex32: torch.complex64}
_ordered_types = (bool, int, float, complex)


# ---------------------------------------------------------------- dtypes


def is_boolean_dtype(dtype):
    return dtype is torch.bool


def is_integer_dtype(dtype):
    """Integers; not bool."""
    return dtype in _integer_dtypes


def is_low_precision_dtype(dtype):
    return dtype in _low_precision_dtypes


def is_float_dtype(dtype):
    return dtype.is_floating_point


def is_complex_dtype(dtype):
    return dtype in _complex_dtypes


def is_grad_dtype(dtype):
    """Can tensors of it require gradients?"""
    return dtype.is_floating_point or is_complex_dtype(dtype)


def corresponding_real_dtype(dtype):
    """float32 for complex64, and so on."""
    return _real_of[dtype]


def corresponding_complex_dtype(dtype):
    """complex64 for float32, and so on."""
    return _complex_of[dtype]


def dtype_to_type(dtype):
    """The Python type of elements."""
    if dtype is torch.bool:
        return bool
    if dtype in _integer_dtypes:
        return int
    if dtype.is_floating_point:
        return float
    if dtype in _complex_dtypes:
        return complex
    raise ValueError("Invalid dtype!")


def type_to_dtype(typ):
    """The dtype that Python numbers of a type get."""
    if typ is bool:
        return torch.bool
    if typ is int:
        return torch.long
    if typ is float:
        return torch.get_default_dtype()
    if typ is complex:
        return corresponding_complex_dtype(torch.get_default_dtype())
    raise ValueError(f"Invalid type {typ}!")


def get_dtype(x):
    return x.dtype if isinstance(x, torch.Tensor) else type_to_dtype(type(x))


def get_higher_type(a, b):
    """The wider of two Python types of numbers."""
    if a not in _ordered_types or b not in _ordered_types:
        raise RuntimeError(f"Expected builtin numeric types, found {a}, {b}")
    return max(a, b, key=_ordered_types.index)


def get_higher_dtype(a, b):
    """The dtype that both promote to. Tensors and numbers count by their dtype; None by nothing."""
    def of(x):
        if x is None or isinstance(x, torch.dtype):
            return x
        return get_dtype(x)

    a, b = of(a), of(b)
    if a is None or b is None or a is b:
        return b if a is None else a
    return torch.promote_types(a, b)


def get_computation_dtype(dtype):
    """The dtype that operators of half types compute in."""
    return _computation_dtypes.get(dtype, dtype)


class ELEMENTWISE_TYPE_PROMOTION_KIND(enum.Enum):
    """How the dtype of an elementwise result follows from the arguments."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(enum.Enum):
    """How the dtype of a reduction follows from its argument."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


class RETURN_TYPE(enum.Enum):
    """What an operator's result is."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)
    NONE = (3,)


def elementwise_dtypes(*_args, type_promotion_kind):
    """(dtype to compute in, dtype of the result) of an elementwise operator."""
    args = [x for x in _args if x is not None]
    for x in args:
        if not isinstance(x, (torch.Tensor, *Number)):
            raise ValueError("Unexpected type when computing elementwise type promotion: "
                             f"{type(x)}")
    result = reduce(torch.result_type, args) if len(args) > 1 else None
    if len(args) == 1:
        result = get_dtype(args[0])
    elif not all(isinstance(x, torch.Tensor) for x in args) or len(args) > 2:
        result = _promoted(args)
    kind = ELEMENTWISE_TYPE_PROMOTION_KIND
    if type_promotion_kind is kind.ALWAYS_BOOL:
        return get_computation_dtype(result), torch.bool
    if type_promotion_kind is kind.NO_OPMATH:
        return result, result
    if type_promotion_kind is kind.INT_TO_FLOAT and not is_grad_dtype(result):
        result = torch.get_default_dtype()
    if type_promotion_kind is kind.BOOL_TO_LONG and result is torch.bool:
        return torch.long, torch.long
    if type_promotion_kind is kind.COMPLEX_TO_FLOAT and is_complex_dtype(result):
        return get_computation_dtype(result), corresponding_real_dtype(result)
    return get_computation_dtype(result), result


def _promoted(args):
    """Promotion over any number of arguments: tensors with dimensions before those without, those
    before numbers, unless these are of a higher category."""
    def category(d):
        return 3 if is_complex_dtype(d) else 2 if d.is_floating_point else int(d is not torch.bool)

    groups = [[], [], []]
    for x in args:
        rank = 2 if not isinstance(x, torch.Tensor) else (0 if x.dim() else 1)
        groups[rank].append(get_dtype(x))
    result = None
    for group in groups:
        if not group:
            continue
        dtype = reduce(torch.promote_types, group)
        if result is None or category(dtype) > category(result):
            complex_wins = result is not None and is_complex_dtype(dtype)
            if complex_wins and result.is_floating_point:
                dtype = corresponding_complex_dtype(result)
            result = dtype
    return result


# ---------------------------------------------------------------- shapes


def canonicalize_dim(rank, idx, wrap_scalar=True):
    """A dimension counted from the front. IndexError if there is no such dimension."""
    if rank < 0:
        raise IndexError(f"Rank cannot be negative but got {rank}")
    if rank == 0:
        if not wrap_scalar:
            raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
        rank = 1
    if not -rank <= idx < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, "
                         f"{rank - 1}], but got {idx})")
    return idx + rank if idx < 0 else idx


def canonicalize_dims(rank, indices, wrap_scalar=True):
    """`canonicalize_dim` of one or several."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, i, wrap_scalar) for i in indices)


def reduction_dims(shape, dims):
    """The dimensions of a reduction: all for None. RuntimeError for a repeated one."""
    if dims is None:
        return tuple(range(len(shape)))
    dims = tuple(canonicalize_dim(len(shape), d) for d in dims)
    if len(set(dims)) != len(dims):
        raise RuntimeError("duplicate value in the list of dims")
    return dims


def is_valid_permutation(rank, perm):
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def is_same_shape(a, b):
    return tuple(a) == tuple(b)


def compute_elementwise_output_strides(*tensors):
    """The strides of an elementwise result: the order in memory of the arguments."""
    shaped = [t for t in tensors if isinstance(t, torch.Tensor)]
    if not shaped:
        raise ValueError("Can't compute elementwise output strides for zero tensors!")
    metas = [torch.empty_strided(t.shape, t.stride(), device="meta") for t in shaped]
    result = metas[0]
    for t in metas[1:]:
        result = result + t
    return tuple((result + 0).stride())


def make_contiguous_strides_for(shape, row_major=True):
    """The strides of a contiguous tensor (its last two dimensions swapped if not `row_major`)."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    strides = tuple(reversed(strides))
    if row_major or len(shape) < 2:
        return strides
    return strides[:-2] + (1, max(shape[-2], 1))


def _channels_last_strides(shape, spatial):
    order = [len(shape) - 1 - spatial, *range(len(shape) - 1, len(shape) - 1 - spatial, -1)]
    order += range(len(shape) - 2 - spatial, -1, -1)
    strides, step = [0] * len(shape), 1
    for d in order:
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def make_channels_last_1d_strides_for(shape):
    return _channels_last_strides(shape, 1)


def make_channels_last_2d_strides_for(shape):
    return _channels_last_strides(shape, 2)


def make_channels_last_3d_strides_for(shape):
    return _channels_last_strides(shape, 3)


def make_channels_last_strides_for(shape):
    """The strides of a channels-last tensor of 3, 4 or 5 dimensions."""
    if len(shape) not in (3, 4, 5):
        raise RuntimeError(f"no channels last format strides exist in {len(shape)} dimensions")
    return _channels_last_strides(shape, len(shape) - 2)


def suggest_memory_format(x):
    """channels_last if the tensor lies so in memory, else contiguous."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    layout = formats.get(x.dim())
    if layout is not None and not x.is_contiguous() and x.is_contiguous(memory_format=layout):
        return layout
    return torch.contiguous_format


def is_contiguous(a, false_if_dde=False):
    return a.is_contiguous()


def is_contiguous_or_false(a):
    return a.is_contiguous()


def is_contiguous_for_memory_format(a, *, memory_format, false_if_dde=False):
    return a.is_contiguous(memory_format=memory_format)


is_contiguous_for_memory_format_or_false = is_contiguous_for_memory_format


def is_non_overlapping_and_dense(a):
    """Do the elements fill a block of memory without gaps or repetition?"""
    step = 1
    for size, stride in sorted(zip(a.shape, a.stride()), key=operator.itemgetter(1)):
        if size == 1:
            continue
        if stride != step:
            return False
        step *= size
    return True


def compute_required_storage_length(shape, strides, storage_offset):
    """How many elements the storage of such a tensor needs."""
    if 0 in shape:
        return 0
    return 1 + storage_offset + sum((n - 1) * s for n, s in zip(shape, strides))


def extract_shape_from_varargs(shape, validate=True):
    """``f(2, 3)`` and ``f((2, 3))`` as (2, 3)."""
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    if validate:
        for n in shape:
            if n < 0:
                raise ValueError(f"Received a sequence with a negative length {n}")
    return shape


extract_dims_from_varargs = extract_shape_from_varargs


def canonicalize_device(device):
    return device if isinstance(device, torch.device) else torch.device(device)


def prod(xs):
    """The product of numbers."""
    return math.prod(xs)
