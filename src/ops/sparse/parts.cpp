// What every operator on sparse tensors shares: values mapped in place of elements, results taken
// over by in-place and out= forms, and rows moved whatever their dtype.
#include "ops/sparse/parts.h"

#include <cstring>

#include "ops/native.h"

namespace rl::sparse {

Tensor with_values(const Tensor& self, const Tensor& values) {
  const SparseImpl& s = sparse_impl(self);
  if (s.layout == Layout::Sparse) return make_coo(s.indices, values, s.sizes, s.coalesced);
  return make_compressed(s.layout, s.compressed, s.plain, values, s.sizes);
}

Tensor map_values(const Tensor& self, const std::function<Tensor(const Tensor&)>& f) {
  const Tensor t = self.is_sparse() ? coalesced(self) : self;
  return with_values(t, f(sparse_impl(t).values));
}

void assign(const Tensor& self, const Tensor& value, const char* name) {
  const bool to = is_sparse_kind(self), from = is_sparse_kind(value);
  check(to == from, name, ": a result of layout ", layout_name(value.layout()),
        " cannot be written into a tensor of layout ", layout_name(self.layout()));
  if (!to) {
    if (self.numel() == 0 && self.sizes() != value.sizes()) resize_impl(self, value.sizes());
    check(self.sizes() == value.sizes(), name, ": output with shape ", self.sizes(),
          " doesn't match the shape ", value.sizes());
    return native::copy_into(self, value);
  }
  check(can_cast(value.dtype(), self.dtype()), "result type ", scalar_type_name(value.dtype()),
        " can't be cast to the desired output type ", scalar_type_name(self.dtype()));
  sparse_assign(self, to_dtype(value, self.dtype()));
}

static Tensor clone_contiguous(const Tensor& t) {
  Tensor out = empty_tensor(t.sizes(), t.dtype(), t.device());
  if (!t.is_meta()) native::copy_into(out, t);
  return out;
}

Tensor clone_parts(const Tensor& self) {
  const SparseImpl& s = sparse_impl(self);
  const Tensor values = clone_contiguous(s.values);
  if (s.layout == Layout::Sparse)
    return make_coo(clone_contiguous(s.indices), values, s.sizes, s.coalesced);
  return make_compressed(s.layout, clone_contiguous(s.compressed), clone_contiguous(s.plain),
                         values, s.sizes);
}

Tensor to_dtype(const Tensor& self, DType dtype) {
  if (self.dtype() == dtype) return self;
  return with_values(self, native::to_dtype(sparse_impl(self).values, dtype));
}

const char* short_layout(const Tensor& t) {
  switch (t.layout()) {
    case Layout::Sparse: return "Sparse";
    case Layout::SparseCsr: return "SparseCsr";
    case Layout::SparseCsc: return "SparseCsc";
    case Layout::SparseBsr: return "SparseBsr";
    case Layout::SparseBsc: return "SparseBsc";
    default: return "Strided";
  }
}

bool is_dense_number(const Tensor& t) { return !is_sparse_kind(t) && t.dim() == 0; }

Numbers numbers(const Tensor& t) {
  const Tensor flat = native::contiguous(native::to_dtype(t, DType::Int64));
  const int64_t* p = flat.data<int64_t>();
  return Numbers(p, p + flat.numel());
}

Tensor from_numbers(const Numbers& v, IntRef sizes, DType dtype, Device device) {
  Tensor t = empty_tensor(sizes, DType::Int64, device);
  if (!v.empty()) std::memcpy(t.data(), v.data(), v.size() * sizeof(int64_t));
  return native::to_dtype(t, dtype);
}

Tensor take_rows(const Tensor& t, const Numbers& rows) {
  const Tensor from = native::contiguous(t);
  Dims sizes(t.sizes());
  sizes[0] = int64_t(rows.size());
  Tensor out = empty_tensor(sizes, t.dtype(), t.device());
  if (rows.empty() || out.numel() == 0) return out;
  const size_t width = size_t(out.nbytes()) / rows.size();
  const char* src = from.data<char>();
  char* dst = out.data<char>();
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(dst + i * width, src + size_t(rows[i]) * width, width);
  return out;
}

Tensor take_columns(const Tensor& indices, const Numbers& at) {
  const Tensor from = native::contiguous(indices);
  const int64_t dims = from.size(0), n = from.size(1), m = int64_t(at.size());
  Tensor out = empty_tensor({dims, m}, DType::Int64, indices.device());
  if (out.numel() == 0) return out;
  const int64_t* src = from.data<int64_t>();
  int64_t* dst = out.data<int64_t>();
  for (int64_t d = 0; d < dims; ++d)
    for (int64_t i = 0; i < m; ++i) dst[d * m + i] = src[d * n + at[size_t(i)]];
  return out;
}

Tensor zeros(IntRef sizes, DType dtype, Device device) {
  return native::full(sizes, Scalar(0), dtype, device);
}

}  // namespace rl::sparse
