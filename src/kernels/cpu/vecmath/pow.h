// pow, fmod, hypot. Floats work in double and round once. Doubles take the C library's value lane
// by lane: a vector pow to 1 ulp needs a double-double logarithm and would gain little.
#pragma once

#include "kernels/cpu/vecmath/log.h"

namespace rl::cpu::RL_ISA {

struct pow_table {
  // log2((1 + s) / (1 - s)) / s in s^2;  2^r, |r| <= 1/2
  static constexpr double log2[] = {2.8853900817778499,  0.96179669411330526, 0.57707794237702947,
                                    0.41220925104201661, 0.31990575524875464, 0.28289928272504922};
  static constexpr double exp2[] = {0.99999999996167399,  0.69314718072837611,
                                    0.24022651198173209,  0.055504103536594157,
                                    0.0096180272507729384, 0.0013333922405347142,
                                    0.00015469292158285167, 1.5201955964268201e-05};
};

// |x|^y for floats widened to double, exact enough to round to float.
RL_INLINE Vec<double> pow_kernel(Vec<double> x, Vec<double> y) {
  using V = Vec<double>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  V a = abs(x);
  LogParts<double> p = log_parts(a);
  V s = p.f / (p.f + V(2));
  V log2x = fma(s, horner(s * s, pow_table::log2), p.k);
  log2x = select(a == V(0), V(-inf), select(a == V(inf), V(inf), log2x));
  V t = hold(y * log2x, -160.0, 130.0);
  Rounded<double> n = round_to_int(t);
  return horner(t - n.value, pow_table::exp2) * power_of_two<double>(n.integer);
}
RL_INLINE Vec<float> pow(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  V r = in_double(x, y, [](Vec<double> a, Vec<double> b) { return pow_kernel(a, b); });
  V half = y * V(0.5f);
  Mask<float> whole = trunc(y) == y, odd = whole & (trunc(half) != half);
  r = select(odd, copysign(r, x), r);
  r = select((x < V(0.0f)) & (x != V(-inf)) & !whole, V(nan), r);
  r = select(is_nan(x) | is_nan(y), V(nan), r);
  Mask<float> one = (x == V(1.0f)) | (y == V(0.0f)) | ((x == V(-1.0f)) & (abs(y) == V(inf)));
  return select(one, V(1.0f), r);
}
RL_INLINE Vec<double> pow(Vec<double> x, Vec<double> y) {
  return per_lane(x, y, [](double a, double b) { return __builtin_pow(a, b); });
}

// Exact while the quotient has fewer than 29 bits; other lanes (and zero, infinite or NaN
// operands) take the C library's value.
RL_INLINE Vec<double> fmod_kernel(Vec<double> x, Vec<double> y) {
  using V = Vec<double>;
  V a = abs(x), b = abs(y);
  V r = a - trunc(a / b) * b;
  return select(r < V(0), r + b, r);  // the quotient had been rounded up to an integer
}
RL_INLINE Vec<float> fmod(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  V r = in_double(x, y, [](Vec<double> a, Vec<double> b) { return fmod_kernel(a, b); });
  r = copysign(r, x);
  V inf(std::numeric_limits<float>::infinity());
  Mask<float> exact = (abs(x / y) < V(0x1p28f)) & (abs(y) < inf);
  if (!all(exact)) [[unlikely]] {
    for (int i = 0; i < V::size; ++i) {
      if (!exact[i]) r.set(i, __builtin_fmodf(x[i], y[i]));
    }
  }
  return r;
}
RL_INLINE Vec<double> fmod(Vec<double> x, Vec<double> y) {
  return per_lane(x, y, [](double a, double b) { return __builtin_fmod(a, b); });
}

RL_INLINE Vec<float> hypot(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  V r = in_double(x, y, [](Vec<double> a, Vec<double> b) { return sqrt(a * a + b * b); });
  V inf(std::numeric_limits<float>::infinity());
  return select((abs(x) == inf) | (abs(y) == inf), inf, r);
}
RL_INLINE Vec<double> hypot(Vec<double> x, Vec<double> y) {
  return per_lane(x, y, [](double a, double b) { return __builtin_hypot(a, b); });
}

RL_SCALAR_TWIN_2(pow)
RL_SCALAR_TWIN_2(fmod)
RL_SCALAR_TWIN_2(hypot)

}  // namespace rl::cpu::RL_ISA
