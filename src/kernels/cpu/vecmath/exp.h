// exp, exp2, expm1, and what is made of them: sigmoid, sinh, cosh, tanh.
// Method: x = n ln2 + r with |r| <= ln2 / 2 (Cody and Waite 1980), a polynomial in r, then 2^n.
#pragma once

#include "kernels/cpu/vecmath/core.h"

namespace rl::cpu::RL_ISA {

template <class T> struct exp_table;
template <> struct exp_table<float> {
  static constexpr float log2e = 0x1.715476p+0f, ln2 = 0x1.62e43p-1f;
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float low = -104.0f, high = 90.0f;         // exp
  static constexpr float low2 = -151.0f, high2 = 130.0f;      // exp2
  static constexpr float low_m1 = -20.0f, high_m1 = 89.0f;    // expm1
  // (e^r - 1 - r) / r^2
  static constexpr float q[] = {0.5f, 0.166665435f, 0.0416662842f, 0.00836657733f, 0.001394641f};
};
template <> struct exp_table<double> {
  static constexpr double log2e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;
  static constexpr double ln2_hi = 0x1.62e42ffp-1, ln2_lo = -0x1.718432a1b0e26p-35;
  static constexpr double low = -746.0, high = 711.0;
  static constexpr double low2 = -1076.0, high2 = 1026.0;
  static constexpr double low_m1 = -40.0, high_m1 = 710.0;
  static constexpr double q[] = {
      0.50000000000000056,    0.16666666666666685,    0.041666666666573704,
      0.0083333333333146069,  0.0013888888932352119,  0.00019841269902957562,
      2.4801504479351571e-05, 2.7557228032801781e-06, 2.7626312771416532e-07,
      2.5114447058448201e-08};
};

template <class T> struct ExpParts {
  Rounded<T> n;
  Vec<T> r;   // reduced argument
  Vec<T> m1;  // e^r - 1
};
template <class T> RL_INLINE ExpParts<T> exp_parts(Vec<T> x) {
  using C = exp_table<T>;
  Rounded<T> n = round_to_int(x * Vec<T>(C::log2e));
  Vec<T> r = fma(-n.value, Vec<T>(C::ln2_hi), x);
  r = fma(-n.value, Vec<T>(C::ln2_lo), r);
  return {n, r, fma(r * r, horner(r, C::q), r)};
}

template <class T> RL_INLINE Vec<T> exp(Vec<T> x) {
  using C = exp_table<T>;
  ExpParts<T> e = exp_parts(hold(x, C::low, C::high));
  return scale_by(Vec<T>(1) + e.m1, e.n);
}
// e^x / 2, which stays finite as long as sinh and cosh do.
template <class T> RL_INLINE Vec<T> half_exp(Vec<T> x) {
  using C = exp_table<T>;
  ExpParts<T> e = exp_parts(hold(x, C::low, C::high));
  Rounded<T> n = {e.n.value - Vec<T>(1), e.n.integer - Vec<int_like<T>>(1)};
  return scale_by(Vec<T>(1) + e.m1, n);
}
template <class T> RL_INLINE Vec<T> exp2(Vec<T> x) {
  using C = exp_table<T>;
  x = hold(x, C::low2, C::high2);
  Rounded<T> n = round_to_int(x);
  Vec<T> r = (x - n.value) * Vec<T>(C::ln2);
  return scale_by(Vec<T>(1) + fma(r * r, horner(r, C::q), r), n);
}
template <class T> RL_INLINE Vec<T> expm1(Vec<T> x) {
  using C = exp_table<T>;
  ExpParts<T> e = exp_parts(hold(x, C::low_m1, C::high_m1));
  // 2^n m1 + (2^n - 1), with 2^(n-1) because 2^n may overflow.
  Vec<T> s = power_of_two<T>(e.n.integer - Vec<int_like<T>>(1));
  Vec<T> r = fma(s, e.m1, s - Vec<T>(0.5));
  r = r + r;
  r = select(e.n.value == Vec<T>(0), e.m1, r);
  Vec<T> tiny(std::numeric_limits<T>::epsilon() / 4);
  return select(abs(x) < tiny, x, r);  // keeps -0 and denormals
}

// With e = exp(-|x|), which cannot overflow: 1 / (1 + e) or e / (1 + e).
template <class T> RL_INLINE Vec<T> sigmoid(Vec<T> x) {
  Vec<T> one(1), e = exp(-abs(x));
  return select(x < Vec<T>(0), e, one) / (one + e);
}
RL_INLINE Vec<float> tanh(Vec<float> x) {
  using V = Vec<float>;
  static constexpr float c[] = {-0.333332777f, 0.133313283f, -0.0537292287f, 0.0206020065f,
                                -0.00566078722f};  // (tanh x - x) / x^3 in x^2 <= 0.4
  V a = abs(x), z = x * x;
  V small = fma(x * z, horner(z, c), x);
  V large = V(1) - V(2) / (exp(a + a) + V(1));
  V r = select(a < V(0.6f), small, copysign(large, x));
  return select(x == V(0), x, r);  // -0
}
// With u = exp(2|x|) - 1: u / (u + 2) near zero, 1 - 2 / (u + 2) beyond.
RL_INLINE Vec<double> tanh(Vec<double> x) {
  using T = double;
  Vec<T> a = abs(x), u = expm1(a + a), two(2);
  Mask<T> large = a > Vec<T>(0.55);
  Vec<T> q = select(large, two, u) / (u + two);
  return copysign(select(large, Vec<T>(1) - q, q), x);
}

template <class T> struct sinh_table;
template <> struct sinh_table<float> {  // (sinh x - x) / x^3 in x^2, |x| <= 1
  static constexpr float c[] = {0.166666672f, 0.00833335053f, 0.000198360663f, 2.81743951e-06f};
};
template <> struct sinh_table<double> {
  static constexpr double c[] = {
      0.16666666666666669,    0.0083333333333331389,  0.00019841269841437692,
      2.7557319155334546e-06, 2.5052123398817914e-08, 1.6057240326589407e-10,
      7.7593125244405357e-13};
};
template <class T> RL_INLINE Vec<T> sinh(Vec<T> x) {
  Vec<T> a = abs(x), z = x * x, h = half_exp(a);
  Vec<T> small = fma(x * z, horner(z, sinh_table<T>::c), x);
  Vec<T> large = copysign(h - Vec<T>(0.25) / h, x);
  return select(a < Vec<T>(1), small, large);
}
template <class T> RL_INLINE Vec<T> cosh(Vec<T> x) {
  Vec<T> h = half_exp(abs(x));
  return h + Vec<T>(0.25) / h;
}

RL_SCALAR_TWIN_1(exp)
RL_SCALAR_TWIN_1(exp2)
RL_SCALAR_TWIN_1(expm1)
RL_SCALAR_TWIN_1(sigmoid)
RL_SCALAR_TWIN_1(tanh)
RL_SCALAR_TWIN_1(sinh)
RL_SCALAR_TWIN_1(cosh)

}  // namespace rl::cpu::RL_ISA
