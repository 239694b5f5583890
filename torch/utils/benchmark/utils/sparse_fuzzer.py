"""Random sparse tensors for the Fuzzer."""

import torch
from torch.utils.benchmark.utils.fuzzer import FuzzedTensor

__all__ = ["FuzzedSparseTensor"]


class FuzzedSparseTensor(FuzzedTensor):
    """A COO tensor; `sparse_dim`, `nnz` (as a part of all elements, or `density`) and
    `coalesced` are names of parameters."""

    def __init__(self, name, size, min_elements=None, max_elements=None, dim_parameter=None,
                 sparse_dim=None, nnz=None, density=None, coalesced=None, dtype=torch.float32,
                 cuda=False):
        super().__init__(name=name, size=size, min_elements=min_elements,
                         max_elements=max_elements, dim_parameter=dim_parameter, dtype=dtype,
                         cuda=cuda)
        self._sparse_dim, self._nnz, self._density = sparse_dim, nnz, density
        self._coalesced = coalesced

    @staticmethod
    def sparse_tensor_constructor(size, dtype, sparse_dim, nnz, is_coalesced):
        """A COO tensor with `nnz` random places in its first `sparse_dim` dimensions."""
        size = tuple(size)
        indices = torch.rand(sparse_dim, nnz)
        limits = torch.tensor(size[:sparse_dim], dtype=indices.dtype).unsqueeze(1)
        indices = (indices * limits).to(torch.long)
        values = FuzzedTensor.default_tensor_constructor((nnz, *size[sparse_dim:]), dtype)
        tensor = torch.sparse_coo_tensor(indices, values, size)
        return tensor.coalesce() if is_coalesced else tensor

    def _make_tensor(self, params, state):
        size, _, _ = self._get_size_and_steps(params)
        nnz = params[self._nnz] if self._nnz is not None else params[self._density]
        sparse_dim = params[self._sparse_dim] if self._sparse_dim is not None else len(size)
        sparse_dim = min(sparse_dim, len(size))
        coalesced = params[self._coalesced] if self._coalesced is not None else True
        places = 1
        for extent in size[:sparse_dim]:
            places *= extent
        count = nnz if isinstance(nnz, int) and nnz > 1 else int(nnz * places)
        tensor = self.sparse_tensor_constructor(size, self._dtype, sparse_dim, count, coalesced)
        if self._cuda:
            tensor = tensor.cuda()
        return tensor, {
            "numel": tensor.numel(), "shape": tensor.size(), "sparse_dim": sparse_dim,
            "dense_dim": len(size) - sparse_dim, "is_coalesced": tensor.is_coalesced(),
            "density": tensor._nnz() / places if places else 0.0, "dtype": str(self._dtype)}
