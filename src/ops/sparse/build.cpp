// Sparse tensors from their parts, the checks of the parts, and the parts again.
#include <algorithm>

#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {

using namespace sparse;

namespace {

void check_coo_parts(const Tensor& indices, const Tensor& values, IntRef size) {
  check(!is_sparse_kind(indices) && !is_sparse_kind(values),
        "expected indices and values to be dense tensors");
  check(is_integral(indices.dtype(), false), "indices must be an int64 tensor");
  check(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  check(values.dim() >= 1, "values must have at least one dimension");
  const int64_t sparse_dim = indices.size(0), dense_dim = values.dim() - 1;
  check(int64_t(size.size()) == sparse_dim + dense_dim,
        "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
        ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  check(indices.size(1) == values.size(0), "indices and values must have same nnz, but got nnz "
        "from indices: ", indices.size(1), ", nnz from values: ", values.size(0));
  for (int64_t d = 0; d < dense_dim; ++d)
    check(values.size(d + 1) == size[size_t(sparse_dim + d)], "values has incorrect size, "
          "expected ",
          size.slice(size_t(sparse_dim)), ", got ", values.sizes().slice(1));
}

bool is_sorted_without_repetition(const Numbers& at) {
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] <= at[i - 1]) return false;
  return true;
}

}  // namespace

Tensor _sparse_coo_tensor_with_dims_and_tensors(int64_t sparse_dim, int64_t dense_dim, IntRef size,
                                                const Tensor& indices, const Tensor& values,
                                                std::optional<bool> is_coalesced) {
  check_coo_parts(indices, values, size);
  return make_coo(to_dtype(indices, DType::Int64), alias(values), size,
                  is_coalesced.value_or(false));
}

void _validate_sparse_coo_tensor_args(const Tensor& indices, const Tensor& values, IntRef size,
                                      std::optional<bool> is_coalesced) {
  check_coo_parts(indices, values, size);
  const Numbers at = flat_places(to_dtype(indices, DType::Int64), size);
  check(!is_coalesced.value_or(false) || is_sorted_without_repetition(at),
        "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
}

// ---- parts
static SparseImpl& coo_impl(const Tensor& self, const char* what) {
  check(self.is_sparse(), what, " expected sparse coordinate tensor layout but got ",
        short_layout(self));
  return sparse_impl(self);
}
static SparseImpl& row_impl(const Tensor& self, const char* what) {
  check(self.is_sparse_csr() && is_row_major(self.layout()), what,
        " expected sparse row compressed tensor layout but got ", short_layout(self));
  return sparse_impl(self);
}
static SparseImpl& column_impl(const Tensor& self, const char* what) {
  check(self.is_sparse_csr() && !is_row_major(self.layout()), what,
        " expected sparse column compressed tensor layout but got ", short_layout(self));
  return sparse_impl(self);
}
static SparseImpl& raw_coo_impl(const Tensor& self, const char* what) {
  check_implemented(self.is_sparse(), "Could not run 'aten::", what, "' with arguments from the '",
                    self.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
  return sparse_impl(self);
}

Tensor values(const Tensor& self) {
  check(is_sparse_kind(self), "values expected sparse tensor layout but got ", short_layout(self));
  const SparseImpl& s = sparse_impl(self);
  check(self.is_sparse_csr() || s.coalesced, "Cannot get values on an uncoalesced tensor, please "
        "call .coalesce() first");
  return alias(s.values);
}
Tensor indices(const Tensor& self) {
  const SparseImpl& s = coo_impl(self, "indices");
  check(s.coalesced, "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return alias(s.indices);
}
Tensor _values(const Tensor& self) { return alias(raw_coo_impl(self, "_values").values); }
Tensor _indices(const Tensor& self) { return alias(raw_coo_impl(self, "_indices").indices); }
Tensor crow_indices(const Tensor& self) { return alias(row_impl(self, "crow_indices").compressed); }
Tensor col_indices(const Tensor& self) { return alias(row_impl(self, "col_indices").plain); }
Tensor ccol_indices(const Tensor& self) {
  return alias(column_impl(self, "ccol_indices").compressed);
}
Tensor row_indices(const Tensor& self) { return alias(column_impl(self, "row_indices").plain); }

int64_t _nnz(const Tensor& self) {
  check_implemented(is_sparse_kind(self),
                    "Could not run 'aten::_nnz' with arguments from the 'CPU' backend.");
  return sparse_impl(self).nnz();
}
int64_t sparse_dim(const Tensor& self) {
  return is_sparse_kind(self) ? sparse_impl(self).sparse_dim : 0;
}
int64_t dense_dim(const Tensor& self) {
  return is_sparse_kind(self) ? sparse_impl(self).dense_dim : self.dim();
}
bool is_coalesced(const Tensor& self) { return coo_impl(self, "is_coalesced").coalesced; }
void _coalesced_(const Tensor& self, bool coalesced) {
  coo_impl(self, "_coalesced_").coalesced = coalesced;
}

Tensor _coalesce(const Tensor& self) {
  coo_impl(self, "coalesce");
  return coalesced(self);
}

Tensor _sparse_with_values(const Tensor& self, const Tensor& values) {
  return with_values(self, values);
}

// ---- sizes
void sparse_resize_(const Tensor& self, IntRef size, int64_t sparse_dim, int64_t dense_dim) {
  SparseImpl& s = coo_impl(self, "sparse_resize_");
  check(int64_t(size.size()) == sparse_dim + dense_dim,
        "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
        ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  if (s.nnz() == 0) return sparse_assign(self, empty_coo(size, sparse_dim, self.dtype(),
                                                         self.device()));
  check(sparse_dim == s.sparse_dim && dense_dim == s.dense_dim, "changing the number of sparse or "
        "dense dimensions of a non-empty sparse tensor is not supported");
  for (size_t d = 0; d < size.size(); ++d) {
    check(size[d] >= s.sizes[d], "shrinking the size of ",
          int64_t(d) < sparse_dim ? "sparse" : "dense", " dimensions (from ", IntRef(s.sizes),
          " to ", size, ") on a non-empty sparse tensor is not supported");
  }
  Dims shape{s.nnz()};
  for (size_t d = size_t(sparse_dim); d < size.size(); ++d) shape.push_back(size[d]);
  if (IntRef(shape) != s.values.sizes()) {
    Tensor wide = zeros(shape, self.dtype(), self.device());
    copy_into(alias(wide, s.values.sizes(), wide.strides(), 0), s.values);
    s.values = wide;
  }
  s.set_sizes(size);
}

void sparse_resize_and_clear_(const Tensor& self, IntRef size, int64_t sparse_dim,
                              int64_t dense_dim) {
  coo_impl(self, "sparse_resize_and_clear_");
  check(int64_t(size.size()) == sparse_dim + dense_dim,
        "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
        ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  sparse_assign(self, empty_coo(size, sparse_dim, self.dtype(), self.device()));
}

void resize_as_sparse_(const Tensor& self, const Tensor& the_template) {
  coo_impl(self, "resize_as_sparse_");
  const SparseImpl& like = coo_impl(the_template, "resize_as_sparse_");
  sparse_resize_(self, like.sizes, like.sparse_dim, like.dense_dim);
}

}  // namespace rl::native
