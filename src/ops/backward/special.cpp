// Gradients of special functions.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/math.h"
#include "gen/ops/special.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

namespace {
Tensor num(double v) { return wrapped_number(Scalar(v)); }
Tensor is_zero(const Tensor& x) { return rl::eq(x, num(0)); }
// x with 1 instead of 0, so that quotients that are not chosen stay finite.
Tensor nonzero(const Tensor& x, const Tensor& zero) { return rl::_where(zero, num(1), x); }
}  // namespace

Tensor not_differentiable(std::string_view what) {
  fail_as(ErrorKind::NotImplemented, "the derivative for '", what, "' is not implemented.");
}

Tensor no_second_derivative(std::string_view what) {
  fail("derivative for aten::", what, " is not implemented");
}

Tensor sinc_grad(const Tensor& grad, const Tensor& x) {
  constexpr double kPi = 3.14159265358979323846;
  const Tensor zero = is_zero(x), y = nonzero(x, zero), p = y * Scalar(kPi);
  const Tensor slope = (rl::cos(p) * p - rl::sin(p)) / (p * y);
  return rl::_where(zero, num(0), grad * conj_if(slope));
}

Tensor mvlgamma_grad(const Tensor& grad, const Tensor& x, int64_t p) {
  Tensor slope = rl::digamma(x);
  for (int64_t j = 1; j < p; ++j) slope = slope + rl::digamma(x + Scalar(-0.5 * double(j)));
  return grad * slope;
}

Tensor igamma_grad(const Tensor& grad, const Tensor& a, const Tensor& x) {
  return grad * rl::exp((a - Scalar(1)) * rl::log(x) - x - rl::lgamma(a));
}

Tensor bessel_1_grad(const Tensor& grad, const Tensor& x, const Tensor& order0,
    const Tensor& order1,
                     bool half_at_zero) {
  if (!half_at_zero) return grad * (order0 - order1 / x);
  const Tensor zero = is_zero(x);
  return grad * rl::_where(zero, num(0.5), order0 - order1 / nonzero(x, zero));
}

Tensor i1e_grad(const Tensor& grad, const Tensor& x, const Tensor& y) {
  const Tensor zero = is_zero(x), safe = nonzero(x, zero);
  return grad * rl::_where(zero, num(0.5), rl::i0e(x) - y * (rl::sgn(x) + rl::reciprocal(safe)));
}

// d/dx of grad / (x (1 - x)) inside the limits
Tensor logit_double_grad(const Tensor& g, const Tensor& grad, const Tensor& x, double eps) {
  const Tensor inner = rl::_logit_backward(g * grad, x, eps);
  const Tensor slope = (x * Scalar(2) - Scalar(1)) / (x * (rl::neg(x) + Scalar(1)));
  return rl::_where(is_zero(inner), num(0), inner * slope);
}

}  // namespace rl
