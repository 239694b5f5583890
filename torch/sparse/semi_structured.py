"""Names of the 2:4 sparsity that some accelerators compute with. There is none on the CPU."""

import torch

__all__ = ["SparseSemiStructuredTensor", "SparseSemiStructuredTensorCUSPARSELT",
           "SparseSemiStructuredTensorCUTLASS", "to_sparse_semi_structured"]


class SparseSemiStructuredTensor(torch.Tensor):
    """A matrix in which two of four neighbours are zero; needs a CUDA device."""

    _FORCE_CUTLASS = False
    _FUSE_TRANSPOSE = False
    _PROTOTYPE_WARNING_SHOWN = False

    @staticmethod
    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{cls.__name__} needs a CUDA device")


class SparseSemiStructuredTensorCUTLASS(SparseSemiStructuredTensor):
    """The same in the format of CUTLASS."""


class SparseSemiStructuredTensorCUSPARSELT(SparseSemiStructuredTensor):
    """The same in the format of cuSPARSELt."""


def to_sparse_semi_structured(original_tensor, transposed=False, alg_id=0):
    """A 2:4 sparse copy of a matrix on a CUDA device.

    Raises:
        RuntimeError: the matrix is not on a CUDA device.
    """
    if original_tensor.device.type != "cuda":
        raise RuntimeError(
            f"Error original_tensor.device= {original_tensor.device} is not supported! Only CUDA "
            "tensors are currently supported.")
    raise NotImplementedError("to_sparse_semi_structured is not implemented")
