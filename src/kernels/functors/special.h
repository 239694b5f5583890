// torch.special and the gamma family as functors. All but the short ones are scalar: they compute
// in double and round once for float.
#pragma once

#include "kernels/functors/complex.h"
#include "kernels/functors/special_bessel.h"
#include "kernels/functors/special_poly.h"

namespace rl::cpu::RL_ISA::functor {

#define RL_SPECIAL_1(NAME)                                                                  \
  template <class T> struct NAME##_ {                                                       \
    static constexpr bool vectorized = false;                                               \
    RL_INLINE T operator()(T x) const { return T(special::NAME(double(x))); }               \
  };
RL_SPECIAL_1(digamma)
RL_SPECIAL_1(trigamma)
RL_SPECIAL_1(erfinv)
RL_SPECIAL_1(erfcx)
RL_SPECIAL_1(ndtr)
RL_SPECIAL_1(ndtri)
RL_SPECIAL_1(log_ndtr)
RL_SPECIAL_1(i0)
RL_SPECIAL_1(i0e)
RL_SPECIAL_1(i1)
RL_SPECIAL_1(i1e)
RL_SPECIAL_1(bessel_j0)
RL_SPECIAL_1(bessel_j1)
RL_SPECIAL_1(bessel_y0)
RL_SPECIAL_1(bessel_y1)
RL_SPECIAL_1(modified_bessel_i0)
RL_SPECIAL_1(modified_bessel_i1)
RL_SPECIAL_1(modified_bessel_k0)
RL_SPECIAL_1(modified_bessel_k1)
RL_SPECIAL_1(scaled_modified_bessel_k0)
RL_SPECIAL_1(scaled_modified_bessel_k1)
RL_SPECIAL_1(spherical_bessel_j0)
RL_SPECIAL_1(airy_ai)
#undef RL_SPECIAL_1

#define RL_SPECIAL_2(NAME)                                                                  \
  template <class T> struct NAME##_ {                                                       \
    static constexpr bool vectorized = false;                                               \
    RL_INLINE T operator()(T x, T y) const {                                                \
      return T(special::NAME(double(x), double(y)));                                        \
    }                                                                                       \
  };
RL_SPECIAL_2(zeta)
RL_SPECIAL_2(igamma)
RL_SPECIAL_2(igammac)
#undef RL_SPECIAL_2

template <class T> struct lgamma_ {
  static constexpr bool vectorized = false;
  RL_INLINE T operator()(T x) const { return T(__builtin_lgamma(double(x))); }
};
template <class T> struct polygamma_ {
  std::int64_t n = 0;
  static constexpr bool vectorized = false;
  RL_INLINE T operator()(T x) const { return T(special::polygamma(n, double(x))); }
};

// The degree arrives as a value of x's type; what fits no integer counts as negative.
template <class T> RL_INLINE std::int64_t degree_of(T n) {
  return n > T(-9e15) && n < T(9e15) ? std::int64_t(n) : -1;
}
#define RL_POLYNOMIAL(NAME, EXPR)                                                           \
  template <class T> struct NAME##_ {                                                       \
    static constexpr bool vectorized = false;                                               \
    RL_INLINE T operator()(T value, T degree) const {                                       \
      double x = value;                                                                     \
      std::int64_t n = degree_of(degree);                                                   \
      return T(EXPR);                                                                       \
    }                                                                                       \
  };
RL_POLYNOMIAL(chebyshev_polynomial_t, special::chebyshev_t<T>(x, n))
RL_POLYNOMIAL(chebyshev_polynomial_u, special::chebyshev_u<T>(x, n))
RL_POLYNOMIAL(chebyshev_polynomial_v, special::chebyshev_v<T>(x, n))
RL_POLYNOMIAL(chebyshev_polynomial_w, special::chebyshev_w<T>(x, n))
RL_POLYNOMIAL(shifted_chebyshev_polynomial_t, special::chebyshev_t<T>(x + x - 1, n))
RL_POLYNOMIAL(shifted_chebyshev_polynomial_u, special::chebyshev_u<T>(x + x - 1, n))
RL_POLYNOMIAL(shifted_chebyshev_polynomial_v, special::chebyshev_v<T>(x + x - 1, n))
RL_POLYNOMIAL(shifted_chebyshev_polynomial_w, special::chebyshev_w<T>(x + x - 1, n))
RL_POLYNOMIAL(laguerre_polynomial_l, special::laguerre<T>(x, n))
RL_POLYNOMIAL(legendre_polynomial_p, special::legendre<T>(x, n))
// PyTorch gives up (NaN) on Hermite polynomials from degree 128 in float and 512 in double.
template <class T> inline constexpr std::int64_t kHermiteLimit = sizeof(T) == 4 ? 128 : 512;
RL_POLYNOMIAL(hermite_polynomial_h,
              n < kHermiteLimit<T> ? special::hermite<T>(x, n, 2) : kNaN<double>)
RL_POLYNOMIAL(hermite_polynomial_he,
              n < kHermiteLimit<T> ? special::hermite<T>(x, n, 1) : kNaN<double>)
#undef RL_POLYNOMIAL

// ---- short ones, vector too --------------------------------------------------------------------

template <class T> struct entr_ {  // -x log x; 0 at 0, -inf below
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    V r = select(x > V(0), -x * log(x), select(x == V(0), V(0), V(-kInf<T>)));
    return select(is_nan(x), x, r);
  }
};
template <class T> struct sinc_ {  // sin(pi x) / (pi x)
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (is_complex_type<T>) {
      if (x == T(0)) return T(1);
      T p = scale(x, real_t<T>(special::kPi));
      return quotient(sin(p), p);
    } else {
      V p = x * V(special::kPi);
      return select(x == V(0), V(1), sin(p) / p);
    }
  }
};
template <class T> struct logit_ {  // eps < 0: no clamping
  T eps = T(-1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if (!(eps < T(0))) {
      V low(eps), high(T(1) - eps);
      x = select(x < low, low, select(x > high, high, x));
    }
    return log(x / (V(1) - x));
  }
};
template <class T> struct logit_backward_ {
  T eps = T(-1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V low(T(0)), high(T(1)), outside(kNaN<T>);
    if (!(eps < T(0))) {
      low = V(eps);
      high = V(T(1) - eps);
      outside = V(0);
    }
    return select((x < low) | (x > high), outside, g / (x * (V(1) - x)));
  }
};

}  // namespace rl::cpu::RL_ISA::functor
