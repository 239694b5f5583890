// Cross products and distances between rows.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"
#include "ops/products.h"

namespace rl::native {
namespace {

using CrossTypes = TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t,
                            uint8_t, cfloat, cdouble>;

template <class T>
T twist(T a, T b, T c, T d) {  // a * b - c * d
  if constexpr (is_reduced(dtype_of<T>)) {
    return T(float(T(float(a) * float(b))) - float(T(float(c) * float(d))));
  } else {
    return T(a * b - c * d);
  }
}

}  // namespace

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  check(self.dim() == other.dim(), "linalg.cross: inputs must have the same number of dimensions.");
  check(self.dim() > 0 && self.size(dim) == 3 && other.size(dim) == 3,
        "linalg.cross: inputs dimension ", dim, " must have length 3. Got ",
        self.dim() > 0 ? self.size(dim) : 1, " and ", other.dim() > 0 ? other.size(dim) : 1);
  const Dims sizes = broadcast_shapes(self.sizes(), other.sizes());
  check(self.dtype() == other.dtype(), "expected scalar type ", self.dtype(), " but found ",
        other.dtype());
  if (self.is_meta()) return empty_tensor(sizes, self.dtype(), self.device());
  const Tensor a = contiguous_tensor(transpose(expand(self, sizes), dim, -1));
  const Tensor b = contiguous_tensor(transpose(expand(other, sizes), dim, -1));
  Tensor out = empty_tensor(a.sizes(), self.dtype(), self.device());
  visit(CrossTypes{}, self.dtype(), "cross", [&]<class T>() {
    parallel_for(0, out.numel() / 3, 8192, [&](int64_t begin, int64_t end) {
      const T *x = a.data<T>(), *y = b.data<T>();
      T* z = out.data<T>();
      for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
        z[i] = twist(x[i + 1], y[i + 2], x[i + 2], y[i + 1]);
        z[i + 1] = twist(x[i + 2], y[i], x[i], y[i + 2]);
        z[i + 2] = twist(x[i], y[i + 1], x[i + 1], y[i]);
      }
    });
  });
  return contiguous_tensor(transpose(out, dim, -1));
}

namespace {

template <class T>
T distance(const T* x, const T* y, int64_t m, double p) {
  T sum = 0;
  if (p == 0) {
    for (int64_t i = 0; i < m; ++i) sum += x[i] != y[i];
  } else if (p == 1) {
    for (int64_t i = 0; i < m; ++i) sum += std::abs(x[i] - y[i]);
  } else if (p == 2) {
    for (int64_t i = 0; i < m; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
    sum = std::sqrt(sum);
  } else if (std::isinf(p)) {
    for (int64_t i = 0; i < m; ++i) {
      const T d = std::abs(x[i] - y[i]);
      sum = d > sum || std::isnan(d) ? d : sum;
    }
  } else {
    for (int64_t i = 0; i < m; ++i) sum += std::pow(std::abs(x[i] - y[i]), T(p));
    sum = std::pow(sum, T(1 / p));
  }
  return sum;
}

template <class T>
void all_distances(const T* x, const T* y, T* out, int64_t n, int64_t k, int64_t m, double p) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) out[i * k + j] = distance(x + i * m, y + j * m, m, p);
}

// |x - y|^2 = |x|^2 + |y|^2 - 2 x y: one matrix product instead of n * k short loops.
template <class T>
void euclidean(const Tensor& a, const Tensor& b, const Tensor& out) {
  const int64_t n = a.sizes()[1], k = b.sizes()[1], m = a.sizes()[2];
  multiply_into(out, a, transpose(b, 1, 2), Scalar(0), Scalar(-2.0));
  for (int64_t e = 0; e < a.sizes()[0]; ++e) {
    std::vector<T> square(size_t(k), T(0));
    const T* y = b.data<T>() + e * k * m;
    for (int64_t j = 0; j < k; ++j)
      for (int64_t l = 0; l < m; ++l) square[size_t(j)] += y[j * m + l] * y[j * m + l];
    for (int64_t i = 0; i < n; ++i) {
      const T* x = a.data<T>() + (e * n + i) * m;
      T own = 0;
      for (int64_t l = 0; l < m; ++l) own += x[l] * x[l];
      T* row = out.data<T>() + (e * n + i) * k;
      for (int64_t j = 0; j < k; ++j) {
        const T d = row[j] + own + square[size_t(j)];
        row[j] = std::sqrt(d < 0 ? T(0) : d);
      }
    }
  }
}

}  // namespace

Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> mode) {
  const Dims lead = broadcast_shapes(x1.sizes().slice(0, size_t(x1.dim() - 2)),
                                     x2.sizes().slice(0, size_t(x2.dim() - 2)));
  const int64_t n = x1.size(-2), k = x2.size(-2), m = x1.size(-1);
  int64_t batch = 1;
  for (int64_t s : lead) batch *= s;
  auto rows = [&](const Tensor& t) {
    Dims wide = lead;
    wide.push_back(t.size(-2));
    wide.push_back(m);
    return contiguous_tensor(reshape(expand(t, wide), {batch, t.size(-2), m}));
  };
  Dims sizes = lead;
  sizes.push_back(n);
  sizes.push_back(k);
  check(x1.dtype() == x2.dtype(), "expected scalar type ", x1.dtype(), " but found ", x2.dtype());
  Tensor out = empty_tensor(sizes, x1.dtype(), x1.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor a = rows(x1), b = rows(x2);
  const bool product = p == 2 && mode != 2 && (mode == 1 || n > 25 || k > 25);
  visit(RealFloatTypes{}, x1.dtype(), "cdist", [&]<class T>() {
    if (product) return euclidean<T>(a, b, view(out, {batch, n, k}));
    const int64_t work = std::max<int64_t>(1, k * m * (p > 2 && !std::isinf(p) ? 20 : 2));
    parallel_for(0, batch * n, 32768 / work + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        all_distances(a.data<T>() + i * m, b.data<T>() + i / n * k * m, out.data<T>() + i * k, 1, k,
                      m, p);
    });
  });
  return out;
}

Tensor _pdist_forward(const Tensor& self, double p) {
  check(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  const int64_t n = self.sizes()[0], m = self.sizes()[1];
  Tensor out = empty_tensor({n * std::max<int64_t>(n - 1, 0) / 2}, self.dtype(), self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor a = contiguous_tensor(self);
  visit(RealFloatTypes{}, self.dtype(), "pdist", [&]<class T>() {
    T* to = out.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      all_distances(a.data<T>() + i * m, a.data<T>() + (i + 1) * m, to, 1, n - i - 1, m, p);
      to += n - i - 1;
    }
  });
  return out;
}

}  // namespace rl::native
