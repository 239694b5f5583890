// Gradients of element-wise operators that do not fit into a line.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/math.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

namespace {
Tensor zero() { return wrapped_number(Scalar(int64_t(0))); }
}  // namespace

Tensor conj_if(const Tensor& t) { return t.is_complex() ? rl::conj(t) : t; }

Tensor scale(const Tensor& grad, const Scalar& by) {
  if (by.equal(1)) return grad;
  return grad * by.conj();
}

Tensor real_if(const Tensor& grad, DType like) {
  return grad.is_complex() && !is_complex(like) ? rl::real(grad) : grad;
}


Tensor real_if(const Tensor& grad, const Tensor& like) { return real_if(grad, like.dtype()); }

Tensor zeros_like_grad(const Tensor& grad) {
  return rl::full(grad.sizes(), Scalar(0), grad.dtype(), grad.device());
}

Scalar one_minus(const Scalar& s) {
  if (s.is_complex()) return Scalar(cdouble(1) - s.to_complex());
  return Scalar(1.0 - s.to_double());
}

Tensor masked_grad(const Tensor& grad, const Tensor& mask) {
  return rl::_where(mask, grad, zero());
}

Tensor where_grad(const Tensor& grad, const Tensor& condition, bool first) {
  return first ? rl::_where(condition, grad, zero()) : rl::_where(condition, zero(), grad);
}

Tensor pow_grad_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  if (exponent.is_wrapped_number() || exponent.dim() == 0) {
    if (!exponent->requires_grad && !exponent.is_meta()) {
      const Scalar e = item(exponent);
      if (e.equal(0)) return zeros_like_grad(grad);
      if (e.equal(1)) return real_if(grad, self);
      if (e.equal(2)) return real_if(grad * conj_if(self * Scalar(2)), self);
      const Scalar less = e.is_complex() ? Scalar(e.to_complex() - 1.0)
                          : e.is_integral() ? Scalar(e.to_int() - 1) : Scalar(e.to_double() - 1);
      return real_if(grad * conj_if(rl::pow(self, wrapped_number(less)) * e), self);
    }
  }
  Tensor g = grad * conj_if(exponent * rl::pow(self, exponent - Scalar(int64_t(1))));
  return real_if(rl::_where(rl::eq(exponent, zero()), zero(), g), self);
}

Tensor frexp_grad(const Tensor& grad, const Tensor& exponent) {
  return rl::ldexp(grad, rl::neg(exponent));
}

Tensor pow_grad_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                         const Tensor& result) {
  // 0 ** 0 and 0 ** positive do not depend on the exponent (except at negative ones).
  Tensor at_zero = exponent.is_complex()
                       ? rl::logical_and(rl::eq(self, zero()), rl::ge(rl::real(exponent), zero()))
                       : rl::logical_and(rl::eq(self, zero()), rl::ge(exponent, zero()));
  Tensor base = self;
  if (self.is_wrapped_number()) {  // log of a Python number in the result's dtype
    base = scalar_tensor(item(self), result.dtype());
    base->wrapped_number = true;
  }
  Tensor g = grad * conj_if(result * rl::log(base));
  return real_if(rl::_where(at_zero, zero(), g), exponent);
}

// Half of the gradient to each side where both are equal.
Tensor minmax_grad(const Tensor& grad, const Tensor& self, const Tensor& other, bool max) {
  Tensor loses = max ? rl::lt(self, other) : rl::gt(self, other);
  Tensor tied = rl::_where(rl::eq(self, other), grad / Scalar(2.0), grad);
  return rl::_where(loses, zero(), tied);
}

Tensor fminmax_grad(const Tensor& grad, const Tensor& self, const Tensor& other, bool max,
                    bool first) {
  Tensor wins = rl::logical_or(max ? rl::ge(self, other) : rl::le(self, other), rl::isnan(other));
  return first ? rl::_where(wins, grad, zero()) : rl::_where(wins, zero(), grad);
}

// The gradient belongs to `self`, and where both are equal to `other`.
Tensor zero_where_equal_grad(const Tensor& grad, const Tensor& self, const Tensor& other,
                             bool first) {
  Tensor equal = rl::eq(self, other);
  return first ? rl::_where(equal, zero(), grad) : rl::_where(equal, grad, zero());
}

Tensor sgn_grad(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!self.is_complex()) return zeros_like_grad(grad);
  // d sgn = (g - sgn * Re(conj(sgn) g)) / |x|
  Tensor size = rl::abs(self);
  Tensor along = result * rl::real(rl::conj(result) * grad);
  return rl::_where(rl::eq(size, zero()), zero(), (grad - along) / size);
}

Tensor copysign_grad(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return rl::_where(rl::eq(self, zero()), zero(), grad * (result / self));
}

Tensor real_part(const Tensor& grad) { return rl::real(grad); }
Tensor imag_part(const Tensor& grad) { return rl::imag(grad); }

// d angle = Im(conj(z) dz) / |z|^2, hence the gradient i z g / |z|^2.
Tensor angle_grad(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return zeros_like_grad(grad);
  Tensor size = rl::abs(self);
  Tensor g = grad * (self / (size * size)) * Scalar(cdouble(0, 1));
  return rl::_where(rl::eq(self, zero()), zero(), g);
}

void no_bool_operands(const Tensor& a, const Tensor& b) {
  const bool first = a.dtype() == DType::Bool, second = b.dtype() == DType::Bool;
  if (!first && !second) [[likely]] return;
  check_implemented(!(first && second), "Subtraction, the `-` operator, with two bool tensors is "
                    "not supported. Use the `^` or `logical_xor()` operator instead.");
  check_implemented(false, "Subtraction, the `-` operator, with a bool tensor is not supported. If "
                    "you are trying to invert a mask, use the `~` or `logical_not()` operator "
                    "instead.");
}

}  // namespace rl
