// Mathematics of complex scalars. Where the C library has the function it does the work (its
// special values are those of C99's Annex G); std:: templates are avoided, because an out-of-line
// copy of one compiled for AVX-512 could be linked into code for smaller machines.
#pragma once

#include "kernels/functors/common.h"

namespace rl::cpu::RL_ISA {

using cf = std::complex<float>;
using cd = std::complex<double>;

RL_INLINE __complex__ float to_c(cf x) { return __builtin_bit_cast(__complex__ float, x); }
RL_INLINE __complex__ double to_c(cd x) { return __builtin_bit_cast(__complex__ double, x); }
RL_INLINE cf from_c(__complex__ float x) { return __builtin_bit_cast(cf, x); }
RL_INLINE cd from_c(__complex__ double x) { return __builtin_bit_cast(cd, x); }

#define RL_COMPLEX_1(NAME)                                                     \
  RL_INLINE cf NAME(cf x) { return from_c(__builtin_c##NAME##f(to_c(x))); }    \
  RL_INLINE cd NAME(cd x) { return from_c(__builtin_c##NAME(to_c(x))); }
RL_COMPLEX_1(exp) RL_COMPLEX_1(log) RL_COMPLEX_1(sqrt)
RL_COMPLEX_1(sin) RL_COMPLEX_1(cos) RL_COMPLEX_1(tan)
RL_COMPLEX_1(asin) RL_COMPLEX_1(acos) RL_COMPLEX_1(atan)
RL_COMPLEX_1(sinh) RL_COMPLEX_1(cosh) RL_COMPLEX_1(tanh)
RL_COMPLEX_1(asinh) RL_COMPLEX_1(acosh) RL_COMPLEX_1(atanh)
#undef RL_COMPLEX_1

RL_INLINE float abs(cf x) { return __builtin_hypotf(x.real(), x.imag()); }
RL_INLINE double abs(cd x) { return __builtin_hypot(x.real(), x.imag()); }
RL_INLINE float arg(cf x) { return __builtin_atan2f(x.imag(), x.real()); }
RL_INLINE double arg(cd x) { return __builtin_atan2(x.imag(), x.real()); }

template <class R> RL_INLINE std::complex<R> scale(std::complex<R> x, R s) {
  return {x.real() * s, x.imag() * s};
}

RL_INLINE cf pow(cf x, cf y) { return from_c(__builtin_cpowf(to_c(x), to_c(y))); }
RL_INLINE cd pow(cd x, cd y) { return from_c(__builtin_cpow(to_c(x), to_c(y))); }

RL_INLINE cf exp2(cf x) { return exp(scale(x, 0.69314718055994530942f)); }
RL_INLINE cd exp2(cd x) { return exp(scale(x, 0.69314718055994530942)); }
RL_INLINE cf log2(cf x) { return scale(log(x), 1.44269504088896340736f); }
RL_INLINE cd log2(cd x) { return scale(log(x), 1.44269504088896340736); }
RL_INLINE cf log10(cf x) { return scale(log(x), 0.43429448190325182765f); }
RL_INLINE cd log10(cd x) { return scale(log(x), 0.43429448190325182765); }

// exp(a + ib) - 1 = expm1(a) cos b - 2 sin^2(b/2) + i exp(a) sin b
template <class R> inline std::complex<R> complex_expm1(std::complex<R> x) {
  R a = expm1(x.real()), s = sin(x.imag() / 2);
  return {a * cos(x.imag()) - 2 * s * s, exp(x.real()) * sin(x.imag())};
}
RL_INLINE cf expm1(cf x) { return complex_expm1(x); }
RL_INLINE cd expm1(cd x) { return complex_expm1(x); }

// log(1 + a + ib): |1+x|^2 - 1 = a (2 + a) + b^2 keeps the small part.
template <class R> inline std::complex<R> complex_log1p(std::complex<R> x) {
  R a = x.real(), b = x.imag();
  R theta = arg(std::complex<R>(a + 1, b));
  R square = a * (2 + a) + b * b;
  if (!(abs(square) < R(0.5))) return {log(abs(std::complex<R>(a + 1, b))), theta};
  return {R(0.5) * log1p(square), theta};
}
RL_INLINE cf log1p(cf x) { return complex_log1p(x); }
RL_INLINE cd log1p(cd x) { return complex_log1p(x); }

// The branch with the larger real part goes first, so that exp() cannot overflow.
template <class R> inline std::complex<R> complex_logaddexp(std::complex<R> a,
                                                            std::complex<R> b) {
  if (a.real() < b.real()) {
    std::complex<R> t = a;
    a = b;
    b = t;
  }
  if (a.real() == -kInf<R>) return a;
  if (a.real() == kInf<R> && b.real() == kInf<R>) return log(exp(a) + exp(b));
  return a + log1p(exp(b - a));
}

RL_INLINE cf sigmoid(cf x) { return complex_quotient(cf(1), cf(1) + exp(-x)); }
RL_INLINE cd sigmoid(cd x) { return complex_quotient(cd(1), cd(1) + exp(-x)); }

}  // namespace rl::cpu::RL_ISA

namespace rl::cpu::RL_ISA::functor {

template <class T> struct real_ {
  static constexpr bool vectorized = false;
  RL_INLINE real_t<T> operator()(T x) const {
    if constexpr (is_complex_type<T>) return x.real();
    else return x;
  }
};
template <class T> struct imag_ {
  static constexpr bool vectorized = false;
  RL_INLINE real_t<T> operator()(T x) const {
    if constexpr (is_complex_type<T>) return x.imag();
    else return T(0);
  }
};
template <class T> struct conj_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (is_complex_type<T>) return T(x.real(), -x.imag());
    else return x;
  }
};
template <class T> struct angle_ {  // reals: pi for negative numbers, NaN kept
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE auto operator()(V x) const {
    if constexpr (is_complex_type<T>) {
      return arg(x);
    } else {
      V r = select(x < V(0), V(3.14159265358979323846), V(0));
      return select(is_nan(x), x, r);
    }
  }
};
// Two reals to one complex number; T is the real type.
template <class T> struct make_complex_ {
  static constexpr bool vectorized = false;
  RL_INLINE std::complex<T> operator()(T re, T im) const { return {re, im}; }
};
template <class T> struct polar_ {
  static constexpr bool vectorized = false;
  RL_INLINE std::complex<T> operator()(T r, T theta) const {
    return {r * cos(theta), r * sin(theta)};
  }
};

}  // namespace rl::cpu::RL_ISA::functor
