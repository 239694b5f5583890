// Matrix products with sparse operands: which pairs of layouts exist, and their kernels.
#include <algorithm>

#include "base/parallel.h"
#include "gen/pointwise_arith.h"
#include "kernels/cpu/sparse_mm.h"
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::sparse {

namespace {

bool is_dense(const Tensor& t) { return !is_sparse_kind(t); }

cpu::SparseRows raw(const Rows& a) {
  return {a.pointers.data<int64_t>(), a.nnz() ? a.columns.data<int64_t>() : nullptr,
          a.nnz() ? a.values.data() : nullptr};
}

// Chunks of rows with about equally many elements.
template <class F>
void for_balanced_rows(const Rows& a, int64_t width, F f) {
  const int64_t* p = a.pointers.data<int64_t>();
  const int64_t work = (a.nnz() + a.rows) * std::max<int64_t>(width, 1);
  const int64_t chunks = std::clamp<int64_t>(work / 16384, 1, num_threads() * int64_t(4));
  const int64_t total = a.nnz() + a.rows;
  auto border = [&](int64_t c) {  // first row whose elements and own slot reach c / chunks
    int64_t low = 0, high = a.rows;
    while (low < high) {
      const int64_t mid = (low + high) / 2;
      if (p[mid] + mid < total * c / chunks) low = mid + 1;
      else high = mid;
    }
    return low;
  };
  parallel_for(0, chunks, 1, [&](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) {
      const int64_t first = border(c), last = c + 1 == chunks ? a.rows : border(c + 1);
      if (first < last) f(first, last);
    }
  });
}

Tensor sparse_dense(const Tensor& self, const Tensor& dense) {
  const Rows a = as_rows(self);
  const int64_t m = dense.size(1);
  Tensor out = empty_tensor({a.rows, m}, self.dtype(), self.device());
  if (out.numel() == 0) return out;
  if (a.nnz() == 0) return zeros(out.sizes(), self.dtype(), self.device());
  const Tensor b = native::contiguous(dense);
  const cpu::SparseRows rows = raw(a);
  for_balanced_rows(a, m, [&](int64_t from, int64_t to) {
    cpu::sparse_times_dense(self.dtype(), rows, b.data(), m, out.data(), m, m, from, to);
  });
  return out;
}

Tensor dense_sparse(const Tensor& dense, const Tensor& mat2) {
  const Rows b = as_rows(mat2);
  const int64_t n = dense.size(0);
  const Tensor out = zeros({n, b.cols}, dense.dtype(), dense.device());
  if (out.numel() == 0 || b.nnz() == 0) return out;
  const Tensor a = native::contiguous(dense);
  const int64_t grain = std::max<int64_t>(1, 16384 / (b.nnz() + b.rows));
  const cpu::SparseRows rows = raw(b);
  parallel_for(0, n, grain, [&](int64_t from, int64_t to) {
    cpu::dense_times_sparse(dense.dtype(), a.data(), b.rows, rows, b.rows, out.data(), b.cols,
                            b.cols, from, to);
  });
  return out;
}

// Gustavson, "Two fast algorithms for sparse matrices", 1978: a row of the result is a sum of
// rows of b, added up in a dense line; `seen` says which of its columns are in use.
template <class T>
void multiply_rows(const Rows& a, const Rows& b, Numbers& pointers, Numbers& columns,
                   std::vector<T>& values) {
  const cpu::SparseRows x = raw(a), y = raw(b);
  const T *xv = static_cast<const T*>(x.values), *yv = static_cast<const T*>(y.values);
  std::vector<T> line(static_cast<size_t>(b.cols));
  Numbers seen(size_t(b.cols), -1), used;
  for (int64_t r = 0; r < a.rows; ++r) {
    used.clear();
    for (int64_t e = x.pointers[r]; e < x.pointers[r + 1]; ++e) {
      const int64_t k = x.columns[e];
      for (int64_t f = y.pointers[k]; f < y.pointers[k + 1]; ++f) {
        const size_t c = size_t(y.columns[f]);
        const T v = T(xv[e] * yv[f]);
        if (seen[c] != r) {
          seen[c] = r;
          used.push_back(int64_t(c));
          line[c] = v;
        } else {
          line[c] = T(line[c] + v);
        }
      }
    }
    std::sort(used.begin(), used.end());
    for (int64_t c : used) {
      columns.push_back(c);
      values.push_back(line[size_t(c)]);
    }
    pointers.push_back(int64_t(columns.size()));
  }
}

using Numeric = TypeList<float, double, half, bfloat16, cfloat, cdouble, int64_t, int32_t, int16_t,
                         int8_t, uint8_t>;

// As CSR.
Tensor sparse_sparse(const Tensor& self, const Tensor& mat2) {
  const Rows a = as_rows(self), b = as_rows(mat2);
  Numbers pointers{0}, columns;
  Tensor values;
  visit(Numeric{}, self.dtype(), "sparse_matmul", [&]<class T>() {
    std::vector<T> out;
    multiply_rows<T>(a, b, pointers, columns, out);
    values = empty_tensor({int64_t(out.size())}, self.dtype(), self.device());
    if (!out.empty()) std::copy(out.begin(), out.end(), values.data<T>());
  });
  const int64_t n = int64_t(columns.size());
  return make_compressed(Layout::SparseCsr,
                         from_numbers(pointers, {a.rows + 1}, DType::Int64, self.device()),
                         from_numbers(columns, {n}, DType::Int64, self.device()), values,
                         {a.rows, b.cols});
}

void check_product(const Tensor& a, const Tensor& b) {
  check(a.dim() == 2 && b.dim() == 2, "mm: matrices expected, got ", a.dim(), "D and ", b.dim(),
        "D tensors");
  check(a.dtype() == b.dtype(), "expected scalar type ", scalar_type_name(a.dtype()), " but found ",
        scalar_type_name(b.dtype()));
  if (a.size(1) == b.size(0)) return;
  check(!(a.is_sparse() && is_dense(b)), "addmm: Argument #3 (dense): Expected dim 0 size ",
        a.size(1), ", got ", b.size(0));
  fail(a.is_sparse() ? "_sparse_sparse_matmul" : "addmm", ": mat1 and mat2 shapes cannot be "
       "multiplied (", a.size(0), "x", a.size(1), " and ", b.size(0), "x", b.size(1), ")");
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_product(self, mat2);
  if (is_dense(mat2)) return sparse_dense(self, mat2);
  if (is_dense(self)) return dense_sparse(self, mat2);
  check(self.is_sparse() == mat2.is_sparse(), "addmm: computation on CPU is not implemented for ",
        short_layout(self), " + ", short_layout(self), " @ ", short_layout(mat2));
  const Tensor out = sparse_sparse(self, mat2);
  return self.is_sparse() ? compressed_to_coo(out) : out;
}

namespace {

// beta * self + alpha * product, self broadcast and unread where beta is 0.
Tensor combine(const Tensor& self, const Tensor& product, const Scalar& beta, const Scalar& alpha) {
  const Tensor scaled = alpha.equal(1) ? product : native::to_dtype(
      native::mul(product, wrapped_number(alpha)), product.dtype());
  if (beta.equal(0)) return scaled;
  check(self.dtype() == product.dtype(), "expected scalar type ", scalar_type_name(self.dtype()),
        " but found ", scalar_type_name(product.dtype()));
  const Tensor wide = native::expand(self, product.sizes());
  return native::add(beta.equal(1) ? wide : native::mul(wide, wrapped_number(beta)), scaled,
                     Scalar(1));
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  if (is_sparse_kind(self)) {
    check(!self.is_sparse(), "addmm_sparse_dense: expected strided result tensor, got tensor with "
          "layout Sparse");
    fail("addmm: computation on CPU is not implemented for ", short_layout(self), " + ",
         short_layout(mat1), " @ ", short_layout(mat2));
  }
  check(!(mat2.is_sparse() && (is_dense(mat1) || mat1.is_sparse())), "addmm_sparse_dense: expected "
        "either 'mat1' to have sparse layout and 'mat2' to have strided layout, got 'mat1' with "
        "layout ", short_layout(mat1), " and 'mat2' with layout ", short_layout(mat2));
  check(is_dense(mat1) || is_dense(mat2) || mat1.is_sparse() == mat2.is_sparse(), "addmm: "
        "computation on CPU is not implemented for ", short_layout(self), " + ",
        short_layout(mat1), " @ ", short_layout(mat2));
  return combine(self, to_strided(mm(mat1, mat2)), beta, alpha);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_implemented(is_dense(vec), "Could not run 'aten::mv' with arguments from the 'SparseCPU' "
                    "backend: the vector must be strided.");
  check(self.dim() == 2 && vec.dim() == 1, "mv: two tensor dim should be 2 and 1, but got "
        "SparseTensor "
        "Dim: ", self.dim(), " Tensor Dim: ", vec.dim());
  check(self.size(1) == vec.size(0), "mv: expected self.size(-1) == vec.size(-1)");
  return native::select(mm(self, native::unsqueeze(vec, 1)), 1, 0);
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  check_implemented(is_dense(self) && is_dense(vec) && mat.is_sparse_csr(), "Could not run "
                    "'aten::addmv' with arguments from the 'SparseCPU' backend.");
  return combine(self, mv(mat, vec), beta, alpha);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_implemented(self.is_sparse() && is_dense(mat2), "Could not run 'aten::bmm' with arguments "
                    "from the '", self.is_sparse() || mat2.is_sparse() ? "SparseCPU"
                                                                       : "SparseCsrCPU",
                    "' backend.");
  check(self.dim() == 3 && mat2.dim() == 3, "bmm: tensors must be 3-dimensional");
  check(self.size(0) == mat2.size(0), "bmm: 'mat1.size(0)' and 'mat2.size(0)' must match");
  check(self.size(2) == mat2.size(1), "bmm: 'mat1.size(2)' and 'mat2.size(1)' must match");
  Tensor out = empty_tensor({self.size(0), self.size(1), mat2.size(2)}, self.dtype(),
                            self.device());
  for (int64_t b = 0; b < self.size(0); ++b)
    native::copy_into(native::select(out, 0, b),
                      mm(select(self, 0, b), native::select(mat2, 0, b)));
  return out;
}

}  // namespace rl::sparse

namespace rl::native {

using namespace sparse;

Tensor _sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha) {
  // torch.sparse.mm of a strided and a coordinate matrix comes here with beta 0.
  if (beta.equal(0) && !is_sparse_kind(mat1)) return combine(self, mm(mat1, mat2), beta, alpha);
  return sparse::addmm(self, mat1, mat2, beta, alpha);
}

Tensor _sparse_sparse_matmul(const Tensor& self, const Tensor& other) {
  check(is_sparse_kind(self) && is_sparse_kind(other), "_sparse_sparse_matmul: both arguments must "
        "be sparse");
  return sparse::mm(self, other);
}

// ---- coordinate products whose result stays sparse
namespace {

// The rows of `mat1` that have elements, and the dense rows of the product there.
std::pair<Numbers, Tensor> product_rows(const Tensor& mat1, const Tensor& mat2) {
  const Tensor product = sparse::mm(mat1, mat2);
  const Numbers at = numbers(select(sparse_impl(coalesced(mat1)).indices, 0, 0));
  Numbers rows(at);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return {rows, take_rows(product, rows)};
}

}  // namespace

Tensor hspmm(const Tensor& mat1, const Tensor& mat2) {
  check_implemented(mat1.is_sparse() && !is_sparse_kind(mat2), "Could not run 'aten::hspmm' with "
                    "arguments from the '", mat1.is_sparse_csr() ? "SparseCsrCPU" : "CPU",
                    "' backend.");
  const auto [rows, values] = product_rows(mat1, mat2);
  const int64_t n = int64_t(rows.size());
  return make_coo(from_numbers(rows, {1, n}, DType::Int64, mat1.device()), values,
                  {mat1.size(0), mat2.size(1)}, false);
}

Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                const Scalar& alpha) {
  check_implemented(self.is_sparse() && mat1.is_sparse() && !is_sparse_kind(mat2), "Could not run "
                    "'aten::sspaddmm' with arguments from the '",
                    mat1.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
  const auto [rows, product] = product_rows(mat1, mat2);
  const int64_t m = mat2.size(1), n = int64_t(rows.size()) * m;
  check(self.sizes() == IntRef(Dims{mat1.size(0), m}), "sspaddmm: Argument #1: Expected size (",
        mat1.size(0), ", ", m, "), got ", self.sizes());
  Numbers index(size_t(2 * n), 0);
  for (int64_t i = 0; i < n; ++i) {
    index[size_t(i)] = rows[size_t(i / m)];
    index[size_t(n + i)] = i % m;
  }
  const Tensor values = combine(Tensor(), product, Scalar(0), alpha);
  const Tensor more = make_coo(from_numbers(index, {2, n}, DType::Int64, self.device()),
                               view(values, {n}), self.sizes(), false);
  const Tensor scaled = beta.equal(1) ? self : sparse::mul(self, wrapped_number(beta));
  const Dims side{self.size(0), m};
  // Joined along the rows, then folded back: the elements of both in turn.
  const Tensor joined = sparse::cat({scaled, more}, 0);
  Numbers both = numbers(sparse_impl(joined).indices);
  const int64_t total = sparse_impl(joined).nnz();
  for (int64_t i = 0; i < total; ++i) both[size_t(i)] %= std::max<int64_t>(side[0], 1);
  return make_coo(from_numbers(both, {2, total}, DType::Int64, self.device()),
                  sparse_impl(joined).values, side, false);
}

}  // namespace rl::native
