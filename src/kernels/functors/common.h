// What every functor file shares. A functor is one element-wise operator:
//
//     template <class T> struct exp_ {               // T: float, double, complex, ints, bool
//       static constexpr bool vectorized = is_real_float<T>; // may V be Vec<T>? (see vec.h)
//       template <class V> RL_INLINE V operator()(V x) const { return exp(x); }
//     };
//
// V is T itself or Vec<T>. Attributes of the operator are members in the order of its schema.
// float16 and bfloat16 are never instantiated: loops load them as float. Integer arithmetic wraps.
#pragma once

#include <complex>
#include <limits>

#include "base/zero_division.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {

template <class T> inline constexpr bool is_complex_type = false;
template <class T> inline constexpr bool is_complex_type<std::complex<T>> = true;

template <class T> struct real_of { using type = T; };
template <class T> struct real_of<std::complex<T>> { using type = T; };
template <class T> using real_t = typename real_of<T>::type;

template <class T> inline constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T> inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

// ---- the four operations, defined for every element type ---------------------------------------

// Unsigned type in which a scalar integer may overflow freely (small ones promote to int).
template <class T>
using wrap_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class V> RL_INLINE V plus(V a, V b) {
  if constexpr (is_int<V>) return V(wrap_t<V>(a) + wrap_t<V>(b));
  else return V(a + b);
}
template <class V> RL_INLINE V minus(V a, V b) {
  if constexpr (is_int<V>) return V(wrap_t<V>(a) - wrap_t<V>(b));
  else return V(a - b);
}
template <class V> RL_INLINE V times(V a, V b) {
  if constexpr (is_int<V>) {
    return V(wrap_t<V>(a) * wrap_t<V>(b));
  } else if constexpr (is_complex_type<V>) {
    // The plain formula, without C's recovery of infinities from NaN.
    return V(a.real() * b.real() - a.imag() * b.imag(),
             a.real() * b.imag() + a.imag() * b.real());
  } else {
    return V(a * b);
  }
}

// Complex quotient after Smith (CACM 5:8, 1962); x/0 is (re/0, im/0).
template <class R>
RL_INLINE std::complex<R> complex_quotient(std::complex<R> x, std::complex<R> y) {
  R a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (abs(c) >= abs(d)) {
    if (c == 0 && d == 0) return {a / abs(c), b / abs(d)};
    R ratio = d / c, scale = R(1) / (c + d * ratio);
    return {(a + b * ratio) * scale, (b - a * ratio) * scale};
  }
  R ratio = c / d, scale = R(1) / (c * ratio + d);
  return {(a * ratio + b) * scale, (b * ratio - a) * scale};
}
template <class V> RL_INLINE V quotient(V a, V b) {
  if constexpr (is_complex_type<V>) return complex_quotient(a, b);
  else return V(a / b);
}

template <class V> RL_INLINE V negate(V a) {
  if constexpr (is_int<V>) return V(wrap_t<V>(0) - wrap_t<V>(a));
  else return V(-a);
}

}  // namespace rl::cpu::RL_ISA
