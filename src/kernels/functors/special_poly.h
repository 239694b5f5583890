// Orthogonal polynomials p_n(x) by their three-term recurrences (A&S 22.7); for Chebyshev's on
// (-1, 1) and higher n by their trigonometric form (A&S 22.3.15, 22.3.16).
// n is cut to an integer; p_n is 0 for n < 0.
#pragma once

#include "kernels/functors/special_gamma.h"

namespace rl::cpu::RL_ISA::special {

// What overflows T is infinite from then on, and soon no number: inf - inf.
template <class T> RL_INLINE double bounded(double v) {
  constexpr double most = std::numeric_limits<T>::max();
  return v > most ? kInf<double> : v < -most ? -kInf<double> : v;
}

// p_{k+1} = 2 x p_k - p_{k-1}, starting with p_0 = 1 and `first`.
template <class T> inline double chebyshev_recurrence(double x, double first, std::int64_t n) {
  if (n == 0) return 1;
  double before = 1, now = first;
  for (std::int64_t k = 1; k < n && now == now; ++k) {
    double next = bounded<T>((x + x) * now - before);
    before = now;
    now = next;
  }
  return now;
}
// The values at x = 1 and x = -1, which cos and sin quotients would miss.
inline double at_one(double x, std::int64_t n, double at_plus, double at_minus_even) {
  if (x > 0) return at_plus;
  return n % 2 == 0 ? at_minus_even : -at_minus_even;
}
template <class T> inline double chebyshev_t(double x, std::int64_t n) {
  if (n < 0) return 0;
  if (abs(x) == 1) return at_one(x, n, 1, 1);
  if (n > 6 && abs(x) < 1) return __builtin_cos(double(n) * __builtin_acos(x));
  return chebyshev_recurrence<T>(x, x, n);
}
template <class T> inline double chebyshev_u(double x, std::int64_t n) {
  if (n < 0) return 0;
  if (abs(x) == 1) return at_one(x, n, double(n) + 1, double(n) + 1);
  if (n > 8 && abs(x) < 1) {
    double theta = __builtin_acos(x);
    return __builtin_sin((double(n) + 1) * theta) / __builtin_sin(theta);
  }
  return chebyshev_recurrence<T>(x, x + x, n);
}
template <class T> inline double chebyshev_v(double x, std::int64_t n) {
  if (n < 0) return 0;
  if (abs(x) == 1) return at_one(x, n, 1, 2 * double(n) + 1);
  if (n > 8 && abs(x) < 1) {
    double theta = __builtin_acos(x);
    return __builtin_cos((double(n) + 0.5) * theta) / __builtin_cos(0.5 * theta);
  }
  return chebyshev_recurrence<T>(x, x + x - 1, n);
}
template <class T> inline double chebyshev_w(double x, std::int64_t n) {
  if (n < 0) return 0;
  if (abs(x) == 1) return at_one(x, n, 2 * double(n) + 1, 1);
  if (n > 8 && abs(x) < 1) {
    double theta = __builtin_acos(x);
    return __builtin_sin((double(n) + 0.5) * theta) / __builtin_sin(0.5 * theta);
  }
  return chebyshev_recurrence<T>(x, x + x + 1, n);
}

// Physicists' (scale 2) and probabilists' (scale 1) Hermite polynomials.
template <class T> inline double hermite(double x, std::int64_t n, double scale) {
  if (n < 0) return 0;
  double before = 0, now = 1;
  for (std::int64_t k = 0; k < n && now == now; ++k) {
    double next = bounded<T>(scale * (x * now - double(k) * before));
    before = now;
    now = next;
  }
  return now;
}
template <class T> inline double laguerre(double x, std::int64_t n) {
  if (n < 0) return 0;
  if (x == 0 || n == 0) return 1;
  double before = 1, now = 1 - x;
  for (std::int64_t k = 1; k < n && now == now; ++k) {
    double next =
        bounded<T>(((2 * double(k) + 1 - x) * now - double(k) * before) / (double(k) + 1));
    before = now;
    now = next;
  }
  return now;
}
template <class T> inline double legendre(double x, std::int64_t n) {
  if (n < 0) return 0;
  if (abs(x) == 1) return at_one(x, n, 1, 1);
  if (n == 0) return 1;
  double before = 1, now = x;
  for (std::int64_t k = 1; k < n && now == now; ++k) {
    double next =
        bounded<T>(((2 * double(k) + 1) * x * now - double(k) * before) / (double(k) + 1));
    before = now;
    now = next;
  }
  return now;
}

}  // namespace rl::cpu::RL_ISA::special
