// Comparisons, classification and logic: functors that answer bool (scalar) or Mask<T> (Vec).
#pragma once

#include "kernels/functors/common.h"

namespace rl::cpu::RL_ISA::functor {

#define RL_COMPARE(NAME, OP)                                                          \
  template <class T> struct NAME {                                                    \
    static constexpr bool vectorized = vectorizable<T>;                               \
    template <class V> RL_INLINE mask_t<V> operator()(V a, V b) const { return a OP b; } \
  };
RL_COMPARE(eq_, ==)
RL_COMPARE(ne_, !=)
RL_COMPARE(lt_, <)
RL_COMPARE(le_, <=)
RL_COMPARE(gt_, >)
RL_COMPARE(ge_, >=)
#undef RL_COMPARE

template <class T> struct isnan_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const { return x != x; }
};
template <class T> struct isinf_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const {
    if constexpr (is_complex_type<T>) {
      return isinf_<real_t<T>>()(x.real()) || isinf_<real_t<T>>()(x.imag());
    } else if constexpr (is_real_float<T>) {
      return abs(x) == V(kInf<T>);
    } else {
      return mask_t<V>(false);
    }
  }
};
template <class T> struct isfinite_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const {
    if constexpr (is_complex_type<T>) {
      return isfinite_<real_t<T>>()(x.real()) && isfinite_<real_t<T>>()(x.imag());
    } else if constexpr (is_real_float<T>) {
      return abs(x) < V(kInf<T>);
    } else {
      return mask_t<V>(true);
    }
  }
};
template <class T> struct isposinf_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const {
    if constexpr (is_real_float<T>) return x == V(kInf<T>);
    else return mask_t<V>(false);
  }
};
template <class T> struct isneginf_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const {
    if constexpr (is_real_float<T>) return x == V(-kInf<T>);
    else return mask_t<V>(false);
  }
};
template <class T> struct isreal_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const {
    if constexpr (is_complex_type<T>) return x.imag() == 0;
    else return mask_t<V>(true);
  }
};
template <class T> struct signbit_ {  // floats: the bit itself, so true for -0
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const {
    if constexpr (is_real_float<T>) return signbit(x);
    else if constexpr (std::is_unsigned_v<T>) return mask_t<V>(false);
    else return x < V(T(0));
  }
};

// Truth of an element: not zero (NaN is true).
template <class T, class V> RL_INLINE mask_t<V> truth(V x) { return x != V(T(0)); }

template <class T> struct logical_and_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V a, V b) const {
    return truth<T>(a) & truth<T>(b);
  }
};
template <class T> struct logical_or_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V a, V b) const {
    return truth<T>(a) | truth<T>(b);
  }
};
template <class T> struct logical_xor_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V a, V b) const {
    return truth<T>(a) != truth<T>(b);
  }
};
template <class T> struct logical_not_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const { return x == V(T(0)); }
};
template <class T> struct truth_ {  // conversion to bool
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE mask_t<V> operator()(V x) const { return truth<T>(x); }
};
template <class T> struct isclose_ {  // |a - b| <= atol + rtol |b|, or equal
  double rtol, atol;
  bool equal_nan;
  static constexpr bool vectorized = false;
  RL_INLINE bool operator()(T a, T b) const {
    if (a == b) return true;
    if (equal_nan && a != a && b != b) return true;
    if constexpr (is_complex_type<T> || is_real_float<T>) {
      using R = real_t<T>;
      R allowed = R(atol) + R(rtol) * R(abs(b)), actual = R(abs(T(a - b)));
      return actual < kInf<R> && actual <= allowed;
    } else {
      double distance = a > b ? double(a) - double(b) : double(b) - double(a);
      return distance <= atol + rtol * (b < T(0) ? -double(b) : double(b));
    }
  }
};

}  // namespace rl::cpu::RL_ISA::functor
