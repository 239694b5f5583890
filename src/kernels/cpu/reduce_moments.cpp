// Variance and the general p-norm; and the choice of a reduction's kernel.
#include "kernels/cpu/reduce_rows.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace reduce {
namespace {

// Count, mean and sum of squared deviations; joined after Chan, Golub and LeVeque (1979).
struct Moments {
  double count, mean, squares;
};

RL_INLINE void join(Moments& a, const Moments& b) {
  if (b.count == 0) return;
  if (a.count == 0) {
    a = b;
    return;
  }
  const double n = a.count + b.count, delta = b.mean - a.mean;
  a.mean += delta * (b.count / n);
  a.squares += b.squares + delta * delta * (a.count * b.count / n);
  a.count = n;
}

template <class T>
struct Deviation {  // sum of (x - mean)^2 of a row
  RL_INLINE static double fold(const T* x, int64_t n, double mean) {
    constexpr int64_t w = Vec<double>::size;
    const Vec<double> m(mean);
    Vec<double> a(0.0), b(0.0);
    int64_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      for (; i + 2 * w <= n; i += 2 * w) {
        const Vec<float> v = Vec<float>::load(x + i);
        const Vec<double> d = widen_low(v) - m, e = widen_high(v) - m;
        a = fma(d, d, a);
        b = fma(e, e, b);
      }
    } else {
      for (; i + 2 * w <= n; i += 2 * w) {
        const Vec<double> d = Vec<double>::load(x + i) - m, e = Vec<double>::load(x + i + w) - m;
        a = fma(d, d, a);
        b = fma(e, e, b);
      }
    }
    double sum = hsum(a + b);
    for (; i < n; ++i) sum += (double(x[i]) - mean) * (double(x[i]) - mean);
    return sum;
  }
};

template <class T>
RL_INLINE double row_sum(const T* x, int64_t n) {
  constexpr int64_t w = Vec<double>::size;
  Vec<double> a(0.0), b(0.0);
  int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    if constexpr (std::is_same_v<T, float>) {
      const Vec<float> v = Vec<float>::load(x + i);
      a += widen_low(v);
      b += widen_high(v);
    } else {
      a += Vec<double>::load(x + i);
      b += Vec<double>::load(x + i + w);
    }
  }
  double sum = hsum(a + b);
  for (; i < n; ++i) sum += double(x[i]);
  return sum;
}

template <class T>
struct Variance {
  static void init(void* states, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<Moments*>(states)[i] = {0, 0, 0};
  }
  static void rows(void* states, const void* x, int64_t count, int64_t stride, int64_t n, int64_t,
                   const ReduceAttrs&) {
    for (int64_t r = 0; r < count; ++r) {
      const T* row = static_cast<const T*>(x) + r * stride;
      const double mean = row_sum(row, n) / double(n);
      reduce::join(static_cast<Moments*>(states)[r],
                   {double(n), mean, Deviation<T>::fold(row, n, mean)});
    }
  }
  // Two passes over blocks of rows that fit the second-level cache.
  static void columns(void* states, const void* x, int64_t count, int64_t stride, int64_t n,
                      int64_t, const ReduceAttrs&) {
    constexpr int64_t kStrip = 128, kRows = 128;
    double mean[kStrip], squares[kStrip];
    for (int64_t c = 0; c < n; c += kStrip) {
      const int64_t m = n - c < kStrip ? n - c : kStrip;
      for (int64_t r0 = 0; r0 < count; r0 += kRows) {
        const int64_t rows = count - r0 < kRows ? count - r0 : kRows;
        const T* in = static_cast<const T*>(x) + r0 * stride + c;
        for (int64_t j = 0; j < m; ++j) mean[j] = squares[j] = 0;
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t j = 0; j < m; ++j) mean[j] += double(in[r * stride + j]);
        for (int64_t j = 0; j < m; ++j) mean[j] /= double(rows);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t j = 0; j < m; ++j) {
            const double d = double(in[r * stride + j]) - mean[j];
            squares[j] += d * d;
          }
        for (int64_t j = 0; j < m; ++j)
          reduce::join(static_cast<Moments*>(states)[c + j], {double(rows), mean[j], squares[j]});
      }
    }
  }
  static void merge(void* into, const void* from, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      reduce::join(static_cast<Moments*>(into)[i], static_cast<const Moments*>(from)[i]);
  }
  static void finish(const void* states, int64_t n, void* out, void* means,
                     const ReduceAttrs& attrs) {
    const auto* s = static_cast<const Moments*>(states);
    const double divisor = attrs.count - attrs.correction;
    for (int64_t i = 0; i < n; ++i) {
      const double squares = attrs.count > 0 ? s[i].squares : __builtin_nan("");
      const double variance = squares / (divisor > 0 ? divisor : 0.0);
      static_cast<T*>(out)[i] = T(attrs.root ? sqrt(variance) : variance);
      if (means) static_cast<T*>(means)[i] = T(attrs.count > 0 ? s[i].mean : __builtin_nan(""));
    }
  }
};

// Sum of |x|^p, then the p-th root. The power is taken in double.
template <class T>
struct PowerNorm {
  static void init(void* states, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<double*>(states)[i] = 0;
  }
  static void rows(void* states, const void* x, int64_t count, int64_t stride, int64_t n, int64_t,
                   const ReduceAttrs& attrs) {
    for (int64_t r = 0; r < count; ++r) {
      const T* row = static_cast<const T*>(x) + r * stride;
      double sum = 0;
      for (int64_t i = 0; i < n; ++i)
        sum += __builtin_pow(__builtin_fabs(double(row[i])), attrs.p);
      static_cast<double*>(states)[r] += sum;
    }
  }
  static void columns(void* states, const void* x, int64_t count, int64_t stride, int64_t n,
                      int64_t, const ReduceAttrs& attrs) {
    for (int64_t r = 0; r < count; ++r) {
      const T* row = static_cast<const T*>(x) + r * stride;
      for (int64_t j = 0; j < n; ++j)
        static_cast<double*>(states)[j] += __builtin_pow(__builtin_fabs(double(row[j])), attrs.p);
    }
  }
  static void merge(void* into, const void* from, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<double*>(into)[i] += static_cast<const double*>(from)[i];
  }
  static void finish(const void* states, int64_t n, void* out, void*, const ReduceAttrs& attrs) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] =
          T(__builtin_pow(static_cast<const double*>(states)[i], 1.0 / attrs.p));
  }
};

template <class K>
bool fill_from(int state_size, ReduceKernel* k) {
  *k = {state_size, K::init, K::rows, K::columns, K::merge, K::finish};
  return true;
}

}  // namespace

bool moment_kernel(ReduceOp op, DType compute, ReduceKernel* k) {
  const bool single = compute == DType::Float;
  if (!single && compute != DType::Double) return false;
  if (op == ReduceOp::Var)
    return single ? fill_from<Variance<float>>(sizeof(Moments), k)
                  : fill_from<Variance<double>>(sizeof(Moments), k);
  if (op == ReduceOp::NormP)
    return single ? fill_from<PowerNorm<float>>(sizeof(double), k)
                  : fill_from<PowerNorm<double>>(sizeof(double), k);
  return false;
}

}  // namespace reduce

bool reduce_kernel(ReduceOp op, DType compute, ReduceKernel* kernel) {
  return reduce::sum_kernel(op, compute, kernel) ||
         reduce::extremum_kernel(op, compute, kernel) ||
         reduce::moment_kernel(op, compute, kernel);
}

}  // namespace rl::cpu::RL_ISA
