// Bitwise operators on integers and bool. Shifts by a negative count or by the width and more are
// defined: a left shift gives 0, a right shift gives the sign (0 or -1).
#pragma once

#include "kernels/functors/common.h"

namespace rl::cpu::RL_ISA::functor {

#define RL_BITWISE(NAME, OP)                                                          \
  template <class T> struct NAME {                                                    \
    static constexpr bool vectorized = is_int<T>;                                     \
    template <class V> RL_INLINE V operator()(V a, V b) const { return V(a OP b); }   \
  };
RL_BITWISE(bitwise_and_, &)
RL_BITWISE(bitwise_or_, |)
RL_BITWISE(bitwise_xor_, ^)
#undef RL_BITWISE

template <class T> struct bitwise_not_ {
  static constexpr bool vectorized = is_int<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (std::is_same_v<T, bool>) return !x;
    else return V(~x);
  }
};

template <class T> inline constexpr int kWidth = 8 * int(sizeof(T));

template <class T> struct bitwise_left_shift_ {
  static constexpr bool vectorized = false;
  RL_INLINE T operator()(T x, T n) const {
    bool outside = n < T(0) || n >= T(kWidth<T>);
    return outside ? T(0) : T(wrap_t<T>(x) << n);
  }
};
template <class T> struct bitwise_right_shift_ {
  static constexpr bool vectorized = false;
  RL_INLINE T operator()(T x, T n) const {
    bool outside = n < T(0) || n >= T(kWidth<T>);
    if (outside) return std::is_signed_v<T> && x < T(0) ? T(-1) : T(0);
    return T(x >> n);
  }
};

}  // namespace rl::cpu::RL_ISA::functor
