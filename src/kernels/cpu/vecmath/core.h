// What the files of this folder share: polynomials, exponent arithmetic, the scalar twins.
// The polynomials are minimax fits of our own (Remez exchange, 50 digits), rounded to the type.
#pragma once

#include <limits>

#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {

// c[0] + c[1] x + ... by Horner's rule.
template <class T, int N> RL_INLINE Vec<T> horner(Vec<T> x, const T (&c)[N]) {
  Vec<T> r(c[N - 1]);
#pragma GCC unroll 32
  for (int i = N - 2; i >= 0; --i) r = fma(r, x, Vec<T>(c[i]));
  return r;
}

template <class T> struct fp;
template <> struct fp<float> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float magic = 0x1.8p23f;  // x + magic - magic rounds x to an integer
  static constexpr float min_normal = 0x1p-126f;
};
template <> struct fp<double> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double magic = 0x1.8p52;
  static constexpr double min_normal = 0x1p-1022;
};

// An integer-valued float and the same as integer lanes; |x| must stay below 2^(mantissa - 1).
template <class T> struct Rounded {
  Vec<T> value;
  Vec<int_like<T>> integer;
};
template <class T> RL_INLINE Rounded<T> round_to_int(Vec<T> x) {
  Vec<T> magic(fp<T>::magic), t = x + magic;
  return {t - magic, to_bits(t) - to_bits(magic)};
}
template <class T> RL_INLINE Vec<T> from_int(Vec<int_like<T>> n) {
  Vec<T> magic(fp<T>::magic);
  return bit_cast<T>(n + to_bits(magic)) - magic;
}
// 2^n for n in the range of normal numbers.
template <class T> RL_INLINE Vec<T> power_of_two(Vec<int_like<T>> n) {
  return bit_cast<T>((n + Vec<int_like<T>>(fp<T>::bias)) << fp<T>::mantissa);
}

// p * 2^n with one rounding, also where the result is denormal or overflows.
template <class T> RL_INLINE Vec<T> scale_by(Vec<T> p, Rounded<T> n) {
#if RL_VEC_BYTES == 64
  if constexpr (sizeof(T) == 4) return Vec<T>(_mm512_scalef_ps(p.v, n.value.v));
  else return Vec<T>(_mm512_scalef_pd(p.v, n.value.v));
#else
  // n / 2 without an arithmetic shift, which AVX2 lacks for 64-bit lanes.
  Rounded<T> half = round_to_int(n.value * Vec<T>(0.5));
  return p * power_of_two<T>(half.integer) * power_of_two<T>(n.integer - half.integer);
#endif
}

// x held to [low, high]; NaN passes.
template <class T> RL_INLINE Vec<T> hold(Vec<T> x, T low, T high) {
  return min_fast(Vec<T>(high), max_fast(Vec<T>(low), x));
}

template <class V> RL_INLINE V with_sign_of(V magnitude, V sign) {
  return copysign(magnitude, sign);
}

// float and double overloads that run one lane of the vector code.
#define RL_SCALAR_TWIN_1(NAME)                                                  \
  inline float NAME(float x) { return NAME(Vec<float>(x))[0]; }                 \
  inline double NAME(double x) { return NAME(Vec<double>(x))[0]; }
#define RL_SCALAR_TWIN_2(NAME)                                                                \
  inline float NAME(float x, float y) { return NAME(Vec<float>(x), Vec<float>(y))[0]; }       \
  inline double NAME(double x, double y) { return NAME(Vec<double>(x), Vec<double>(y))[0]; }

}  // namespace rl::cpu::RL_ISA
