// Softmax over the specified elements of a sparse tensor: those with equal indices along the other
// sparse dimensions form a pool.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {
Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype);
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype);
}  // namespace rl::native

namespace rl::sparse {

namespace {

// The rows of each pool: `order` sorted by pool, `starts` where each begins, and the end.
struct Pools {
  Numbers order, starts;
};

Pools pools_of(const SparseImpl& s, int64_t dim) {
  Dims sizes(s.sizes);
  Numbers others;
  for (int64_t d = 0; d < s.sparse_dim; ++d)
    if (d != dim) others.push_back(d);
  Dims other_sizes;
  for (int64_t d : others) other_sizes.push_back(sizes[size_t(d)]);
  const Numbers key = flat_places(take_rows(s.indices, others), other_sizes);
  Pools p;
  p.order.resize(key.size());
  std::iota(p.order.begin(), p.order.end(), 0);
  std::stable_sort(p.order.begin(), p.order.end(),
                   [&](int64_t a, int64_t b) { return key[size_t(a)] < key[size_t(b)]; });
  for (size_t i = 0; i < key.size(); ++i)
    if (i == 0 || key[size_t(p.order[i])] != key[size_t(p.order[i - 1])])
      p.starts.push_back(int64_t(i));
  p.starts.push_back(int64_t(key.size()));
  return p;
}

template <class F>
void for_pools(const Pools& p, int64_t width, F f) {
  const int64_t n = int64_t(p.starts.size()) - 1;
  parallel_for(0, n, std::max<int64_t>(1, 4096 / std::max<int64_t>(width, 1)),
               [&](int64_t from, int64_t to) {
    for (int64_t g = from; g < to; ++g)
      for (int64_t k = 0; k < width; ++k)
        f(p.order.data() + p.starts[size_t(g)], p.starts[size_t(g) + 1] - p.starts[size_t(g)], k);
  });
}

template <class T>
void softmax_values(const T* in, T* out, const Pools& p, int64_t width, bool log) {
  for_pools(p, width, [&](const int64_t* rows, int64_t n, int64_t k) {
    T top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; ++i) top = std::max(top, in[rows[i] * width + k]);
    for (int64_t i = 0; i < n; ++i) sum += std::exp(in[rows[i] * width + k] - top);
    const T shift = top + std::log(sum);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = rows[i] * width + k;
      out[at] = log ? in[at] - shift : std::exp(in[at] - top) / sum;
    }
  });
}

template <class T>
void softmax_grad(const T* grad, const T* result, T* out, const Pools& p, int64_t width, bool log) {
  for_pools(p, width, [&](const int64_t* rows, int64_t n, int64_t k) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = rows[i] * width + k;
      sum += log ? grad[at] : grad[at] * result[at];
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = rows[i] * width + k;
      out[at] = log ? grad[at] - std::exp(result[at]) * sum : result[at] * (grad[at] - sum);
    }
  });
}

Tensor softmax_of(const Tensor& self, int64_t dim, bool log) {
  check_implemented(self.is_sparse(), "Could not run 'aten::_sparse_", log ? "log_" : "",
                    "softmax' with arguments from the '",
                    self.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
  const Tensor t = coalesced(self);
  const SparseImpl& s = sparse_impl(t);
  const int64_t d = wrap_dim(dim, self.dim());
  if (s.nnz() == 0) return t;
  if (d >= s.sparse_dim) {
    const int64_t v = d - s.sparse_dim + 1;
    return with_values(t, log ? native::log_softmax(s.values, v, std::nullopt)
                              : native::softmax(s.values, v, std::nullopt));
  }
  const Tensor in = native::contiguous(s.values);
  Tensor out = empty_tensor(in.sizes(), in.dtype(), in.device());
  const Pools p = pools_of(s, d);
  visit(RealFloatTypes{}, in.dtype(), log ? "log_softmax" : "softmax", [&]<class T>() {
    if (in.numel())
      softmax_values(in.data<T>(), out.data<T>(), p, in.numel() / s.nnz(), log);
  });
  return with_values(t, out);
}

// The gradient's values at the places of `output`, zero where it has none.
Tensor values_like(const Tensor& grad, const Tensor& output) {
  const SparseImpl& o = sparse_impl(output);
  if (!is_sparse_kind(grad)) return gather_places(grad, o.indices, o.sizes);
  return gather_places(to_strided(grad), o.indices, o.sizes);
}

Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim, bool log) {
  const SparseImpl& o = sparse_impl(output);
  const int64_t d = wrap_dim(dim, output.dim());
  const bool same = grad.is_sparse() && sparse_impl(grad).indices.is_same(o.indices);
  const Tensor g = native::contiguous(
      native::to_dtype(same ? sparse_impl(grad).values : values_like(grad, output),
                       output.dtype()));
  const Tensor result = native::contiguous(o.values);
  Tensor out = empty_tensor(g.sizes(), g.dtype(), g.device());
  if (g.numel() == 0) return with_values(output, out);
  const int64_t width = g.numel() / o.nnz();
  if (d < o.sparse_dim) {
    const Pools p = pools_of(o, d);
    visit(RealFloatTypes{}, g.dtype(), "softmax_backward", [&]<class T>() {
      softmax_grad(g.data<T>(), result.data<T>(), out.data<T>(), p, width, log);
    });
    return with_values(output, out);
  }
  // A dense dimension: every line along it is a pool.
  int64_t inner = 1;
  const int64_t v = d - o.sparse_dim + 1, n = g.size(v);
  for (int64_t k = v + 1; k < g.dim(); ++k) inner *= g.size(k);
  Pools p;
  for (int64_t line = 0; line < g.numel() / n; ++line) {
    p.starts.push_back(line * n);
    for (int64_t i = 0; i < n; ++i)
      p.order.push_back(line / inner * n * inner + i * inner + line % inner);
  }
  p.starts.push_back(g.numel());
  visit(RealFloatTypes{}, g.dtype(), "softmax_backward", [&]<class T>() {
    softmax_grad(g.data<T>(), result.data<T>(), out.data<T>(), p, 1, log);
  });
  return with_values(output, out);
}

}  // namespace
}  // namespace rl::sparse

namespace rl::native {

Tensor _sparse_softmax_data(const Tensor& self, int64_t dim) {
  return sparse::softmax_of(self, dim, false);
}
Tensor _sparse_log_softmax_data(const Tensor& self, int64_t dim) {
  return sparse::softmax_of(self, dim, true);
}
Tensor _sparse_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                     const Tensor& self) {
  return sparse::softmax_backward(grad_output, output, dim, false);
}
Tensor _sparse_log_softmax_backward_data(const Tensor& grad_output, const Tensor& output,
                                         int64_t dim, const Tensor& self) {
  return sparse::softmax_backward(grad_output, output, dim, true);
}

}  // namespace rl::native
