// Softmax, log-softmax, their gradients and log-sum-exp (see softmax.h). The largest element is
// subtracted first; sums of exponentials are kept in double.
#include "kernels/cpu/softmax.h"

#include "kernels/cpu/rows.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace {

constexpr int64_t kStrip = 128;

using rows::for_vectors;
using rows::load;
using rows::store;

template <class T>
RL_INLINE T row_max(const T* x, int64_t n) {
  constexpr T lowest = -__builtin_inf();
  Vec<T> m(lowest);
  for_vectors<T>(n, [&](int64_t i, int64_t c) { m = maximum(m, load(x + i, c, lowest)); });
  return hmax(m);
}

// Sum of exp(x - shift); the exponentials go to y where it is given.
template <class T, bool kStore>
RL_INLINE double row_exp_sum(const T* x, T* y, int64_t n, T shift) {
  constexpr T lowest = -__builtin_inf();
  const Vec<T> s(shift);
  rows::WideSum sum;
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> e = exp(load(x + i, c, lowest) - s);
    if constexpr (kStore) store(y + i, e, c);
    // Past the end: exp(-inf - shift) = 0, unless the shift is -inf itself.
    sum.add(c == Vec<T>::size ? e : select(Mask<T>::first(c), e, Vec<T>(T(0))));
  });
  return sum.total();
}

template <class T>
void softmax_row(bool log_of, const T* x, T* y, int64_t n) {
  const T m = row_max(x, n);
  if (log_of) {
    const double sum = row_exp_sum<T, false>(x, nullptr, n, m);
    const Vec<T> shift(m), l(T(log(sum)));
    for_vectors<T>(n, [&](int64_t i, int64_t c) {
      store(y + i, load(x + i, c) - shift - l, c);
    });
    return;
  }
  const double sum = row_exp_sum<T, true>(x, y, n, m);
  const Vec<T> scale(T(1.0 / sum));
  for_vectors<T>(n, [&](int64_t i, int64_t c) { store(y + i, load(y + i, c) * scale, c); });
}

template <class T>
void softmax_strip(bool log_of, const T* x, T* y, int64_t n, int64_t m, int64_t stride) {
  T high[kStrip];
  double sum[kStrip];
  for (int64_t j = 0; j < m; ++j) {
    high[j] = -__builtin_inf();
    sum[j] = 0;
  }
  for (int64_t i = 0; i < n; ++i)
    for_vectors<T>(m, [&](int64_t j, int64_t c) {
      store(high + j, maximum(load(high + j, c), load(x + i * stride + j, c)), c);
    });
  T line[kStrip];
  for (int64_t i = 0; i < n; ++i) {
    T* e = log_of ? line : y + i * stride;
    for_vectors<T>(m, [&](int64_t j, int64_t c) {
      store(e + j, exp(load(x + i * stride + j, c) - load(high + j, c)), c);
    });
    for (int64_t j = 0; j < m; ++j) sum[j] += double(e[j]);
  }
  if (log_of) {
    for (int64_t j = 0; j < m; ++j) line[j] = T(log(sum[j]));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) y[i * stride + j] = x[i * stride + j] - high[j] - line[j];
    return;
  }
  for (int64_t j = 0; j < m; ++j) line[j] = T(1.0 / sum[j]);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) y[i * stride + j] *= line[j];
}

// ---- gradients --------------------------------------------------------------------------------

template <class T>
void backward_row(bool log_of, const T* dy, const T* y, T* dx, int64_t n) {
  const Vec<T> sum(T(rows::sum<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> g = load(dy + i, c);
    return log_of ? g : g * load(y + i, c);
  })));
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> g = load(dy + i, c), v = load(y + i, c);
    store(dx + i, log_of ? g - exp(v) * sum : v * (g - sum), c);
  });
}

template <class T>
void backward_strip(bool log_of, const T* dy, const T* y, T* dx, int64_t n, int64_t m,
                    int64_t stride) {
  double sum[kStrip];
  T total[kStrip];
  for (int64_t j = 0; j < m; ++j) sum[j] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T *g = dy + i * stride, *v = y + i * stride;
    if (log_of)
      for (int64_t j = 0; j < m; ++j) sum[j] += double(g[j]);
    else
      for (int64_t j = 0; j < m; ++j) sum[j] += double(g[j]) * double(v[j]);
  }
  for (int64_t j = 0; j < m; ++j) total[j] = T(sum[j]);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * stride;
    for_vectors<T>(m, [&](int64_t j, int64_t c) {
      const Vec<T> g = load(dy + at + j, c), v = load(y + at + j, c);
      const Vec<T> s = load(total + j, c);
      store(dx + at + j, log_of ? g - exp(v) * s : v * (g - s), c);
    });
  }
}

template <class T>
void softmax_as(bool log_of, const void* x, void* y, int64_t n, int64_t lines, int64_t stride) {
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  if (stride == 1) return softmax_row(log_of, in, out, n);
  for (int64_t c = 0; c < lines; c += kStrip)
    softmax_strip(log_of, in + c, out + c, n, lines - c < kStrip ? lines - c : kStrip, stride);
}

template <class T>
void backward_as(bool log_of, const void* dy, const void* y, void* dx, int64_t n, int64_t lines,
                 int64_t stride) {
  const T *g = static_cast<const T*>(dy), *v = static_cast<const T*>(y);
  T* out = static_cast<T*>(dx);
  if (stride == 1) return backward_row(log_of, g, v, out, n);
  for (int64_t c = 0; c < lines; c += kStrip)
    backward_strip(log_of, g + c, v + c, out + c, n, lines - c < kStrip ? lines - c : kStrip,
                   stride);
}

template <class T>
void logsumexp_as(const void* x, void* out, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = static_cast<const T*>(x) + r * n;
    T m = row_max(row, n);
    if (m - m != T(0) && m == m) m = T(0);  // infinite
    static_cast<T*>(out)[r] = T(log(row_exp_sum<T, false>(row, nullptr, n, m)) + double(m));
  }
}

}  // namespace

void softmax_lines(DType compute, bool log, const void* x, void* y, int64_t n, int64_t lines,
                   int64_t stride) {
  if (compute == DType::Float) softmax_as<float>(log, x, y, n, lines, stride);
  else softmax_as<double>(log, x, y, n, lines, stride);
}

void softmax_backward_lines(DType compute, bool log, const void* dy, const void* y, void* dx,
                            int64_t n, int64_t lines, int64_t stride) {
  if (compute == DType::Float) backward_as<float>(log, dy, y, dx, n, lines, stride);
  else backward_as<double>(log, dy, y, dx, n, lines, stride);
}

void logsumexp_rows(DType compute, const void* x, void* out, int64_t rows, int64_t n) {
  if (compute == DType::Float) logsumexp_as<float>(x, out, rows, n);
  else logsumexp_as<double>(x, out, rows, n);
}

}  // namespace rl::cpu::RL_ISA
