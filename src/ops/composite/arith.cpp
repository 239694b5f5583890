// Arithmetic made of other operators.
#include <cmath>
#include <limits>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/math.h"
#include "kernels/iter/promote.h"
#include "ops/formula.h"

namespace rl::composite {

Tensor true_divide(const Tensor& self, const Tensor& other) { return rl::div(self, other); }

Tensor div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  if (!mode) return rl::div(self, other);
  if (*mode == "trunc") return rl::div_trunc(self, other);
  if (*mode == "floor") return rl::div_floor(self, other);
  fail("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
}

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const DType d = self.is_complex() || exponent.is_complex() ? DType::ComplexDouble : DType::Double;
  auto cast = [&](const Tensor& t) {
    if (!t.is_wrapped_number()) return rl::to(t, d);
    Tensor out = scalar_tensor(item(t), d);
    out->wrapped_number = true;
    return out;
  };
  return rl::pow(cast(self), cast(exponent));
}

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min,
             const std::optional<Scalar>& max) {
  check(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  check_implemented(!self.is_complex(), "clamp is not supported for complex types");
  const bool boolean = (min && min->is_bool()) || (max && max->is_bool());
  if (self.dtype() == DType::Bool && !boolean)
    return rl::clamp(rl::to(self, DType::Int64), min, max);
  if (!max) return rl::clamp_min(self, *min);
  if (!min) return rl::clamp_max(self, *max);
  // A float bound on integers promotes: the bounds are then tensors of weak dtype.
  return rl::clamp_both(self, *min, *max);
}

Tensor clamp_tensor(const Tensor& self, const Tensor& min, const Tensor& max) {
  check(min.defined() || max.defined(),
        "torch.clamp: At least one of 'min' or 'max' must not be None");
  check_implemented(!self.is_complex(), "clamp is not supported for complex types");
  if (!max.defined()) return rl::maximum(self, min);
  if (!min.defined()) return rl::minimum(self, max);
  return rl::clamp_between(self, min, max);
}
Tensor clamp_min_tensor(const Tensor& self, const Tensor& min) { return rl::maximum(self, min); }
Tensor clamp_max_tensor(const Tensor& self, const Tensor& max) { return rl::minimum(self, max); }

// Powers of two in the dtype of a floating operand, not in the default dtype.
Tensor ldexp(const Tensor& self, const Tensor& other) {
  const bool as_self = self.is_floating() && is_integral(other.dtype(), true);
  return rl::mul(self, rl::pow(wrapped_number(Scalar(2.0)),
                               as_self ? rl::to(other, self.dtype()) : other));
}

Tensor positive(const Tensor& self) {
  check_implemented(self.dtype() != DType::Bool,
                    "The `+` operator, on a bool tensor is not supported.");
  return self;
}

Tensor where_method(const Tensor& self, const Tensor& condition, const Tensor& other) {
  return rl::where(condition, self, other);
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  double most = 0;
  switch (to_real(self.dtype())) {
    case DType::Half: most = 65504; break;
    case DType::BFloat16: most = 3.3895313892515355e38; break;
    case DType::Float: most = std::numeric_limits<float>::max(); break;
    case DType::Double: most = std::numeric_limits<double>::max(); break;
    default: return rl::clone(self);
  }
  return rl::nan_to_num_values(self, nan.value_or(0), posinf.value_or(most),
                               neginf.value_or(-most));
}

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  check(condition.dtype() == DType::Bool || condition.dtype() == DType::UInt8,
        "where expected condition to be a boolean tensor, but got a tensor with dtype ",
        condition.dtype());
  Tensor c =
      condition.dtype() == DType::Bool ? condition : rl::ne(condition, wrapped_number(Scalar(0)));
  return rl::_where(c, self, other);
}

}  // namespace rl::composite
