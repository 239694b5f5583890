// Scalar double mathematics around the gamma and the error function. Each function names its
// source; constants are exact rationals or fits of our own. float callers round the result once.
#pragma once

#include "kernels/functors/common.h"

namespace rl::cpu::RL_ISA::special {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kInfinity = kInf<double>;
inline constexpr double kNoNumber = kNaN<double>;

// ---- digamma, polygamma, zeta ------------------------------------------------------------------

// Recurrence up to x >= 10, then the asymptotic series (Abramowitz and Stegun 6.3.18).
inline double digamma(double x) {
  if (x == 0) return copysign(kInfinity, -x);
  double r = 0;
  if (x < 0) {
    if (x == floor(x)) return kNoNumber;
    r = -kPi / __builtin_tan(kPi * (x - trunc(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) r -= 1 / x;
  double z = 1 / (x * x);
  double tail = z * (1 / 12.0 - z * (1 / 120.0 - z * (1 / 252.0 - z * (1 / 240.0 -
                z * (1 / 132.0 - z * (691 / 32760.0 - z / 12.0))))));
  return r + __builtin_log(x) - 0.5 / x - tail;
}

// A&S 6.4.12 with the reflection 6.4.7.
inline double trigamma(double x) {
  double sign = 1, r = 0;
  if (x < 0.5) {
    double s = __builtin_sin(kPi * x);
    r = kPi * kPi / (s * s);
    sign = -1;
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / (x * x);
  double z = 1 / (x * x);
  double tail = 1 / 6.0 - z * (1 / 30.0 - z * (1 / 42.0 - z * (1 / 30.0 - z * (5 / 66.0 -
                z * (691 / 2730.0)))));
  sum += (1 + 0.5 / x + z * tail) / x;
  return r + sign * sum;
}

// (2k)! / B_2k
constexpr double kZetaScale[] = {
    12, -720, 30240, -1209600, 47900160, -1892437580.3183792, 74724249600, -2950130727918.1641,
    116467828143500.67, -4597978722407472.6, 1.8152105401943546e+17, -7.1661652561756672e+18};

// Hurwitz zeta by Euler-Maclaurin summation (A&S 23.1.30; DLMF 25.11.43).
inline double zeta(double x, double q) {
  constexpr double eps = 0x1p-53;
  if (x == 1) return kInfinity;
  if (x < 1) return kNoNumber;
  if (q <= 0) {
    if (q == floor(q)) return kInfinity;
    if (x != floor(x)) return kNoNumber;
  }
  double sum = __builtin_pow(q, -x), a = q, term = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    term = __builtin_pow(a, -x);
    sum += term;
    if (abs(term / sum) < eps) return sum;
  }
  sum += term * a / (x - 1) - 0.5 * term;
  double factor = 1, k = 0;
  for (double s : kZetaScale) {
    factor *= x + k;
    term /= a;
    double t = factor * term / s;
    sum += t;
    if (abs(t / sum) < eps) return sum;
    factor *= x + k + 1;
    term /= a;
    k += 2;
  }
  return sum;
}

// psi^(n)(x) = (-1)^(n+1) n! zeta(n + 1, x)  (A&S 6.4.10)
inline double polygamma(std::int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  double factorial = __builtin_exp(__builtin_lgamma(double(n) + 1));
  return (n % 2 ? 1 : -1) * factorial * zeta(double(n) + 1, x);
}

// ---- incomplete gamma --------------------------------------------------------------------------

// mu - log(1 + mu), without cancellation near zero.
inline double excess_over_log(double mu) {
  if (abs(mu) > 0.1) return mu - __builtin_log1p(mu);
  double term = mu * mu, sum = term / 2;
  for (int k = 3; k < 30; ++k) {
    term *= -mu;
    sum += term / k;
  }
  return sum;
}
// x^a exp(-x) / Gamma(a + 1), by the saddle-point form of Loader (2000) for large a.
inline double gamma_weight(double a, double x) {
  if (a < 10) return __builtin_exp(a * __builtin_log(x) - x - __builtin_lgamma(a + 1));
  double z = 1 / (a * a);
  double stirling = (1 / 12.0 - z * (1 / 360.0 - z * (1 / 1260.0 - z * (1 / 1680.0 -
                    z * (1 / 1188.0))))) / a;
  return __builtin_exp(-a * excess_over_log((x - a) / a) - stirling) / sqrt(2 * kPi * a);
}
// P(a, x) by its power series (A&S 6.5.29), for x < a + 1.
inline double gamma_series(double a, double x) {
  double sum = 1, term = 1;
  for (int n = 1; n < 200000; ++n) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * 0x1p-54) break;
  }
  return gamma_weight(a, x) * sum;
}
// Q(a, x) by its continued fraction (A&S 6.5.31) after Lentz, for x >= a + 1.
inline double gamma_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int n = 1; n < 200000; ++n) {
    double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    if (abs(d) < tiny) d = tiny;
    c = b + an / c;
    if (abs(c) < tiny) c = tiny;
    d = 1 / d;
    double step = d * c;
    h *= step;
    if (abs(step - 1) < 0x1p-53) break;
  }
  return gamma_weight(a, x) * a * h;
}
// Q(a, x) for small x, where 1 - P would cancel.
inline double gamma_upper_small(double a, double x) {
  double sum = 0, term = 1;
  for (int n = 1; n < 200; ++n) {
    term *= -x / n;
    double t = term / (a + n);
    sum += t;
    if (abs(t) < abs(sum) * 0x1p-54) break;
  }
  double logarithm = a * __builtin_log(x) - __builtin_lgamma(1 + a);
  return -__builtin_expm1(logarithm) - __builtin_exp(logarithm) * a * sum;
}
// The cases that both have in common; true if `r` holds the lower function's value.
inline bool gamma_edge(double a, double x, double& r) {
  if (x < 0 || a < 0) r = kNoNumber;
  else if (a == 0) r = x > 0 ? 1 : kNoNumber;
  else if (x == 0) r = 0;
  else if (a == kInfinity) r = x == kInfinity ? kNoNumber : 0;
  else if (x == kInfinity) r = 1;
  else if (x != x || a != a) r = kNoNumber;
  else return false;
  return true;
}
// Temme's uniform expansion (DLMF 8.12), whose first term is exact enough for a > 1e8; `side` is
// -1 for P and 1 for Q.
inline double gamma_uniform(double a, double x, double side) {
  double mu = (x - a) / a, phi = excess_over_log(mu), eta = copysign(sqrt(2 * phi), mu);
  double c0 = abs(mu) < 1e-4 ? mu / 12 - 1.0 / 3 : 1 / mu - 1 / eta;
  double rest = __builtin_exp(-a * phi) / sqrt(2 * kPi * a) * c0;
  return 0.5 * __builtin_erfc(side * eta * sqrt(0.5 * a)) + side * rest;
}
inline constexpr double kUniformFrom = 1e8;

inline double igamma(double a, double x) {
  double r;
  if (gamma_edge(a, x, r)) return r;
  if (a > kUniformFrom) return gamma_uniform(a, x, -1);
  return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}
inline double igammac(double a, double x) {
  double r;
  if (gamma_edge(a, x, r)) return 1 - r;
  if (a > kUniformFrom) return gamma_uniform(a, x, 1);
  if (x >= a + 1) return gamma_fraction(a, x);
  if (x < 1.1 && a < 1) return gamma_upper_small(a, x);
  return 1 - gamma_series(a, x);
}

// ---- error function family ---------------------------------------------------------------------

inline double exp_square(double x) {
  double h = x * x, low = __builtin_fma(x, x, -h);
  return __builtin_exp(h) * (1 + low);
}
// exp(x^2) erfc(x)
inline double erfcx(double x) {
  if (x < -26.7) return kInfinity;
  if (x < 0.5) return exp_square(x) * __builtin_erfc(x);
  if (x < 28) return erfcx_kernel(Vec<double>(x), erf_table::e)[0];
  double z = 1 / (x * x);  // A&S 7.1.23
  return 0.56418958354775628695 / x * (1 - z * (0.5 - z * (0.75 - z * (1.875 - z * 6.5625))));
}
inline double ndtr(double x) { return 0.5 * __builtin_erfc(-x * 0.70710678118654752440); }

inline double log_ndtr(double x) {
  double t = x * 0.70710678118654752440;
  if (x < -1) return __builtin_log(erfcx(-t) * 0.5) - t * t;
  return __builtin_log1p(-0.5 * __builtin_erfc(t));
}

// Start: A&S 26.2.23 (error < 4.5e-4); then Halley's iteration on the normal integral.
inline double ndtri_lower(double p) {  // 0 < p <= 1/2
  double t = sqrt(-2 * __builtin_log(p));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int i = 0; i < 3; ++i) {
    double density = 0.39894228040143267794 * __builtin_exp(-0.5 * x * x);
    double u = (ndtr(x) - p) / density;
    x -= u / (1 + 0.5 * x * u);
  }
  return x;
}
inline double ndtri(double p) {
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  if (p == 0.5) return 0;
  if (!(p > 0 && p < 1)) return kNoNumber;
  return p < 0.5 ? ndtri_lower(p) : -ndtri_lower(1 - p);
}
inline double erfinv(double y) {
  double a = abs(y);
  if (!(a <= 1)) return kNoNumber;
  if (a == 1) return copysign(kInfinity, y);
  if (a >= 0.5) return copysign(ndtri_lower(0.5 * (1 - a)) * 0.70710678118654752440, y);
  constexpr double half_root_pi = 0.88622692545275801365;
  double z = a * a;  // Maclaurin series, then Halley
  double x = half_root_pi * a * (1 + z * (0.2617993878 + z * (0.1439317 + z * 0.0976636)));
  for (int i = 0; i < 2; ++i) {
    double u = (__builtin_erf(x) - a) * half_root_pi * __builtin_exp(x * x);
    x -= u / (1 + x * u);
  }
  return copysign(x, y);
}

}  // namespace rl::cpu::RL_ISA::special
