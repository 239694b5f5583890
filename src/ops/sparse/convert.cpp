// Between strided and coordinate layouts, and the one function from any layout to any other.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::sparse {

namespace {

int64_t product(IntRef s) {
  int64_t n = 1;
  for (int64_t x : s) n *= x;
  return n;
}

// The places whose `width` elements are not all zero.
template <class T>
Numbers filled_rows(const T* p, int64_t rows, int64_t width) {
  Numbers out;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < width; ++k)
      if (p[i * width + k] != T(0)) {
        out.push_back(i);
        break;
      }
  return out;
}

template <class T>
void add_rows(T* out, const T* rows, const Numbers& at, int64_t width) {
  for (size_t i = 0; i < at.size(); ++i) {
    T* line = out + at[i] * width;
    const T* row = rows + int64_t(i) * width;
    for (int64_t k = 0; k < width; ++k) {
      if constexpr (std::is_same_v<T, bool>) line[k] = line[k] || row[k];
      else line[k] = T(line[k] + row[k]);
    }
  }
}

Tensor coo_to_strided(const Tensor& self) {
  const SparseImpl& s = sparse_impl(self);
  Tensor out = zeros(s.sizes, self.dtype(), self.device());
  const Tensor values = native::contiguous(s.values);
  const Numbers at = flat_places(s.indices, s.sizes);
  if (at.empty() || out.numel() == 0) return out;
  const int64_t width = values.numel() / int64_t(at.size());
  visit(AllTypes{}, self.dtype(), "to_dense", [&]<class T>() {
    add_rows(out.data<T>(), values.data<T>(), at, width);
  });
  return out;
}

}  // namespace

Tensor dense_to_coo(const Tensor& self, int64_t sparse_dim) {
  const int64_t dim = self.dim();
  check(sparse_dim >= 0 && sparse_dim <= dim,
        "dense_to_sparse: sparse_dim argument must be in [0,", dim, "] range, but ", sparse_dim,
        " is given");
  check(dim == 0 || sparse_dim > 0,
        "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
  const Tensor dense = native::contiguous(self);
  const IntRef head = self.sizes().slice(0, size_t(sparse_dim));
  const IntRef tail = self.sizes().slice(size_t(sparse_dim));
  const int64_t rows = product(head), width = product(tail);
  Numbers at;
  visit(AllTypes{}, self.dtype(), "dense_to_sparse", [&]<class T>() {
    at = filled_rows(dense.data<T>(), rows, width);
  });
  const int64_t n = int64_t(at.size());
  Tensor indices = empty_tensor({sparse_dim, n}, DType::Int64, self.device());
  int64_t* p = n && sparse_dim ? indices.data<int64_t>() : nullptr;
  for (int64_t i = 0; p && i < n; ++i) {
    int64_t rest = at[size_t(i)];
    for (int64_t d = sparse_dim; d-- > 0;) {
      p[d * n + i] = rest % head[size_t(d)];
      rest /= head[size_t(d)];
    }
  }
  Dims shape{rows};
  for (int64_t s : tail) shape.push_back(s);
  const Tensor lines = alias(dense, shape, contiguous_strides(shape), dense.offset());
  return make_coo(indices, take_rows(lines, at), self.sizes(), true);
}

Target target_of(const Tensor& like) {
  Target t{like.layout()};
  if (!is_sparse_kind(like)) return t;
  const SparseImpl& s = sparse_impl(like);
  t.dense_dim = s.dense_dim;
  if (is_block(s.layout)) {
    t.rows = s.values.size(s.compressed.dim());
    t.cols = s.values.size(s.compressed.dim() + 1);
  }
  return t;
}

Tensor to_layout(const Tensor& self, const Target& to) {
  const Layout from = self.layout();
  if (to.layout == Layout::Strided) return to_strided(self);
  if (from == Layout::Strided) {
    if (to.layout == Layout::Sparse) return dense_to_coo(self, self.dim() - to.dense_dim);
    return dense_to_compressed(self, to);
  }
  if (from == to.layout) {
    const Target own = target_of(self);
    if (own.rows == to.rows && own.cols == to.cols) return self;
  }
  if (from != Layout::Sparse && sparse_impl(self).batch_dim() > 0 && to.layout != Layout::Sparse)
    return dense_to_compressed(to_strided(self), to);
  const Tensor coo = from == Layout::Sparse ? self : compressed_to_coo(self);
  if (to.layout == Layout::Sparse) return coo;
  return coo_to_compressed(coo, to);
}

Tensor to_strided(const Tensor& self) {
  if (!is_sparse_kind(self)) return self;
  return coo_to_strided(self.is_sparse() ? self : compressed_to_coo(self));
}

}  // namespace rl::sparse
