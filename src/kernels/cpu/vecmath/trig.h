// sin, cos, tan, and their inverses.
// Forward: x = n pi/2 + r by Cody and Waite's split of pi/2; floats are reduced in double. Lanes
// too large for that (float 2^20, double 2^19) take the C library's value, one by one.
#pragma once

#include "kernels/cpu/vecmath/core.h"

namespace rl::cpu::RL_ISA {

template <class T> struct trig_table;
template <> struct trig_table<float> {
  static constexpr float s[] = {-0.166666552f, 0.00833217613f, -0.000195169778f};
  static constexpr float c[] = {0.0416666456f, -0.00138873642f, 2.44380917e-05f};
  static constexpr float limit = 0x1p20f;
};
template <> struct trig_table<double> {
  static constexpr double s[] = {-0.16666666666666632,    0.0083333333333223698,
                                 -0.00019841269829771514, 2.7557313678766936e-06,
                                 -2.5050755974144447e-08, 1.5896667081494935e-10};
  static constexpr double c[] = {0.041666666666666602,   -0.0013888888888874066,
                                 2.4801587289444146e-05, -2.7557314340834775e-07,
                                 2.087572164579899e-09,  -1.1359560403599472e-11};
  static constexpr double limit = 0x1p19;
};

// sin(r + tail) and cos(r + tail) for |r| <= pi/4.
template <class T> RL_INLINE Vec<T> sin_kernel(Vec<T> r, Vec<T> tail) {
  Vec<T> z = r * r, one(1);
  Vec<T> correction = tail * (one - Vec<T>(0.5) * z);
  return r + fma(r * z, horner(z, trig_table<T>::s), correction);
}
template <class T> RL_INLINE Vec<T> cos_kernel(Vec<T> r, Vec<T> tail) {
  Vec<T> z = r * r, one(1), hz = Vec<T>(0.5) * z;
  Vec<T> w = one - hz;
  Vec<T> rest = ((one - w) - hz) + fma(z * z, horner(z, trig_table<T>::c), -(r * tail));
  return w + rest;
}

template <class T> struct Reduced {
  Vec<T> r, tail;
  Vec<int_like<T>> quadrant;
};
RL_INLINE Reduced<double> reduce_pi(Vec<double> x) {
  using V = Vec<double>;
  Rounded<double> n = round_to_int(x * V(0x1.45f306dc9c883p-1));  // 2 / pi
  V t = x - n.value * V(0x1.921fb544p+0);
  V w = n.value * V(0x1.0b4611a6p-34);
  V r = t - w;
  V lost = (t - r) - w;
  w = n.value * V(0x1.3198a2e037073p-69);
  V r2 = r - w;
  return {r2, ((r - r2) - w) + lost, n.integer};
}
// One term fewer: enough for results that are rounded to float.
struct ReducedFloat {
  Vec<double> r, n;
};
RL_INLINE ReducedFloat reduce_pi_float(Vec<double> x) {
  using V = Vec<double>;
  V n = round_to_int(x * V(0x1.45f306dc9c883p-1)).value;
  V r = fma(-n, V(0x1.921fb544p+0), x);
  return {fma(-n, V(0x1.0b4611a626331p-34), r), n};
}
RL_INLINE Reduced<float> reduce_pi(Vec<float> x) {
  ReducedFloat a = reduce_pi_float(widen_low(x)), b = reduce_pi_float(widen_high(x));
  Vec<float> r = narrow(a.r, b.r), n = narrow(a.n, b.n);
  return {r, Vec<float>(0), round_to_int(n).integer};
}

// Replaces the lanes outside |x| < limit; NaN and inf come this way too and give NaN.
template <class T, class F> RL_INLINE Vec<T> patch_large(Vec<T> x, Vec<T> r, F library) {
  Mask<T> inside = abs(x) < Vec<T>(trig_table<T>::limit);
  if (all(inside)) [[likely]] return r;
  for (int i = 0; i < Vec<T>::size; ++i) {
    if (!inside[i]) r.set(i, library(x[i]));
  }
  return r;
}

// sin for shift 0, cos for shift 1: the quadrant decides which polynomial and which sign.
template <class T> RL_INLINE Vec<T> sin_shifted(Vec<T> x, int shift) {
  using I = Vec<int_like<T>>;
  Reduced<T> p = reduce_pi(x);
  I q = p.quadrant + I(shift);
  Mask<T> odd = mask_cast<T>((q & I(1)) != I(0));
  Vec<T> r = select(odd, cos_kernel(p.r, p.tail), sin_kernel(p.r, p.tail));
  I sign = (q & I(2)) << (8 * int(sizeof(T)) - 2);
  return bit_cast<T>(to_bits(r) ^ sign);
}
template <class T> RL_INLINE Vec<T> sin(Vec<T> x) {
  Vec<T> r = sin_shifted(x, 0);
  r = select(x == Vec<T>(0), x, r);  // -0
  return patch_large(x, r, [](T t) -> T {
    return sizeof(T) == 4 ? T(__builtin_sinf(t)) : T(__builtin_sin(t));
  });
}
template <class T> RL_INLINE Vec<T> cos(Vec<T> x) {
  return patch_large(x, sin_shifted(x, 1), [](T t) -> T {
    return sizeof(T) == 4 ? T(__builtin_cosf(t)) : T(__builtin_cos(t));
  });
}

// Quotient of the two polynomials; for floats all of it in double.
RL_INLINE Vec<double> tan_kernel_float(Vec<double> x) {
  using V = Vec<double>;
  static constexpr double s[] = {-0.166666552, 0.00833217613, -0.000195169778};
  static constexpr double c[] = {0.0416666456, -0.00138873642, 2.44380917e-05};
  ReducedFloat p = reduce_pi_float(x);
  V z = p.r * p.r;
  V sine = fma(p.r * z, horner(z, s), p.r);
  V cosine = fma(z * z, horner(z, c), V(1) - V(0.5) * z);
  V half = p.n * V(0.5);
  Mask<double> odd = round_to_int(half).value != half;
  return select(odd, -cosine, sine) / select(odd, sine, cosine);
}
RL_INLINE Vec<float> tan(Vec<float> x) {
  Vec<float> r = in_double(x, [](Vec<double> t) { return tan_kernel_float(t); });
  r = select(x == Vec<float>(0), x, r);
  return patch_large(x, r, [](float t) { return __builtin_tanf(t); });
}
RL_INLINE Vec<double> tan(Vec<double> x) {
  using I = Vec<std::int64_t>;
  Reduced<double> p = reduce_pi(x);
  Mask<double> odd = mask_cast<double>((p.quadrant & I(1)) != I(0));
  Vec<double> s = sin_kernel(p.r, p.tail), c = cos_kernel(p.r, p.tail);
  Vec<double> r = select(odd, -c, s) / select(odd, s, c);
  r = select(x == Vec<double>(0), x, r);
  return patch_large(x, r, [](double t) { return __builtin_tan(t); });
}

// ---- inverses --------------------------------------------------------------------------------

template <class T> struct arc_table;
template <> struct arc_table<float> {
  // (asin x - x) / x^3 in x^2 <= 1/4;  (atan t - t) / t^3 in t^2 <= tan^2(pi/8)
  static constexpr float asin[] = {0.166667536f, 0.0749524236f, 0.0454770699f, 0.0241477359f,
                                   0.0422183424f};
  static constexpr float atan[] = {-0.333333164f, 0.199984834f, -0.142437384f, 0.105951399f,
                                   -0.0608115457f};
  static constexpr float pi = 0x1.921fb6p+1f, pi_lo = -0x1.777a5cp-24f;
  static constexpr float pio2_lo = -0x1.777a5cp-25f, pio4_lo = -0x1.777a5cp-26f;
  static constexpr float huge = 0x1p125f;
};
template <> struct arc_table<double> {
  static constexpr double asin[] = {
      0.16666666666665383,  0.075000000003430031, 0.044642856823512496,  0.030381959330189959,
      0.022371753545534098, 0.017359770808860701, 0.013884601113552594,  0.012173263718343017,
      0.006510913835408587, 0.019573757937232643, -0.016293866026610215, 0.031958839280810378};
  static constexpr double atan[] = {
      -0.33333333333333198, 0.19999999999953649,   -0.14285714280202982, 0.11111110783770735,
      -0.090908977660214621, 0.076920603460531797, -0.066631053070386331, 0.058478964979275745,
      -0.050393275108852637, 0.03806488569591001,  -0.017907281651577119};
  static constexpr double pi = 0x1.921fb54442d18p+1, pi_lo = 0x1.1a62633145c07p-53;
  static constexpr double pio2_lo = 0x1.1a62633145c07p-54, pio4_lo = 0x1.1a62633145c07p-55;
  static constexpr double huge = 0x1p1021;
};

// asin(y) for 0 <= y <= 1/2 beyond y itself, with z = y^2.
template <class T> RL_INLINE Vec<T> asin_tail(Vec<T> y, Vec<T> z) {
  return y * z * horner(z, arc_table<T>::asin);
}
// |x| > 1/2: asin x = pi/2 - 2 asin sqrt((1 - x) / 2).
template <class T> RL_INLINE Vec<T> asin(Vec<T> x) {
  using C = arc_table<T>;
  Vec<T> a = abs(x), half(0.5), pio2(C::pi / 2);
  Mask<T> big = a > half;
  Vec<T> z = select(big, half - half * a, a * a);
  Vec<T> y = select(big, sqrt(z), a);
  Vec<T> tail = asin_tail(y, z);
  Vec<T> large = pio2 - (Vec<T>(2) * y + (Vec<T>(2) * tail - Vec<T>(C::pio2_lo)));
  return copysign(select(big, large, y + tail), x);
}
template <class T> RL_INLINE Vec<T> acos(Vec<T> x) {
  using C = arc_table<T>;
  Vec<T> a = abs(x), half(0.5), pio2(C::pi / 2);
  Mask<T> big = a > half;
  Vec<T> z = select(big, half - half * a, a * a);
  Vec<T> y = select(big, sqrt(z), x);
  Vec<T> tail = asin_tail(y, z);
  Vec<T> twice = y + tail;
  twice = twice + twice;
  Vec<T> far = Vec<T>(C::pi) - (twice - Vec<T>(C::pi_lo));
  Vec<T> near = pio2 - (y + (tail - Vec<T>(C::pio2_lo)));
  return select(big, select(x < Vec<T>(0), far, twice), near);
}

// atan(num / den) for num, den >= 0, not both 0 or both infinite.
template <class T> RL_INLINE Vec<T> atan_quotient(Vec<T> num, Vec<T> den) {
  using C = arc_table<T>;
  Mask<T> steep = num > den * Vec<T>(2.4142135623730950488);
  Mask<T> middle = num > den * Vec<T>(0.41421356237309504880);
  Vec<T> top = select(steep, -den, select(middle, num - den, num));
  Vec<T> bottom = select(steep, num, select(middle, num + den, den));
  Vec<T> high = select(steep, Vec<T>(C::pi / 2), select(middle, Vec<T>(C::pi / 4), Vec<T>(0)));
  Vec<T> low =
      select(steep, Vec<T>(C::pio2_lo), select(middle, Vec<T>(C::pio4_lo), Vec<T>(0)));
  Vec<T> t = top / bottom, z = t * t;
  return high + (t + fma(t * z, horner(z, C::atan), low));
}
template <class T> RL_INLINE Vec<T> atan(Vec<T> x) {
  return copysign(atan_quotient(abs(x), Vec<T>(1)), x);
}
template <class T> RL_INLINE Vec<T> atan2(Vec<T> y, Vec<T> x) {
  using C = arc_table<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  Vec<T> num = abs(y), den = abs(x), one(1), zero(0);
  Mask<T> huge = (num > Vec<T>(C::huge)) | (den > Vec<T>(C::huge));
  Vec<T> down = select(huge, Vec<T>(0.0625), one);
  num = num * down;
  den = den * down;
  Mask<T> infinite = (num == Vec<T>(inf)) & (den == Vec<T>(inf));
  num = select(infinite, one, num);
  den = select(infinite | ((num == zero) & (den == zero)), one, den);
  Vec<T> r = atan_quotient(num, den);
  r = select(signbit(x), Vec<T>(C::pi) - (r - Vec<T>(C::pi_lo)), r);
  r = copysign(r, y);
  return select(is_nan(x) | is_nan(y), x + y, r);
}

RL_SCALAR_TWIN_1(sin)
RL_SCALAR_TWIN_1(cos)
RL_SCALAR_TWIN_1(tan)
RL_SCALAR_TWIN_1(asin)
RL_SCALAR_TWIN_1(acos)
RL_SCALAR_TWIN_1(atan)
RL_SCALAR_TWIN_2(atan2)

}  // namespace rl::cpu::RL_ISA
