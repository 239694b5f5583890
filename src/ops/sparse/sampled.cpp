// Products read only at the places of a sparse matrix, reductions over sparse rows, and matrices of
// diagonals.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "gen/pointwise_arith.h"
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {

using namespace sparse;

namespace {

template <class T>
void dots_at(const Rows& a, const T* left, const T* right, T* out, int64_t k) {
  const int64_t *p = a.pointers.data<int64_t>(), *c = a.columns.data<int64_t>();
  parallel_for(0, a.rows, 64, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r)
      for (int64_t e = p[r]; e < p[r + 1]; ++e) {
        const T *x = left + r * k, *y = right + c[e] * k;
        T sum = T(0);
        for (int64_t i = 0; i < k; ++i) sum = T(sum + x[i] * y[i]);
        out[e] = sum;
      }
  });
}

using Numeric = TypeList<float, double, half, bfloat16, cfloat, cdouble>;

// (left @ right) at the places of `a`; right is given transposed.
Tensor products_at(const Rows& a, const Tensor& left, const Tensor& right_t) {
  Tensor out = empty_tensor({a.nnz()}, left.dtype(), left.device());
  if (out.numel() == 0) return out;
  const Tensor x = contiguous(left), y = contiguous(right_t);
  if (x.numel() == 0) return zeros(out.sizes(), out.dtype(), out.device());
  visit(Numeric{}, left.dtype(), "sampled_addmm", [&]<class T>() {
    dots_at(a, x.data<T>(), y.data<T>(), out.data<T>(), left.size(1));
  });
  return out;
}

Tensor scaled(const Tensor& t, const Scalar& by) {
  return by.equal(1) ? t : to_dtype(mul(t, wrapped_number(by)), t.dtype());
}

}  // namespace

Tensor sparse_sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                            const Scalar& beta, const Scalar& alpha) {
  check_implemented(is_sparse_kind(self) && !self.is_sparse(), "Could not run "
                    "'aten::sparse_sampled_addmm' with arguments from the '",
                    self.is_sparse() ? "SparseCPU" : "CPU", "' backend.");
  check(self.layout() == Layout::SparseCsr, "sampled_addmm: Expected result to have sparse csr "
        "layout, but got ", short_layout(self));
  check(!is_sparse_kind(mat1) && !is_sparse_kind(mat2), "sampled_addmm: Expected mat1 and mat2 to "
        "have strided layout, but got ", short_layout(mat1), " and ", short_layout(mat2));
  check_implemented(self.dim() == 2, "sampled_addmm: batches are not implemented");
  check(mat1.dim() == 2 && mat2.dim() == 2, "sampled_addmm: Expected mat1 and mat2 to be matrices");
  check(mat1.dtype() == self.dtype() && mat2.dtype() == self.dtype(), "sampled_addmm: Expected "
        "mat1 "
        "and mat2 to have the same dtype as self");
  check(mat1.size(1) == mat2.size(0), "sampled_addmm: mat1 and mat2 shapes cannot be multiplied (",
        mat1.size(0), "x", mat1.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  check(self.size(0) == mat1.size(0), "sampled_addmm: self.shape[-2] must match mat1.shape[-2]");
  check(self.size(1) == mat2.size(1), "sampled_addmm: self.shape[-1] must match mat2.shape[-1]");
  const Rows a = as_rows(self);
  const Tensor product = scaled(products_at(a, mat1, transpose(mat2, 0, 1)), alpha);
  if (beta.equal(0)) return with_values(self, product);
  return with_values(self, add(scaled(a.values, beta), product, Scalar(1)));
}

// ---- reductions over the products of a row
namespace {

enum class Reduce { Sum, Mean, Max, Min };

Reduce reduce_of(std::string_view name) {
  if (name == "sum") return Reduce::Sum;
  if (name == "mean") return Reduce::Mean;
  if (name == "amax") return Reduce::Max;
  check(name == "amin", "reduce argument must be either sum, mean, amax or amin, got ", name);
  return Reduce::Min;
}

struct RowRange {
  int64_t first, last;
};

double wide(double v) { return v; }
double wide(float v) { return v; }
double wide(half v) { return float(v); }
double wide(bfloat16 v) { return float(v); }

template <class T>
void reduce_row(const T* values, const int64_t* columns, RowRange r, const T* dense, int64_t m,
                Reduce how, T* out, int64_t* arg) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int64_t k = 0; k < m; ++k) {
    A best = A(0);
    int64_t at = -1;
    for (int64_t e = r.first; e < r.last; ++e) {
      const A v = A(values[e]) * A(dense[columns[e] * m + k]);
      if (how == Reduce::Sum || how == Reduce::Mean) best += v;
      else if (at < 0 || std::isnan(v) || (how == Reduce::Max ? v > best : v < best)) {
        best = v;
        at = e;
      }
    }
    if (how == Reduce::Mean && r.last > r.first) best /= A(r.last - r.first);
    out[k] = T(best);
    if (arg) arg[k] = at;
  }
}

}  // namespace

// The second result: the element that gave each maximum or minimum.
std::tuple<Tensor, Tensor> _sparse_mm_reduce_impl(const Tensor& self, const Tensor& other,
                                                  std::string_view reduce) {
  check_implemented(self.is_sparse_csr(), "Could not run 'aten::_sparse_mm_reduce_impl' with "
                    "arguments from the '", self.is_sparse() ? "SparseCPU" : "CPU", "' backend.");
  check(self.layout() == Layout::SparseCsr, "sparse_mm_reduce: expect self to be SparseCsr, got ",
        short_layout(self));
  check(!is_sparse_kind(other), "sparse_mm_reduce: expect other to be Strided, got ",
        short_layout(other));
  check(self.dim() == 2 && other.dim() == 2 && self.size(1) == other.size(0), "sparse_mm_reduce: "
        "mat1 and mat2 shapes cannot be multiplied");
  check(self.dtype() == other.dtype(), "expected scalar type ", scalar_type_name(self.dtype()),
        " but found ", scalar_type_name(other.dtype()));
  const Reduce how = reduce_of(reduce);
  const bool extreme = how == Reduce::Max || how == Reduce::Min;
  const Rows a = as_rows(self);
  const int64_t m = other.size(1);
  Tensor out = zeros({a.rows, m}, self.dtype(), self.device());
  Tensor arg = empty_tensor(extreme ? Dims{a.rows, m} : Dims{0}, DType::Int64, self.device());
  if (out.numel() == 0 || a.nnz() == 0) {
    if (extreme) fill(arg, Scalar(-1));
    return {out, arg};
  }
  const Tensor dense = contiguous(other);
  const int64_t *p = a.pointers.data<int64_t>(), *c = a.columns.data<int64_t>();
  visit(FloatTypes{}, self.dtype(), "sparse_mm_reduce", [&]<class T>() {
    parallel_for(0, a.rows, 16, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r)
        reduce_row(a.values.data<T>(), c, {p[r], p[r + 1]}, dense.data<T>(), m, how,
                   out.data<T>() + r * m, extreme ? arg.data<int64_t>() + r * m : nullptr);
    });
  });
  return {out, arg};
}

std::tuple<Tensor, Tensor> _sparse_mm_reduce_grads(const Tensor& self, const Tensor& grad_out,
                                                   const Tensor& other, std::string_view reduce,
                                                   const Tensor& arg_out) {
  const Reduce how = reduce_of(reduce);
  const bool extreme = how == Reduce::Max || how == Reduce::Min;
  const Rows a = as_rows(self);
  const int64_t m = other.size(1);
  Tensor of_values = zeros({a.nnz()}, self.dtype(), self.device());
  Tensor of_other = zeros(other.sizes(), other.dtype(), other.device());
  if (a.nnz() == 0 || m == 0) return {with_values(self, of_values), of_other};
  const Tensor g = contiguous(grad_out), dense = contiguous(other);
  const int64_t *p = a.pointers.data<int64_t>(), *c = a.columns.data<int64_t>();
  visit(FloatTypes{}, self.dtype(), "sparse_mm_reduce", [&]<class T>() {
    const T *v = a.values.data<T>(), *x = dense.data<T>(), *dg = g.data<T>();
    T *dv = of_values.data<T>(), *dx = of_other.data<T>();
    for (int64_t r = 0; r < a.rows; ++r) {
      const int64_t n = std::max<int64_t>(p[r + 1] - p[r], 1);
      const double by = how == Reduce::Mean ? 1.0 / double(n) : 1;
      for (int64_t e = p[r]; e < p[r + 1]; ++e)
        for (int64_t k = 0; k < m; ++k) {
          if (extreme && arg_out.data<int64_t>()[r * m + k] != e) continue;
          const double d = wide(dg[r * m + k]) * by;
          dv[e] = T(wide(dv[e]) + d * wide(x[c[e] * m + k]));
          dx[c[e] * m + k] = T(wide(dx[c[e] * m + k]) + d * wide(v[e]));
        }
    }
  });
  return {with_values(self, of_values), of_other};
}

// ---- diagonals
Tensor _spdiags(const Tensor& diagonals, const Tensor& offsets, IntRef shape,
                std::optional<Layout> layout) {
  const Layout l = layout.value_or(Layout::Sparse);
  check(shape.size() == 2, "Output shape must be 2d");
  check(l == Layout::Sparse || l == Layout::SparseCsr || l == Layout::SparseCsc, "Only output "
        "layouts "
        "(Sparse, SparseCsc, SparseCsr) are supported, got ",
        l == Layout::Strided ? "Strided" : l == Layout::SparseBsr ? "SparseBsr" : "SparseBsc");
  const Tensor lines = diagonals.dim() == 1 ? unsqueeze(diagonals, 0) : diagonals;
  check(lines.dim() == 2, "Diagonals must be vector or matrix");
  check(offsets.dim() <= 1, "Offset must be scalar or vector");
  check(offsets.dtype() == DType::Int64, "Offset Tensor must have dtype Long but got ",
        scalar_type_name(offsets.dtype()));
  const Numbers at = numbers(offsets);
  check(int64_t(at.size()) == lines.size(0), "Number of diagonals (", lines.size(0),
        ") does not match the number of offsets (", at.size(), ")");
  Numbers sorted(at);
  std::sort(sorted.begin(), sorted.end());
  check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
        "Offset tensor contains duplicate values");
  Numbers rows, columns, from;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t low = std::max<int64_t>(at[i], 0);
    const int64_t high = std::min({shape[1], shape[0] + at[i], lines.size(1)});
    for (int64_t c = low; c < high; ++c) {
      rows.push_back(c - at[i]);
      columns.push_back(c);
      from.push_back(int64_t(i) * lines.size(1) + c);
    }
  }
  const int64_t n = int64_t(rows.size());
  rows.insert(rows.end(), columns.begin(), columns.end());
  const Tensor flat = contiguous(lines);
  const Tensor values = take_rows(view(flat, {flat.numel()}), from);
  const Tensor coo = make_coo(from_numbers(rows, {2, n}, DType::Int64, lines.device()), values,
                              shape, false);
  return l == Layout::Sparse ? coo : to_layout(coo, {l});
}

}  // namespace rl::native
