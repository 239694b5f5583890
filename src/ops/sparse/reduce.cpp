// Sums and norms of sparse tensors.
#include <algorithm>

#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {
Tensor sum(const Tensor& self, std::optional<IntRef> dim, bool keepdim, std::optional<DType> dtype);
Tensor sum_all(const Tensor& self, std::optional<DType> dtype);
Tensor any_full(const Tensor& self);
}  // namespace rl::native

namespace rl::sparse {

Tensor sum_all(const Tensor& self, std::optional<DType> dtype) {
  return native::sum_all(sparse_impl(self).values, dtype);
}

Tensor any_full(const Tensor& self) {
  check_implemented(self.is_sparse(), "Could not run 'aten::any.all_out' with arguments from the "
                    "'SparseCsrCPU' backend.");
  return native::any_full(sparse_impl(self).values);
}

namespace {

// Which dimensions are summed; an empty list: none. IndexError, RuntimeError for repetitions.
std::vector<bool> marked(IntRef dims, int64_t n) {
  std::vector<bool> out(size_t(n), false);
  for (int64_t d : dims) {
    const int64_t w = wrap_dim(d, n);
    check(!out[size_t(w)], "dim ", w, " appears multiple times in the list of dims");
    out[size_t(w)] = true;
  }
  return out;
}

Tensor sum_dense_dims(const SparseImpl& s, const std::vector<bool>& gone, bool keepdim,
                      DType dtype) {
  Dims dims;
  for (size_t d = size_t(s.sparse_dim); d < gone.size(); ++d)
    if (gone[d]) dims.push_back(int64_t(d) - s.sparse_dim + 1);
  const Tensor values = native::to_dtype(s.values, dtype);
  return dims.empty() ? values : native::sum(values, IntRef(dims), keepdim, dtype);
}

}  // namespace

// Sparse where a sparse dimension stays, else dense.
Tensor sum_coo(const Tensor& self, IntRef dims, bool keepdim, DType dtype) {
  const SparseImpl& s = sparse_impl(self);
  const std::vector<bool> gone = marked(dims, self.dim());
  const Tensor values = sum_dense_dims(s, gone, keepdim, dtype);
  Numbers kept;
  Dims sizes, all_kept;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!gone[size_t(d)] && d < s.sparse_dim) kept.push_back(d);
    if (!gone[size_t(d)]) sizes.push_back(s.sizes[size_t(d)]);
    all_kept.push_back(gone[size_t(d)] ? 1 : s.sizes[size_t(d)]);
  }
  const Dims shape = keepdim ? all_kept : sizes;
  if (kept.empty()) {
    const Dims first{0};
    const Tensor total = native::sum(values, IntRef(first), false, dtype);
    return alias(total, shape, contiguous_strides(shape), total.offset());
  }
  if (int64_t(kept.size()) == s.sparse_dim) return make_coo(s.indices, values, shape, s.coalesced);
  const Tensor indices = take_rows(s.indices, kept);
  Dims inner;
  for (size_t d : kept) inner.push_back(s.sizes[d]);
  for (int64_t d = 1; d < values.dim(); ++d) inner.push_back(values.size(d));
  const Tensor sums = coalesced(make_coo(indices, values, inner, false));
  const SparseImpl& r = sparse_impl(sums);
  if (!keepdim) return make_coo(r.indices, r.values, shape, true);
  const int64_t n = r.nnz();
  const Numbers from = numbers(r.indices);
  Numbers index(size_t(s.sparse_dim * n), 0);
  for (size_t k = 0; k < kept.size(); ++k)
    std::copy_n(from.begin() + int64_t(k) * n, n, index.begin() + kept[k] * n);
  return make_coo(from_numbers(index, {s.sparse_dim, n}, DType::Int64, self.device()), r.values,
                  shape, false);
}

static DType sum_dtype(const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(is_integral(self.dtype(), true) ? DType::Int64 : self.dtype());
}

Tensor sum(const Tensor& self, std::optional<IntRef> dim, bool keepdim,
           std::optional<DType> dtype) {
  const DType d = sum_dtype(self, dtype);
  if (!dim && !keepdim) return sum_all(self, dtype);
  Dims every;
  for (int64_t i = 0; i < self.dim(); ++i) every.push_back(i);
  const IntRef dims = dim ? *dim : IntRef(every);
  if (self.is_sparse()) return sum_coo(self, dims, keepdim, d);
  check(self.layout() == Layout::SparseCsr, "Currently the only compressed sparse format supported "
        "for sum.dim_IntList is CSR, but got layout ", short_layout(self));
  check(keepdim, "reduction operations on CSR tensors with keepdim=False is unsupported");
  const Tensor out = sum_coo(compressed_to_coo(self), dims, true, d);
  return to_layout(out, {Layout::SparseCsr});
}

}  // namespace rl::sparse

namespace rl::native {

// torch.sparse.sum over dimensions: the dtype stays.
Tensor _sparse_sum_over(const Tensor& self, IntRef dim) {
  check_implemented(self.is_sparse(), "Could not run 'aten::_indices' with arguments from the '",
                    self.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
  return sparse::sum_coo(self, dim, false, self.dtype());
}

}  // namespace rl::native
