// Arithmetic operators: sums, products, the quotients and remainders, powers, bounds, integers.
#pragma once

#include "kernels/functors/complex.h"

namespace rl::cpu::RL_ISA::functor {

// ---- sums and products -------------------------------------------------------------------------

template <class T> struct add_ {
  T alpha = T(1);
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_real_float<T>) return fma(b, V(alpha), a);
    else return plus(a, times(b, V(alpha)));
  }
};
template <class T> struct sub_ {
  T alpha = T(1);
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_real_float<T>) return fma(b, V(-alpha), a);
    else return minus(a, times(b, V(alpha)));
  }
};
template <class T> struct rsub_ {  // other - alpha * self
  T alpha = T(1);
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return sub_<T>{alpha}(b, a); }
};
// A complex product that rounds alike for one element and for many: fused by hand, because GCC 12
// fuses the vectorised form whatever -ffp-contract says.
template <class V> RL_INLINE V product(V a, V b) {
  if constexpr (is_complex_type<V>)
    return V(fma(a.real(), b.real(), -(a.imag() * b.imag())),
             fma(a.real(), b.imag(), a.imag() * b.real()));
  else
    return times(a, b);
}

template <class T> struct mul_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return product(a, b); }
};
template <class T> struct addcmul_ {
  T value = T(1);
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x, V a, V b) const {
    return plus(x, product(product(V(value), a), b));
  }
};
template <class T> struct addcdiv_ {
  T value = T(1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V a, V b) const {
    return plus(x, quotient(product(V(value), a), b));
  }
};
template <class T> struct lerp_ {  // start, end, weight; exact at both ends
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b, V w) const {
    V d = b - a;
    if constexpr (is_complex_type<T>) {
      bool near_start = w.real() * w.real() + w.imag() * w.imag() < real_t<T>(0.25);
      return near_start ? a + product(w, d) : b - product(d, V(1) - w);
    } else {
      return select(abs(w) < V(0.5), fma(w, d, a), b - d * (V(1) - w));
    }
  }
};
template <class T> struct lerp_scalar_ {
  T weight;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return lerp_<T>()(a, b, V(weight)); }
};

// ---- quotients ---------------------------------------------------------------------------------

template <class T> struct div_ {  // true division: floating and complex only
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return quotient(a, b); }
};

// Integer quotient towards zero; INT_MIN / -1 wraps instead of trapping.
template <class T> RL_INLINE T int_quotient(T a, T b) {
  if (b == T(0)) zero_division();
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return negate(a);
  }
  return T(a / b);
}
template <class T> RL_INLINE T int_rest(T a, T b) {
  if (b == T(0)) zero_division();
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return T(0);
  }
  return T(a % b);
}

template <class T> struct div_trunc_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_int<T>) return int_quotient(a, b);
    else return trunc(a / b);
  }
};

// Python's floor division of floats: exact quotient of a - fmod(a, b), then one step down where
// the signs differ. Division by zero gives a / b.
template <class V> RL_INLINE V float_floor_div(V a, V b) {
  V zero(0), one(1);
  V mod = fmod(a, b);
  V div = (a - mod) / b;
  auto lower = (mod != zero) & ((b < zero) != (mod < zero));
  div = select(lower, div - one, div);
  V fl = floor(div);
  fl = select(div - fl > V(0.5), fl + one, fl);
  fl = select(div != zero, fl, copysign(zero, a / b));
  return select(b == zero, a / b, fl);
}
template <class T> struct div_floor_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_int<T>) {
      T q = int_quotient(a, b);
      bool lower = std::is_signed_v<T> && (a < 0) != (b < 0) && int_rest(a, b) != T(0);
      return lower ? T(q - 1) : q;
    } else {
      return float_floor_div(a, b);
    }
  }
};
template <class T> struct remainder_ {  // the sign of the divisor
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_int<T>) {
      T r = int_rest(a, b);
      return std::is_signed_v<T> && r != T(0) && (r < 0) != (b < 0) ? T(r + b) : r;
    } else {
      V r = fmod(a, b);
      return select((r != V(0)) & ((b < V(0)) != (r < V(0))), r + b, r);
    }
  }
};
template <class T> struct fmod_ {  // the sign of the dividend
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_int<T>) return int_rest(a, b);
    else return fmod(a, b);
  }
};
template <class T> struct reciprocal_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const { return quotient(V(1), x); }
};

// ---- powers ------------------------------------------------------------------------------------

template <class T> RL_INLINE T int_pow(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return exponent & 1 ? T(-1) : T(1);
      return T(0);
    }
  }
  T result = T(1);
  for (; exponent != T(0); exponent = T(exponent >> 1)) {
    if (exponent & 1) result = times(result, base);
    base = times(base, base);
  }
  return result;
}
template <class T> struct pow_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_int<T>) return int_pow(a, b);
    else return pow(a, b);
  }
};
// One exponent for all elements; the frequent ones become multiplications and roots.
template <class T> struct pow_scalar_ {
  T exponent;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if (exponent == T(2)) return times(x, x);
    if (exponent == T(3)) return times(times(x, x), x);
    if constexpr (is_int<T>) {
      return int_pow(x, exponent);
    } else {
      if (exponent == T(0.5)) return sqrt(x);
      if (exponent == T(-1)) return quotient(V(1), x);
      if (exponent == T(-2)) return quotient(V(1), times(x, x));
      if (exponent == T(-0.5)) return quotient(V(1), sqrt(x));
      return pow(x, V(exponent));
    }
  }
};
template <class T> struct square_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const { return times(x, x); }
};
template <class T> struct sqrt_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const { return sqrt(x); }
};
template <class T> struct rsqrt_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const { return quotient(V(1), sqrt(x)); }
};
template <class T> struct ldexp_ {  // x * 2^exponent, the exponent in x's type
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V e) const { return x * exp2(e); }
};

// ---- signs -------------------------------------------------------------------------------------

template <class T> struct neg_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const { return negate(x); }
};
template <class T> struct frexp_ {
  static constexpr bool vectorized = false;
  std::pair<T, int32_t> operator()(T x) const {
    int exponent = 0;
    const T mantissa = std::frexp(x, &exponent);
    return {mantissa, int32_t(exponent)};
  }
};
template <class T> struct positive_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const { return x; }
};
template <class T> struct abs_ {  // complex: the modulus, a real number
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE auto operator()(V x) const {
    if constexpr (is_int<V> && std::is_signed_v<V>) return x < 0 ? negate(x) : x;
    else return abs(x);
  }
};
template <class T> struct sign_ {  // 0 for NaN
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (std::is_same_v<T, bool>) return x;
    else if constexpr (std::is_unsigned_v<T>) return select(x > V(T(0)), V(T(1)), V(T(0)));
    else return select(x > V(T(0)), V(T(1)), select(x < V(T(0)), V(T(-1)), V(T(0))));
  }
};
template <class T> struct sgn_ {  // complex: x / |x|
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (is_complex_type<T>) {
      real_t<T> r = abs(x);
      return r == 0 ? T(0) : T(x.real() / r, x.imag() / r);
    } else {
      return sign_<T>()(x);
    }
  }
};
template <class T> struct copysign_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return copysign(a, b); }
};

// ---- bounds ------------------------------------------------------------------------------------

template <class T> struct maximum_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return maximum(a, b); }
};
template <class T> struct minimum_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return minimum(a, b); }
};
template <class T> struct fmax_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return fmax(a, b); }
};
template <class T> struct fmin_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return fmin(a, b); }
};
template <class T> struct clamp_ {  // max wins where min > max; a NaN bound gives NaN
  T min, max;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return minimum(V(max), maximum(V(min), x));  // x itself where it equals a bound: -0 stays
  }
};
template <class T> struct clamp_tensor_ {  // bounds that vary by element
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x, V min, V max) const {
    return minimum(maximum(x, min), max);
  }
};
template <class T> struct clamp_min_ {
  T min;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const { return maximum(V(min), x); }
};
template <class T> struct clamp_max_ {
  T max;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const { return minimum(V(max), x); }
};
template <class T> struct heaviside_ {  // x, value at 0
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x, V value) const {
    return select(x == V(T(0)), value, select(x > V(T(0)), V(T(1)), V(T(0))));
  }
};

// ---- two-argument functions ------------------------------------------------------------------

template <class T> struct hypot_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return hypot(a, b); }
};
template <class T> struct nextafter_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return nextafter(a, b); }
};
template <class T> struct logaddexp_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    if constexpr (is_complex_type<T>) {
      return complex_logaddexp(a, b);
    } else {
      V m = maximum(a, b);
      V r = m + log1p(exp(-abs(a - b)));
      return select((a == b) & (abs(a) == V(kInf<T>)), a, r);
    }
  }
};
template <class T> struct logaddexp2_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const {
    V m = maximum(a, b);
    V r = m + log1p(exp2(-abs(a - b))) * V(1.4426950408889634074);
    return select((a == b) & (abs(a) == V(kInf<T>)), a, r);
  }
};
template <class T> struct xlogy_ {  // 0 where x is 0, unless y is NaN
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    V r = select(x == V(0), V(0), x * log(y));
    return select(is_nan(y), y, r);
  }
};
template <class T> struct xlog1py_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    V r = select(x == V(0), V(0), x * log1p(y));
    return select(is_nan(y), y, r);
  }
};

// ---- integers --------------------------------------------------------------------------------

template <class T> RL_INLINE T int_abs(T x) {
  if constexpr (std::is_signed_v<T>) return x < 0 ? negate(x) : x;
  else return x;
}
// Euclid on the wrapped absolute values; the smallest integer stays negative, as in PyTorch.
template <class T> RL_INLINE T int_gcd(T a, T b) {
  a = int_abs(a);
  b = int_abs(b);
  while (a != T(0)) {
    T c = a;
    a = int_rest(b, a);
    b = c;
  }
  return b;
}
template <class T> struct gcd_ {
  static constexpr bool vectorized = false;
  RL_INLINE T operator()(T a, T b) const { return int_gcd(a, b); }
};
template <class T> struct lcm_ {
  static constexpr bool vectorized = false;
  RL_INLINE T operator()(T a, T b) const {
    T g = int_gcd(a, b);
    if (g == T(0)) return T(0);
    T q = int_quotient(a, g);
    if constexpr (sizeof(T) < 4) {  // small integers are multiplied as int, cut afterwards
      int product = int(q) * int(b);
      return T(product < 0 ? -product : product);
    } else {
      return int_abs(times(q, b));
    }
  }
};

}  // namespace rl::cpu::RL_ISA::functor
