// Sums, products and quotients with sparse operands. What a layout pair allows, and in which order
// the elements of a result stand, is PyTorch's.
#include <algorithm>

#include "base/parallel.h"
#include "gen/pointwise_activation.h"
#include "gen/pointwise_arith.h"
#include "gen/pointwise_complex.h"
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::sparse {

namespace {

bool is_coo(const Tensor& t) { return t.is_sparse(); }
bool is_dense(const Tensor& t) { return !is_sparse_kind(t); }

// ---- two coordinate lists side by side
struct Merged {
  Numbers from_a, from_b;  // -1: not in that list
};

// Two pointers over both lists; equal places meet. Sorted lists give a sorted union.
Merged merge(const Numbers& a, const Numbers& b) {
  Merged m;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool left = j == b.size() || (i < a.size() && a[i] <= b[j]);
    const bool right = i == a.size() || (j < b.size() && b[j] <= a[i]);
    m.from_a.push_back(left ? int64_t(i++) : -1);
    m.from_b.push_back(right ? int64_t(j++) : -1);
  }
  return m;
}

// Columns a[from_a[i]], or b's where that is -1.
Tensor merged_columns(const Tensor& a, const Tensor& b, const Merged& m) {
  const Numbers x = numbers(a), y = numbers(b);
  const int64_t dims = a.size(0), na = a.size(1), nb = b.size(1), n = int64_t(m.from_a.size());
  Numbers out(size_t(dims * n), 0);
  for (int64_t d = 0; d < dims; ++d)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t p = m.from_a[size_t(i)], q = m.from_b[size_t(i)];
      out[size_t(d * n + i)] = p >= 0 ? x[size_t(d * na + p)] : y[size_t(d * nb + q)];
    }
  return from_numbers(out, {dims, n}, DType::Int64, a.device());
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else return T(a + b);
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a && b;
  else return T(a * b);
}

template <class T>
void merge_values(const T* a, const T* b, T* out, const Merged& m, int64_t width) {
  for (size_t i = 0; i < m.from_a.size(); ++i) {
    const T* x = m.from_a[i] >= 0 ? a + m.from_a[i] * width : nullptr;
    const T* y = m.from_b[i] >= 0 ? b + m.from_b[i] * width : nullptr;
    T* line = out + int64_t(i) * width;
    for (int64_t k = 0; k < width; ++k)
      line[k] = x && y ? plus(x[k], y[k]) : x ? x[k] : y[k];
  }
}

Tensor scaled(const Tensor& values, const Scalar& alpha) {
  if (alpha.equal(1)) return values;
  return native::to_dtype(native::mul(values, wrapped_number(alpha)), values.dtype());
}

Tensor join_rows(const Tensor& a, const Tensor& b) {
  Dims sizes(a.sizes());
  sizes[0] += b.sizes()[0];
  Tensor out = empty_tensor(sizes, a.dtype(), a.device());
  const Tensor head = alias(out, a.sizes(), out.strides(), 0);
  native::copy_into(head, a);
  native::copy_into(alias(out, b.sizes(), out.strides(), a.numel()), b);
  return out;
}

Tensor join_columns(const Tensor& a, const Tensor& b) {
  return native::contiguous(native::transpose(
      join_rows(native::transpose(a, 0, 1), native::transpose(b, 0, 1)), 0, 1));
}

Tensor add_coo(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const SparseImpl &a = sparse_impl(self), &b = sparse_impl(other);
  check(IntRef(a.sizes) == IntRef(b.sizes), "add: expected sizes of 'self' and 'other' to match, "
        "but ", IntRef(a.sizes), " != ", IntRef(b.sizes));
  check(a.sparse_dim == b.sparse_dim && a.dense_dim == b.dense_dim, "add: expected 'self' and "
        "'other' to have same number of sparse and dense dimensions");
  const DType d = promote_types(self.dtype(), other.dtype());
  const Tensor x = native::to_dtype(a.values, d);
  const Tensor y = scaled(native::to_dtype(b.values, d), alpha);
  if (!x.is_contiguous() || !y.is_contiguous())
    return make_coo(join_columns(a.indices, b.indices), join_rows(x, y), a.sizes, false);
  const Merged m = merge(flat_places(a.indices, a.sizes), flat_places(b.indices, b.sizes));
  Dims sizes(x.sizes());
  sizes[0] = int64_t(m.from_a.size());
  Tensor values = empty_tensor(sizes, d, self.device());
  if (values.numel() > 0) {
    const int64_t width = values.numel() / sizes[0];
    visit(AllTypes{}, d, "add", [&]<class T>() {
      merge_values(x.numel() ? x.data<T>() : nullptr, y.numel() ? y.data<T>() : nullptr,
                   values.data<T>(), m, width);
    });
  }
  return make_coo(merged_columns(a.indices, b.indices, m), values, a.sizes,
                  a.coalesced && b.coalesced);
}

// The coordinate form of a compressed operand, an operation there, and back.
Tensor back(const Tensor& coo, const Tensor& like) {
  const Tensor out = to_layout(coo, target_of(like));
  SparseImpl& s = sparse_impl(out);
  const DType index = sparse_impl(like).compressed.dtype();
  s.compressed = native::to_dtype(s.compressed, index);
  s.plain = native::to_dtype(s.plain, index);
  return out;
}

Tensor add_to_dense(const Tensor& dense, const Tensor& other, const Scalar& alpha,
                    const char* words) {
  check(dense.sizes() == other.sizes(), "add: expected 'self' and 'other' to have same size, but "
        "self has size ", dense.sizes(), " while other has size ", other.sizes(), " (FYI: ", words,
        " addition does not currently support broadcasting)");
  const DType d = promote_types(dense.dtype(), other.dtype());
  Tensor out = empty_tensor(dense.sizes(), d, dense.device());
  native::copy_into(out, dense);
  add_places(out, to_layout(other, {Layout::Sparse}), alpha);
  return out;
}

}  // namespace

void add_places(const Tensor& dense, const Tensor& coo, const Scalar& alpha) {
  const SparseImpl& s = sparse_impl(coo);
  const Numbers at = flat_places(s.indices, s.sizes);
  if (at.empty() || dense.numel() == 0) return;
  const Tensor out = native::contiguous(dense);
  const Tensor values = native::contiguous(native::to_dtype(s.values, dense.dtype()));
  const int64_t width = values.numel() / int64_t(at.size());
  visit(AllTypes{}, dense.dtype(), "add", [&]<class T>() {
    const T by = alpha.to<T>();
    T* to = out.data<T>();
    const T* from = values.data<T>();
    auto rows = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* line = to + at[size_t(i)] * width;
        const T* row = from + i * width;
        for (int64_t k = 0; k < width; ++k) line[k] = plus(line[k], times(row[k], by));
      }
    };
    const int64_t n = int64_t(at.size());
    if (s.coalesced) parallel_for(0, n, std::max<int64_t>(1, 16384 / (width + 1)), rows);
    else rows(0, n);
  });
  if (!out.is_same(dense)) native::copy_into(dense, out);
}

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (is_dense(self))
    return add_to_dense(self, other, alpha, is_coo(other) ? "dense-sparse" : "op2-sparse");
  if (is_coo(self)) {
    check(is_coo(other), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
    return add_coo(self, other, alpha);
  }
  if (is_dense(other)) {
    check(self.sizes() == other.sizes(), "add: expected 'self' and 'other' to have same size, but "
          "self has size ", other.sizes(), " while other has size ", self.sizes(),
          " (FYI: op2-sparse addition does not currently support broadcasting)");
    return native::add(to_strided(self), other, alpha);
  }
  check(self.sizes() == other.sizes(), "torch.add: Expected input tensors to have the same shape, "
        "but got tensor `self` with shape ", self.sizes(), " and tensor `other` with shape ",
        other.sizes());
  check(self.layout() == other.layout(), is_row_major(self.layout()) ? "crow" : "ccol",
        "_indices expected sparse ", is_row_major(self.layout()) ? "row" : "column",
        " compressed tensor layout but got ", short_layout(other));
  return back(add_coo(compressed_to_coo(self), compressed_to_coo(other), alpha), self);
}

void add_into(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (is_dense(self) && self.sizes() == other.sizes() &&
      promote_types(self.dtype(), other.dtype()) == self.dtype())
    return add_places(self, to_layout(other, {Layout::Sparse}), alpha);
  assign(self, add(self, other, alpha), "add_");
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return add(self, other, -alpha);
}
void sub_into(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  assign(self, sub(self, other, alpha), "sub_");
}

// ---- products
namespace {

// For each place of `a` in order, where it is in the sorted list b (or -1).
Numbers lookup(const Numbers& a, const Numbers& b) {
  Numbers out(a.size(), -1);
  for (size_t i = 0; i < a.size(); ++i) {
    const auto it = std::lower_bound(b.begin(), b.end(), a[i]);
    if (it != b.end() && *it == a[i]) out[i] = it - b.begin();
  }
  return out;
}

Tensor mul_coo(const Tensor& self, const Tensor& other) {
  const bool swap = sparse_impl(self).coalesced && !sparse_impl(other).coalesced;
  const Tensor kept = swap ? other : self, sorted = coalesced(swap ? self : other);
  const SparseImpl &a = sparse_impl(kept), &b = sparse_impl(sorted);
  check(IntRef(a.sizes) == IntRef(b.sizes) && a.sparse_dim == b.sparse_dim,
        "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, "
        "number of sparse dimensions, and shape of sparse dimensions");
  const Numbers at = lookup(flat_places(a.indices, a.sizes), flat_places(b.indices, b.sizes));
  Numbers left, right;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] >= 0) {
      left.push_back(int64_t(i));
      right.push_back(at[i]);
    }
  const Tensor values = native::mul(take_rows(a.values, left), take_rows(b.values, right));
  return make_coo(take_columns(a.indices, left), values, a.sizes, a.coalesced);
}

Tensor mul_dense(const Tensor& coo, const Tensor& dense) {
  const Dims sizes = broadcast_shapes(coo.sizes(), dense.sizes());
  const Tensor wide = IntRef(sizes) == coo.sizes() ? coo : broadcast_coo(coo, sizes);
  const SparseImpl& s = sparse_impl(wide);
  return with_values(wide, native::mul(s.values, gather_places(dense, s.indices, s.sizes)));
}

}  // namespace

Tensor gather_places(const Tensor& dense, const Tensor& indices, IntRef sizes) {
  const int64_t sparse_dim = indices.size(0);
  const Tensor full = native::contiguous(native::expand(dense, sizes));
  int64_t rows = 1;
  for (int64_t d = 0; d < sparse_dim; ++d) rows *= sizes[size_t(d)];
  Dims shape{rows};
  for (size_t d = size_t(sparse_dim); d < sizes.size(); ++d) shape.push_back(sizes[d]);
  return take_rows(alias(full, shape, contiguous_strides(shape), full.offset()),
                   flat_places(indices, sizes));
}

Tensor mul(const Tensor& self, const Tensor& other) {
  auto times = [](const Tensor& sp, const Tensor& number) {
    return with_values(sp, native::mul(sparse_impl(sp).values, number));
  };
  if (is_dense_number(other)) return times(self, other);
  if (is_dense_number(self)) return times(other, self);
  if (is_dense(self) || is_dense(other)) {
    const Tensor &sp = is_dense(self) ? other : self, &dense = is_dense(self) ? self : other;
    if (is_coo(sp)) return mul_dense(sp, dense);
    check(dense.sizes() == sp.sizes(), "sparse_mask(): operands have incompatible sizes; self has "
          "size ", dense.sizes(), " but mask has size ", sp.sizes());
    return back(mul_dense(compressed_to_coo(sp), dense), sp);
  }
  if (is_coo(self) && is_coo(other)) return mul_coo(self, other);
  check(self.layout() == Layout::SparseCsr, "Expected result Tensor to be of format CSR");
  return back(mul_coo(to_layout(self, {Layout::Sparse}), to_layout(other, {Layout::Sparse})),
              self);
}

void mul_into(const Tensor& self, const Tensor& other) {
  const Tensor made = mul(self, other);
  assign(self, is_dense(self) ? to_strided(made) : made, "mul_");
}

// ---- quotients and powers
static void check_divisor(const Tensor& self, const Tensor& other, const char* what) {
  check(is_sparse_kind(self) && is_dense_number(other), "Sparse ", what,
        " requires a scalar or zero-dim dense tensor divisor (got shape ", other.sizes(),
        " for divisor)");
}

Tensor div(const Tensor& self, const Tensor& other) {
  check_divisor(self, other, "division");
  return with_values(self, native::div(sparse_impl(self).values, other));
}
Tensor div_trunc(const Tensor& self, const Tensor& other) {
  check_divisor(self, other, "division");
  return map_values(self, [&](const Tensor& v) { return native::div_trunc(v, other); });
}
Tensor div_floor(const Tensor& self, const Tensor& other) {
  check_divisor(self, other, "division");
  return map_values(self, [&](const Tensor& v) { return native::div_floor(v, other); });
}
Tensor floor_divide(const Tensor& self, const Tensor& other) {
  check_divisor(self, other, "floor division");
  return map_values(self, [&](const Tensor& v) { return native::floor_divide(v, other); });
}

Tensor pow(const Tensor& self, const Tensor& exponent) {
  check_implemented(is_sparse_kind(self) && is_dense_number(exponent),
                    "Could not run 'aten::pow.Tensor_Tensor' with arguments from the 'SparseCPU' "
                    "backend: the exponent of a sparse tensor must be a number.");
  check(item(exponent).to_complex() != cdouble(0), "pow: cannot raise to zeroth power on sparse "
        "tensor; it would make the result tensor dense");
  return map_values(self, [&](const Tensor& v) { return native::pow(v, exponent); });
}

// The gradient of relu at the places of its result.
Tensor threshold_backward(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  check_implemented(is_sparse_kind(self), "Could not run 'aten::threshold_backward' with arguments "
                    "from the 'SparseCPU' backend.");
  const Tensor places = self.is_sparse() ? coalesced(self) : compressed_to_coo(self);
  const SparseImpl& s = sparse_impl(places);
  const Tensor g = gather_places(to_strided(grad), s.indices, s.sizes);
  const Tensor out = with_values(places, native::threshold_backward(g, s.values, threshold));
  return self.is_sparse() ? out : back(out, self);
}

Tensor conj_physical(const Tensor& self) {
  return with_values(self, native::conj_physical(sparse_impl(self).values));
}

Tensor neg(const Tensor& self) {
  return with_values(self, native::neg(sparse_impl(self).values));
}

}  // namespace rl::sparse
