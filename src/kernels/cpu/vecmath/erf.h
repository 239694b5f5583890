// erf and erfc.
// |x| < 1: x times a polynomial in x^2. Beyond, floats use 1 - exp(-g(x)) with a polynomial g, and
// doubles exp(-x^2) E(t) / (1 + 2x), t = (x - 2) / (x + 2), in the manner of Shepherd and
// Laframboise (Math. Comp. 36, 1981).
#pragma once

#include "kernels/cpu/vecmath/exp.h"

namespace rl::cpu::RL_ISA {

struct erf_table {
  // erf(x) / x - 1 in x^2 <= 1
  static constexpr float f[] = {0.128379107f,    -0.37612626f,  0.112835854f,   -0.026853811f,
                                0.00518832728f, -0.000801019138f, 7.85385346e-05f};
  static constexpr double d[] = {0.12837916709551256,     -0.37612638903183748,
                                 0.11283791670954857,     -0.026866170645072893,
                                 0.0052239776247808428,   -0.00085483269787409979,
                                 0.00012055331036859544,  -1.4925593505967824e-05,
                                 1.6460972802120353e-06,  -1.635002505748337e-07,
                                 1.4657878655237029e-08,  -1.136566101071035e-09,
                                 5.9452526915114031e-11};
  // -log erfc(x), 1 <= x <= 4.05
  static constexpr float g[] = {0.000353779527f, 1.12703979f,    0.638226092f,    0.103036977f,
                                -0.0218051262f,  0.00293955812f, -0.000185568919f};
  // exp(x^2) erfc(x) (1 + 2x), 1/2 <= x <= 28: to float's precision and to double's
  static constexpr double e_low[] = {1.2769783801745576,     -0.092763820139008649,
                                     -0.16603022122353756,   0.1640509522667998,
                                     -0.054223588104524781,  -0.0080286873587969675,
                                     0.0087481862382706756,  0.0012337878119521202,
                                     -0.0015308438288906588, -0.00033467710235541307,
                                     0.00027973297267882907};
  static constexpr double e[] = {
      1.2769783815525286,     -0.092763826585746029,   -0.1660303976152889,
      0.16405128003344654,    -0.054220000992084301,   -0.0080340150826673923,
      0.0087226538775160602,  0.0012713389716925913,   -0.0014568139833219913,
      -0.00045434089962413063, 0.00020636764740899249, 0.00015103958467968667,
      -1.5131680220968241e-06, -3.6424058309927866e-05, -1.3476480470054985e-05,
      3.7052178738350441e-06, 5.1720890194050589e-06,  1.5441608921967604e-06,
      -5.9692419630726433e-07, -9.5238537687062374e-07, -3.5840738663758143e-07,
      3.1092458086571487e-07, 1.8071236135606652e-07,  -8.5503614157858101e-08,
      -5.5918218790011227e-09};
};

RL_INLINE Vec<float> erf(Vec<float> x) {
  using V = Vec<float>;
  V a = abs(x), z = x * x;
  V small = fma(x, horner(z, erf_table::f), x);
  V g = horner(min_fast(V(4.05f), a), erf_table::g);
  V large = copysign(V(1) - exp(-g), x);
  return select(a < V(1), small, large);
}

// exp(x^2) erfc(x) for 1/2 <= x <= 28.
template <int N> RL_INLINE Vec<double> erfcx_kernel(Vec<double> x, const double (&c)[N]) {
  using V = Vec<double>;
  V t = (x - V(2)) / (x + V(2));
  return horner(t, c) / (V(1) + (x + x));
}
// exp(-x^2): the square is split into a short square and a small rest, since its rounding error
// would be magnified by its size.
RL_INLINE Vec<double> exp_minus_square(Vec<double> x) {
  using V = Vec<double>;
  V top = bit_cast<double>(to_bits(x) & Vec<std::int64_t>(std::int64_t(0xfffffffff8000000)));
  V rest = (x - top) * (x + top);
  return exp(-(top * top)) * (V(1) - rest + V(0.5) * rest * rest);
}
RL_INLINE Vec<double> erf(Vec<double> x) {
  using V = Vec<double>;
  V a = abs(x), z = x * x;
  V small = fma(x, horner(z, erf_table::d), x);
  V b = hold(a, 1.0, 7.0);
  V large = copysign(V(1) - exp_minus_square(b) * erfcx_kernel(b, erf_table::e), x);
  return select(a < V(1), small, large);
}
RL_INLINE Vec<double> erfc(Vec<double> x) {
  using V = Vec<double>;
  V a = abs(x), z = x * x;
  V small = V(1) - fma(x, horner(z, erf_table::d), x);
  V b = hold(a, 0.5, 28.0);
  V large = exp_minus_square(b) * erfcx_kernel(b, erf_table::e);
  large = select(x < V(0), V(2) - large, large);
  return select(a < V(0.5), small, large);
}
RL_INLINE Vec<double> erfc_for_float(Vec<double> x) {
  using V = Vec<double>;
  static constexpr double near[] = {0.128379107,    -0.37612626,     0.112835854,  -0.026853811,
                                    0.00518832728, -0.000801019138, 7.85385346e-05};
  V a = abs(x), z = x * x;
  V small = V(1) - fma(x, horner(z, near), x);
  V b = hold(a, 0.5, 28.0);
  V large = exp(-b * b) * erfcx_kernel(b, erf_table::e_low);
  large = select(x < V(0), V(2) - large, large);
  return select(a < V(0.5), small, large);
}
RL_INLINE Vec<float> erfc(Vec<float> x) {
  return in_double(x, [](Vec<double> t) { return erfc_for_float(t); });
}

RL_SCALAR_TWIN_1(erf)
RL_SCALAR_TWIN_1(erfc)

}  // namespace rl::cpu::RL_ISA
