// Pieces of the normalisation layers (see norm.h).
#include "kernels/cpu/norm.h"

#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace {

// Sums over a row in double: calls f(low, high, first, count) with widened registers of every
// operand in turn. kBlock elements at a time keep the loops simple and vectorised.
template <class T, class F>
RL_INLINE double sum_of(int64_t n, F&& term) {
  double lanes[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int l = 0; l < 16; ++l) lanes[l] += term(i + l);
  for (int l = 0; i < n; ++i, ++l) lanes[l] += term(i);
  for (int half = 8; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

template <class T>
void norm_row_as(bool rms, const T* x, T* y, int64_t n, const T* weight, const T* bias, double eps,
                 double* mean_out, double* rstd_out) {
  const double mean = rms ? 0.0 : sum_of<T>(n, [&](int64_t i) { return double(x[i]); }) / double(n);
  const double squares = sum_of<T>(n, [&](int64_t i) {
    const double d = double(x[i]) - mean;
    return d * d;
  });
  const double rstd = 1.0 / sqrt(squares / double(n) + eps);
  *mean_out = mean;
  *rstd_out = rstd;
  const T m = T(mean), s = T(rstd);
  if (weight && bias) {
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s * weight[i] + bias[i];
  } else if (weight) {
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s * weight[i];
  } else if (bias) {
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s + bias[i];
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s;
  }
}

template <class T>
void norm_row_backward_as(bool rms, const T* dy, const T* x, int64_t n, const T* weight,
                          double mean, double rstd, T* dx, double* dweight, double* dbias) {
  if (dweight)
    for (int64_t i = 0; i < n; ++i)
      dweight[i] += double(dy[i]) * ((double(x[i]) - mean) * rstd);
  if (dbias)
    for (int64_t i = 0; i < n; ++i) dbias[i] += double(dy[i]);
  if (!dx) return;
  double sum = 0, sum_x = 0;
  if (weight) {
    if (!rms) sum = sum_of<T>(n, [&](int64_t i) { return double(dy[i]) * double(weight[i]); });
    sum_x = sum_of<T>(n, [&](int64_t i) {
      return double(dy[i]) * double(weight[i]) * (double(x[i]) - mean);
    });
  } else {
    if (!rms) sum = sum_of<T>(n, [&](int64_t i) { return double(dy[i]); });
    sum_x = sum_of<T>(n, [&](int64_t i) { return double(dy[i]) * (double(x[i]) - mean); });
  }
  // dx = rstd * (g - mean(g) - (x - mean) * rstd^2 * mean(g * (x - mean))), g = dy * weight.
  const T a = T(rstd), m = T(mean);
  const T b = T(rstd * rstd * rstd * sum_x / double(n)), c = T(rstd * sum / double(n));
  if (weight) {
    for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * weight[i] * a - (x[i] - m) * b - c;
  } else {
    for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * a - (x[i] - m) * b - c;
  }
}

template <class T>
void gradient_sums_as(const T* dy, const T* x, int64_t n, double mean, double* sums) {
  sums[0] += sum_of<T>(n, [&](int64_t i) { return double(dy[i]); });
  sums[1] += sum_of<T>(n, [&](int64_t i) { return double(dy[i]) * (double(x[i]) - mean); });
}

// Calls f.template operator()<T>().
template <class F>
RL_INLINE void typed(DType compute, F&& f) {
  if (compute == DType::Float) f.template operator()<float>();
  else f.template operator()<double>();
}
template <class T> RL_INLINE const T* in(const void* p) { return static_cast<const T*>(p); }
template <class T> RL_INLINE T* out(void* p) { return static_cast<T*>(p); }

}  // namespace

void norm_row(DType compute, bool rms, const void* x, void* y, int64_t n, const void* weight,
              const void* bias, double eps, double* mean, double* rstd) {
  typed(compute, [&]<class T>() {
    norm_row_as<T>(rms, in<T>(x), out<T>(y), n, in<T>(weight), in<T>(bias), eps, mean, rstd);
  });
}

void norm_row_backward(DType compute, bool rms, const void* dy, const void* x, int64_t n,
                       const void* weight, double mean, double rstd, void* dx, double* dweight,
                       double* dbias) {
  typed(compute, [&]<class T>() {
    norm_row_backward_as<T>(rms, in<T>(dy), in<T>(x), n, in<T>(weight), mean, rstd, out<T>(dx),
                            dweight, dbias);
  });
}

void scale_row(DType compute, const void* x, void* y, int64_t n, double scale, double shift) {
  typed(compute, [&]<class T>() {
    const T a = T(scale), b = T(shift);
    const T* p = in<T>(x);
    T* q = out<T>(y);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) q[i] = p[i] * a + b;
  });
}

void blend_row(DType compute, const void* dy, const void* x, void* dx, int64_t n, double a,
               double b, double c) {
  typed(compute, [&]<class T>() {
    const T ta = T(a), tb = T(b), tc = T(c);
    const T *g = in<T>(dy), *p = in<T>(x);
    T* q = out<T>(dx);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) q[i] = g[i] * ta + p[i] * tb + tc;
  });
}

void gradient_sums_row(DType compute, const void* dy, const void* x, int64_t n, double mean,
                       double* sums) {
  typed(compute, [&]<class T>() { gradient_sums_as<T>(in<T>(dy), in<T>(x), n, mean, sums); });
}

void scale_columns(DType compute, const void* x, void* y, int64_t rows, int64_t n,
                   const void* scale, const void* shift) {
  typed(compute, [&]<class T>() {
    const T *a = in<T>(scale), *b = in<T>(shift);
    for (int64_t r = 0; r < rows; ++r) {
      const T* p = in<T>(x) + r * n;
      T* q = out<T>(y) + r * n;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) q[i] = p[i] * a[i] + b[i];
    }
  });
}

void blend_columns(DType compute, const void* dy, const void* x, void* dx, int64_t rows, int64_t n,
                   const void* a, const void* b, const void* c) {
  typed(compute, [&]<class T>() {
    const T *ta = in<T>(a), *tb = in<T>(b), *tc = in<T>(c);
    for (int64_t r = 0; r < rows; ++r) {
      const T *g = in<T>(dy) + r * n, *p = in<T>(x) + r * n;
      T* q = out<T>(dx) + r * n;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) q[i] = g[i] * ta[i] + p[i] * tb[i] + tc[i];
    }
  });
}

void gradient_sums_columns(DType compute, const void* dy, const void* x, int64_t rows, int64_t n,
                           const double* mean, double* sum_dy, double* sum_dy_x) {
  typed(compute, [&]<class T>() {
    for (int64_t r = 0; r < rows; ++r) {
      const T *g = in<T>(dy) + r * n, *p = in<T>(x) + r * n;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        sum_dy[i] += double(g[i]);
        sum_dy_x[i] += double(g[i]) * (double(p[i]) - mean[i]);
      }
    }
  });
}

}  // namespace rl::cpu::RL_ISA
