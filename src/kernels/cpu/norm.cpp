// Pieces of the normalisation layers (see norm.h).
#include "kernels/cpu/norm.h"

#include "kernels/cpu/rows.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace {

using rows::for_vectors;
using rows::load;
using rows::store;

// Optional per-element parameters: ones or zeros where there are none.
template <class T>
RL_INLINE Vec<T> load_or(const T* p, int64_t i, int64_t count, T missing) {
  return p ? load(p + i, count) : Vec<T>(missing);
}

template <class T>
void norm_row_as(bool rms, const T* x, T* y, int64_t n, const T* weight, const T* bias, double eps,
                 double* mean_out, double* rstd_out) {
  double mean = 0;
  if (!rms) {
    mean = rows::sum<T>(n, [&](int64_t i, int64_t c) { return load(x + i, c); });
    mean /= double(n);
  }
  // Deviations are taken in T from a mean rounded to T; what that rounding adds is taken off.
  const Vec<T> m{T(mean)};
  const double squares = rows::sum<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> d = load(x + i, c, T(mean)) - m;
    return d * d;
  });
  const double off = mean - double(T(mean));
  const double rstd = 1.0 / sqrt(squares / double(n) - off * off + eps);
  *mean_out = mean;
  *rstd_out = rstd;
  const Vec<T> s{T(rstd)};
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    Vec<T> v = (load(x + i, c) - m) * s;
    if (weight) v = v * load(weight + i, c);
    if (bias) v = v + load(bias + i, c);
    store(y + i, v, c);
  });
}

template <class T>
void norm_row_backward_as(bool rms, const T* dy, const T* x, int64_t n, const T* weight,
                          double mean, double rstd, T* dx) {
  const Vec<T> m{T(mean)};
  rows::WideSum sums, sums_x;
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> g = load(dy + i, c) * load_or(weight, i, c, T(1));
    sums.add(g);
    sums_x.add(g * (load(x + i, c) - m));
  });
  const double sum = rms ? 0.0 : sums.total(), sum_x = sums_x.total();
  // dx = rstd * (g - mean(g) - (x - mean) * rstd^2 * mean(g * (x - mean))), g = dy * weight.
  const Vec<T> a{T(rstd)}, b{T(rstd * rstd * rstd * sum_x / double(n))},
      shift{T(rstd * sum / double(n))};
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> g = load(dy + i, c) * load_or(weight, i, c, T(1));
    store(dx + i, g * a - (load(x + i, c) - m) * b - shift, c);
  });
}

// Up to 16 rows are added up in T, then in double.
template <class T>
void parameter_sums_as(const T* dy, const T* x, int64_t count, int64_t n, const double* mean,
                       const double* rstd, double* dweight, double* dbias) {
  constexpr int64_t kStrip = 256, kRows = 16;
  T w[kStrip], b[kStrip];
  for (int64_t c = 0; c < n; c += kStrip) {
    const int64_t m = n - c < kStrip ? n - c : kStrip;
    for (int64_t r0 = 0; r0 < count; r0 += kRows) {
      for (int64_t j = 0; j < m; ++j) w[j] = b[j] = T(0);
      for (int64_t r = r0; r < count && r < r0 + kRows; ++r) {
        const T *g = dy + r * n + c, *v = x + r * n + c;
        const T mu = mean ? T(mean[r]) : T(0), s = T(rstd[r]);
        for (int64_t j = 0; j < m; ++j) {
          w[j] += g[j] * ((v[j] - mu) * s);
          b[j] += g[j];
        }
      }
      if (dweight)
        for (int64_t j = 0; j < m; ++j) dweight[c + j] += double(w[j]);
      if (dbias)
        for (int64_t j = 0; j < m; ++j) dbias[c + j] += double(b[j]);
    }
  }
}

template <class T>
void gradient_sums_as(const T* dy, const T* x, int64_t n, double mean, double* sums) {
  const Vec<T> m{T(mean)};
  rows::WideSum a, b;
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> g = load(dy + i, c);
    a.add(g);
    b.add(g * (load(x + i, c) - m));
  });
  sums[0] += a.total();
  sums[1] += b.total() - (mean - double(T(mean))) * a.total();
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
                       const void* weight, double mean, double rstd, void* dx) {
  typed(compute, [&]<class T>() {
    norm_row_backward_as<T>(rms, in<T>(dy), in<T>(x), n, in<T>(weight), mean, rstd, out<T>(dx));
  });
}

void norm_parameter_sums(DType compute, const void* dy, const void* x, int64_t rows, int64_t n,
                         const double* mean, const double* rstd, double* dweight, double* dbias) {
  typed(compute, [&]<class T>() {
    parameter_sums_as<T>(in<T>(dy), in<T>(x), rows, n, mean, rstd, dweight, dbias);
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
