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

Tensor sum_dense_dims(const SparseImpl& s, const std::vector<bool>& gone, DType dtype) {
  Dims dims;
  for (size_t d = size_t(s.sparse_dim); d < gone.size(); ++d)
    if (gone[d]) dims.push_back(int64_t(d) - s.sparse_dim + 1);
  const Tensor values = native::to_dtype(s.values, dtype);
  return dims.empty() ? values : native::sum(values, IntRef(dims), false, dtype);
}

}  // namespace

// Sparse where a sparse dimension stays, else dense.
Tensor sum_coo(const Tensor& self, IntRef dims, DType dtype) {
  const SparseImpl& s = sparse_impl(self);
  if (dims.empty()) return to_dtype(self, dtype);
  const std::vector<bool> gone = marked(dims, self.dim());
  const Tensor values = sum_dense_dims(s, gone, dtype);
  Numbers kept;
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (gone[size_t(d)]) continue;
    if (d < s.sparse_dim) kept.push_back(d);
    sizes.push_back(s.sizes[size_t(d)]);
  }
  if (kept.empty()) {
    const Dims first{0};
    const Tensor total = native::sum(values, IntRef(first), false, dtype);
    return alias(total, sizes, contiguous_strides(sizes), total.offset());
  }
  const bool all = int64_t(kept.size()) == s.sparse_dim;
  return coalesced(make_coo(take_rows(s.indices, kept), values, sizes, all && s.coalesced));
}

// The summed dimensions come back with size 1.
static Tensor with_dims(Tensor t, IntRef dims, int64_t n) {
  const std::vector<bool> gone = marked(dims, n);
  for (int64_t d = 0; d < n; ++d)
    if (gone[size_t(d)]) t = is_sparse_kind(t) ? unsqueeze(t, d) : native::unsqueeze(t, d);
  return t;
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
  if (self.is_sparse()) {
    const Tensor out = sum_coo(self, dims, d);
    return keepdim ? with_dims(out, dims, self.dim()) : out;
  }
  check(self.layout() == Layout::SparseCsr, "Currently the only compressed sparse format supported "
        "for sum.dim_IntList is CSR, but got layout ", short_layout(self));
  check(keepdim, "reduction operations on CSR tensors with keepdim=False is unsupported");
  const Tensor out = with_dims(sum_coo(compressed_to_coo(self), dims, d), dims, self.dim());
  return to_layout(out, {Layout::SparseCsr});
}

}  // namespace rl::sparse

namespace rl::native {

// torch.sparse.sum over dimensions: the dtype stays.
Tensor _sparse_sum_over(const Tensor& self, IntRef dim) {
  check_implemented(self.is_sparse(), "Could not run 'aten::_indices' with arguments from the '",
                    self.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
  return sparse::sum_coo(self, dim, self.dtype());
}

}  // namespace rl::native
