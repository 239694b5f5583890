"""torch.sparse: functions of sparse tensors that are not also functions of `torch`."""

import torch
from torch import _C, _sparse_tensor
from torch._legacy_types import tensortype as _tensortype

from .semi_structured import (
    SparseSemiStructuredTensor, SparseSemiStructuredTensorCUSPARSELT,
    SparseSemiStructuredTensorCUTLASS, to_sparse_semi_structured,
)

__all__ = [
    "SparseSemiStructuredTensor", "SparseSemiStructuredTensorCUSPARSELT",
    "SparseSemiStructuredTensorCUTLASS", "addmm", "as_sparse_gradcheck",
    "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "solve",
    "sum", "to_sparse_semi_structured",
]

addmm = _C._sparse._sparse_addmm
mm = _C._sparse._sparse_mm
sampled_addmm = _C._sparse.sparse_sampled_addmm
softmax = _C._sparse._sparse_softmax
log_softmax = _C._sparse._sparse_log_softmax
spdiags = _C._sparse._spdiags
spsolve = _C._sparse._spsolve


def sum(input, dim=None, dtype=None):
    """The sum over all elements, or over the dimensions `dim`, of a sparse tensor.

    The result is sparse as long as a sparse dimension stays. Its gradient is sparse, with the
    places of the input.

    Args:
        input (Tensor): a coordinate tensor.
        dim (int or tuple of int): the dimensions summed; all, if left out.
        dtype (torch.dtype): of the result.
    """
    given = {} if dtype is None else {"dtype": dtype}
    if dim is None:
        return torch._sparse_sum(input, **given)
    return torch._sparse_sum(input, dim, **given)


class check_sparse_tensor_invariants:
    """Whether constructors of sparse tensors check their parts: a switch, a context manager and a
    decorator.

    The checks cost a pass over the indices and are off at first.
    """

    def __init__(self, enable=True):
        self.state = enable
        self.saved_state = None

    @staticmethod
    def is_enabled():
        """Whether the checks are on."""
        return _sparse_tensor._STATE["check"]

    @staticmethod
    def enable():
        """Turns the checks on."""
        _sparse_tensor._STATE["check"] = True

    @staticmethod
    def disable():
        """Turns the checks off."""
        _sparse_tensor._STATE["check"] = False

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a "
                               "different context manager instance for context nesting.")
        self.saved_state = self.is_enabled()
        _sparse_tensor._STATE["check"] = self.state

    def __exit__(self, type, value, traceback):
        _sparse_tensor._STATE["check"] = self.saved_state
        self.saved_state = None

    def __call__(self, function):
        def wrapped(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)

        return wrapped


def as_sparse_gradcheck(gradcheck):
    """`gradcheck` for functions with sparse arguments and results.

    Sparse outputs are compared through :meth:`to_dense`. With ``masked=True`` gradients are
    compared at the specified elements only.
    """

    def checked(func, inputs, *, masked=False, **options):
        from ._gradcheck import strided

        return gradcheck(strided(func, masked), inputs, masked=masked, **options)

    return checked


class _sparse_tensortype(_tensortype):
    is_sparse = True

    def __instancecheck__(cls, instance):
        return (isinstance(instance, torch.Tensor) and instance.dtype == cls.dtype
                and instance.layout == torch.sparse_coo)

    def __call__(cls, *args, **kwargs):
        if len(args) >= 2 and all(isinstance(a, torch.Tensor) for a in args[:2]):
            return torch.sparse_coo_tensor(*args, dtype=cls.dtype, **kwargs)
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        return torch.sparse_coo_tensor(tuple(size), dtype=cls.dtype, **kwargs)

    def __repr__(cls):
        return f"<class 'torch.sparse.{cls.__name__}'>"

    @property
    def layout(cls):
        return torch.sparse_coo


for _name, _dtype in {"BFloat16": "bfloat16", "Byte": "uint8", "Char": "int8", "Double": "float64",
                      "Float": "float32", "Half": "float16", "Int": "int32", "Long": "int64",
                      "Short": "int16"}.items():
    globals()[_name + "Tensor"] = _sparse_tensortype(
        _name + "Tensor", (), {"__module__": "torch.sparse", "dtype": getattr(torch, _dtype)})
del _name, _dtype
