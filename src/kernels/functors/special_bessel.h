// Scalar double Bessel and Airy functions. J and Y come from the C library; I, K and Ai from the
// Chebyshev expansions of special_series.h.
#pragma once

#include "kernels/functors/special_gamma.h"
#include "kernels/functors/special_series.h"

namespace rl::cpu::RL_ISA::special {

using series::chebyshev_sum;

// PyTorch has NaN at infinity, where the limit would be 0.
inline double bessel_j0(double x) { return abs(x) == kInfinity ? kNoNumber : __builtin_j0(x); }
inline double bessel_j1(double x) { return abs(x) == kInfinity ? kNoNumber : __builtin_j1(x); }
inline double bessel_y0(double x) {
  if (x == 0) return -kInfinity;
  return x > 0 && x < kInfinity ? __builtin_y0(x) : kNoNumber;
}
inline double bessel_y1(double x) {
  if (x == 0) return -kInfinity;
  return x > 0 && x < kInfinity ? __builtin_y1(x) : kNoNumber;
}

// exp(-|x|) I_n(x)
inline double i0e(double x) {
  double a = abs(x);
  if (a <= 8) return chebyshev_sum(a / 4 - 1, series::i0_small);
  return chebyshev_sum(16 / a - 1, series::i0_large) / sqrt(a);
}
inline double i1e(double x) {
  double a = abs(x), r;
  if (a <= 8) r = a * chebyshev_sum(a / 4 - 1, series::i1_small);
  else r = chebyshev_sum(16 / a - 1, series::i1_large) / sqrt(a);
  return x < 0 ? -r : r;
}
// exp(a) r in two halves, so that only a true overflow overflows; NaN at infinity (inf * 0).
inline double i0(double x) { return __builtin_exp(abs(x)) * i0e(x); }
inline double i1(double x) { return __builtin_exp(abs(x)) * i1e(x); }
inline double modified_bessel_i0(double x) { return i0(x); }
inline double modified_bessel_i1(double x) { return i1(x); }

// exp(x) K_n(x)
inline double scaled_modified_bessel_k0(double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNoNumber;
  if (x > 2) return chebyshev_sum(4 / x - 1, series::k0_large) / sqrt(x);
  double r = chebyshev_sum(0.5 * x * x - 1, series::k0_small) - __builtin_log(0.5 * x) * i0(x);
  return r * __builtin_exp(x);
}
inline double scaled_modified_bessel_k1(double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNoNumber;
  if (x > 2) return chebyshev_sum(4 / x - 1, series::k1_large) / sqrt(x);
  double r = chebyshev_sum(0.5 * x * x - 1, series::k1_small) / x + __builtin_log(0.5 * x) * i1(x);
  return r * __builtin_exp(x);
}
inline double modified_bessel_k0(double x) {
  if (x > 2) return __builtin_exp(-x) * scaled_modified_bessel_k0(x);
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNoNumber;
  return chebyshev_sum(0.5 * x * x - 1, series::k0_small) - __builtin_log(0.5 * x) * i0(x);
}
inline double modified_bessel_k1(double x) {
  if (x > 2) return __builtin_exp(-x) * scaled_modified_bessel_k1(x);
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNoNumber;
  return chebyshev_sum(0.5 * x * x - 1, series::k1_small) / x + __builtin_log(0.5 * x) * i1(x);
}

inline double spherical_bessel_j0(double x) {
  if (abs(x) == kInfinity) return 0;
  if (abs(x) < 0.5) {
    double z = x * x;
    return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))));
  }
  return __builtin_sin(x) / x;
}

// Maclaurin series in the middle (A&S 10.4.2), expansions of the asymptotic forms (10.4.59,
// 10.4.60) outside.
inline double airy_middle(double x) {
  double cube = x * x * x, f = 1, g = x, tf = 1, tg = x;
  for (int k = 0; k < 40; ++k) {
    tf *= cube / ((3 * k + 2) * (3 * k + 3));
    tg *= cube / ((3 * k + 3) * (3 * k + 4));
    f += tf;
    g += tg;
    if (abs(tf) < 1e-18 && abs(tg) < 1e-18) break;
  }
  return 0.35502805388781722 * f - 0.25881940379280682 * g;
}
inline double airy_ai(double x) {
  if (x != x || abs(x) == kInfinity) return kNoNumber;
  if (x > 103.892) return 0;
  if (x > -3 && x < 2) return airy_middle(x);
  double a = abs(x), root = sqrt(a), z = 2.0 / 3 * a * root, quarter = sqrt(root);
  if (x > 0) {
    double f = chebyshev_sum(2 * 1.8856180831641267 / z - 1, series::airy_decay);
    return f * __builtin_exp(-z) / (3.54490770181103205460 * quarter);
  }
  double u = 3.4641016151377544 / z, t = 2 * u * u - 1, theta = z + kPi / 4;
  double f = chebyshev_sum(t, series::airy_f), g = chebyshev_sum(t, series::airy_g) / z;
  return (f * __builtin_sin(theta) - g * __builtin_cos(theta)) / (1.77245385090551602730 * quarter);
}

}  // namespace rl::cpu::RL_ISA::special
