// Running sums, products, log-sum-exps and extrema along a dimension (see reduce.h).
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {
namespace {

struct ComplexPair {
  double re, im;
};

struct Add {
  template <class A> static A start() { return A(0); }
  template <class A, class T> static RL_INLINE A step(A a, T x) {
    if constexpr (std::is_integral_v<A>) return A(uint64_t(a) + uint64_t(x));
    else return a + A(x);
  }
};
struct Multiply {
  template <class A> static A start() { return A(1); }
  template <class A, class T> static RL_INLINE A step(A a, T x) {
    if constexpr (std::is_integral_v<A>) return A(uint64_t(a) * uint64_t(x));
    else return a * A(x);
  }
};
struct AddComplex {
  template <class A> static A start() { return {0, 0}; }
  template <class A> static RL_INLINE A step(A a, A x) { return {a.re + x.re, a.im + x.im}; }
};
struct MultiplyComplex {
  template <class A> static A start() { return {1, 0}; }
  template <class A> static RL_INLINE A step(A a, A x) {
    return {a.re * x.re - a.im * x.im, a.re * x.im + a.im * x.re};
  }
};
struct LogAddExp {
  template <class A> static A start() { return -__builtin_inf(); }
  template <class A, class T> static RL_INLINE A step(A a, T x) {
    const A v = A(x);
    if (a != a || v != v) return a + v;
    const A high = a > v ? a : v, low = a > v ? v : a;
    if (high == low && high - high != 0) return high;  // both infinite of one sign
    return high + __builtin_log1p(__builtin_exp(low - high));
  }
};

struct LogAddExpComplex {
  template <class A> static A start() { return {-__builtin_inf(), 0}; }
  template <class A> static RL_INLINE A step(A a, A x) {
    if (a.re == -__builtin_inf()) return x;
    if (x.re == -__builtin_inf()) return a;
    const A high = a.re > x.re ? a : x, low = a.re > x.re ? x : a;
    if (high.re - high.re != 0) return high;  // infinite or NaN
    // high + log(1 + exp(low - high)): the angle stays near that of the larger one.
    const double e = __builtin_exp(low.re - high.re), angle = low.im - high.im;
    const double re = 1 + e * __builtin_cos(angle), im = e * __builtin_sin(angle);
    return {high.re + __builtin_log(__builtin_hypot(re, im)), high.im + __builtin_atan2(im, re)};
  }
};

constexpr int64_t kStrip = 128;

template <class T, class A, class Op>
void scan(const T* x, T* y, int64_t n, int64_t lines, int64_t stride) {
  if (lines == 1) {
    A a = Op::template start<A>();
    for (int64_t i = 0; i < n; ++i) {
      a = Op::step(a, x[i * stride]);
      y[i * stride] = T(a);
    }
    return;
  }
  A a[kStrip];
  for (int64_t c = 0; c < lines; c += kStrip) {
    const int64_t m = lines - c < kStrip ? lines - c : kStrip;
    for (int64_t j = 0; j < m; ++j) a[j] = Op::template start<A>();
    for (int64_t i = 0; i < n; ++i) {
      const T* in = x + i * stride + c;
      T* out = y + i * stride + c;
      for (int64_t j = 0; j < m; ++j) {
        a[j] = Op::step(a[j], in[j]);
        out[j] = T(a[j]);
      }
    }
  }
}

// An equal value moves the position on; once NaN, only another NaN does.
template <class T, bool kMax>
void scan_extremum(const T* x, T* y, int64_t* index, int64_t n, int64_t lines, int64_t stride) {
  for (int64_t j = 0; j < lines; ++j) {
    T best = T();
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i * stride + j];
      const bool take = i == 0 || v != v || (best == best && (kMax ? v >= best : v <= best));
      if (take) {
        best = v;
        at = i;
      }
      y[i * stride + j] = best;
      index[i * stride + j] = at;
    }
  }
}

template <class T>
bool typed(ScanOp op, const void* x, void* y, int64_t* index, int64_t n, int64_t lines,
           int64_t stride) {
  using A = std::conditional_t<std::is_same_v<T, float>, double, T>;
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  switch (op) {
    case ScanOp::Sum: scan<T, A, Add>(in, out, n, lines, stride); return true;
    case ScanOp::Prod: scan<T, A, Multiply>(in, out, n, lines, stride); return true;
    case ScanOp::Max: scan_extremum<T, true>(in, out, index, n, lines, stride); return true;
    case ScanOp::Min: scan_extremum<T, false>(in, out, index, n, lines, stride); return true;
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    scan<T, A, LogAddExp>(in, out, n, lines, stride);
    return true;
  }
  return false;
}

bool complex_scan(ScanOp op, const void* x, void* y, int64_t n, int64_t lines, int64_t stride) {
  const auto* in = static_cast<const ComplexPair*>(x);
  auto* out = static_cast<ComplexPair*>(y);
  if (op == ScanOp::Sum)
    scan<ComplexPair, ComplexPair, AddComplex>(in, out, n, lines, stride);
  else if (op == ScanOp::Prod)
    scan<ComplexPair, ComplexPair, MultiplyComplex>(in, out, n, lines, stride);
  else if (op == ScanOp::LogSumExp)
    scan<ComplexPair, ComplexPair, LogAddExpComplex>(in, out, n, lines, stride);
  else
    return false;
  return true;
}

}  // namespace

bool scan_lines(ScanOp op, DType compute, const void* x, void* y, int64_t* index, int64_t n,
                int64_t lines, int64_t stride) {
  switch (compute) {
    case DType::Float: return typed<float>(op, x, y, index, n, lines, stride);
    case DType::Double: return typed<double>(op, x, y, index, n, lines, stride);
    case DType::Int64: return typed<int64_t>(op, x, y, index, n, lines, stride);
    case DType::ComplexDouble: return complex_scan(op, x, y, n, lines, stride);
    default: return false;
  }
}

}  // namespace rl::cpu::RL_ISA
