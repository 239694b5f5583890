// Rounding functors. Integers pass through floor, ceil, trunc and round unchanged.
#pragma once

#include "kernels/functors/common.h"

namespace rl::cpu::RL_ISA::functor {

#define RL_ROUND_1(NAME, FUNCTION)                                             \
  template <class T> struct NAME {                                             \
    static constexpr bool vectorized = vectorizable<T>;                        \
    template <class V> RL_INLINE V operator()(V x) const {                     \
      if constexpr (is_real_float<T>) return FUNCTION(x);                      \
      else return x;                                                           \
    }                                                                          \
  };
RL_ROUND_1(floor_, floor)
RL_ROUND_1(ceil_, ceil)
RL_ROUND_1(trunc_, trunc)
RL_ROUND_1(round_, rint)  // half to even
#undef RL_ROUND_1

template <class T> struct round_decimals_ {
  double scale;     // 10^|decimals|
  bool negative;    // decimals < 0
  static constexpr bool vectorized = is_real_float<T>;

  RL_INLINE static round_decimals_ of(std::int64_t decimals) {
    std::int64_t n = decimals < 0 ? -decimals : decimals;
    return {__builtin_pow(10.0, double(n)), decimals < 0};
  }
  template <class V> RL_INLINE V operator()(V x) const {
    V s = V(scale);
    return negative ? V(rint(x / s) * s) : V(rint(x * s) / s);
  }
};

template <class T> struct frac_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const { return x - trunc(x); }
};

template <class T> struct nan_to_num_ {
  using R = real_t<T>;
  R nan, posinf, neginf;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (is_complex_type<T>) {
      nan_to_num_<R> part{nan, posinf, neginf};
      return {part(x.real()), part(x.imag())};
    } else if constexpr (is_real_float<T>) {
      V r = select(is_nan(x), V(nan), x);
      r = select(x == V(kInf<T>), V(posinf), r);
      return select(x == V(-kInf<T>), V(neginf), r);
    } else {
      return x;
    }
  }
};

}  // namespace rl::cpu::RL_ISA::functor
