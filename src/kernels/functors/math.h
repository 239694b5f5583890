// Elementary functions as functors: real (scalar and Vec) and complex.
#pragma once

#include "kernels/functors/complex.h"

namespace rl::cpu::RL_ISA::functor {

#define RL_MATH_1(NAME)                                                        \
  template <class T> struct NAME##_ {                                          \
    static constexpr bool vectorized = is_real_float<T>;                       \
    template <class V> RL_INLINE V operator()(V x) const { return NAME(x); }   \
  };
RL_MATH_1(exp) RL_MATH_1(exp2) RL_MATH_1(expm1)
RL_MATH_1(log) RL_MATH_1(log2) RL_MATH_1(log10) RL_MATH_1(log1p)
RL_MATH_1(sin) RL_MATH_1(cos) RL_MATH_1(tan)
RL_MATH_1(asin) RL_MATH_1(acos) RL_MATH_1(atan)
RL_MATH_1(sinh) RL_MATH_1(cosh) RL_MATH_1(tanh)
RL_MATH_1(asinh) RL_MATH_1(acosh) RL_MATH_1(atanh)
RL_MATH_1(erf) RL_MATH_1(erfc) RL_MATH_1(sigmoid)
#undef RL_MATH_1

template <class T> struct atan2_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V y, V x) const { return atan2(y, x); }
};
template <class T> struct deg2rad_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const { return x * V(0.017453292519943295769); }
};
template <class T> struct rad2deg_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const { return x * V(57.295779513082320877); }
};
// Backward of functions that are saved by their result.
template <class T> struct sigmoid_backward_ {  // grad, result
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V y) const {
    if constexpr (is_complex_type<T>) {
      V d = times(V(1) - y, y);
      return times(g, V(d.real(), -d.imag()));
    } else {
      return g * (V(1) - y) * y;
    }
  }
};
template <class T> struct tanh_backward_ {  // grad, result
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V y) const {
    if constexpr (is_complex_type<T>) {
      V d = V(1) - times(y, y);
      return times(g, V(d.real(), -d.imag()));
    } else {
      return g * (V(1) - y * y);
    }
  }
};

}  // namespace rl::cpu::RL_ISA::functor
