// The public normalisation layers over their native forms.
#include "gen/ops/arith.h"
#include "gen/ops/math.h"
#include "gen/ops/norm.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "gen/ops/create.h"
#include "ops/formula.h"

namespace rl::composite {

Tensor layer_norm(const Tensor& input, IntRef shape, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  return std::get<0>(rl::native_layer_norm(input, shape, weight, bias, eps));
}

Tensor rms_norm(const Tensor& input, IntRef shape, const Tensor& weight,
                std::optional<double> eps) {
  if (!input.is_complex()) return std::get<0>(rl::fused_rms_norm(input, shape, weight, eps));
  Dims dims;
  for (int64_t d = input.dim() - int64_t(shape.size()); d < input.dim(); ++d) dims.push_back(d);
  const double least = to_real(input.dtype()) == DType::Double ? 2.220446049250313e-16
                                                               : 1.1920928955078125e-07;
  const Tensor mean = rl::mean(input * input, IntRef(dims), true, std::nullopt);
  const Tensor out = input * rl::rsqrt(mean + Scalar(eps.value_or(least)));
  return weight.defined() ? out * weight : out;
}

Tensor group_norm(const Tensor& input, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  check(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
        input.dim());
  const int64_t n = input.size(0), c = input.size(1);
  check(c > 0, "Expected number of channels to be greater than 0, got ", c);
  int64_t rest = 1;
  for (int64_t d = 2; d < input.dim(); ++d) rest *= input.size(d);
  return std::get<0>(rl::native_group_norm(input, weight, bias, n, c, rest, groups, eps));
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                  const Tensor& var, bool training, double momentum, double eps, bool) {
  if (input.dim() < 2 && input.numel() == 0) return rl::clone(input, std::nullopt);
  check_value(eps > 0, "batch_norm eps must be positive, but got ", eps);
  return std::get<0>(
      rl::native_batch_norm(input, weight, bias, mean, var, training, momentum, eps));
}

// Samples become channels of one sample: batch norm then sees each channel of each sample alone.
Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& var, bool use_input_stats, double momentum,
                     double eps, bool) {
  check(use_input_stats || (mean.defined() && var.defined()),
        "Expected running_mean and running_var to be defined when use_input_stats is false");
  const int64_t b = input.size(0), c = input.size(1);
  Dims shape(input.sizes());
  shape[0] = 1;
  shape[1] = b * c;
  auto repeated = [&](const Tensor& t) {
    return t.defined() ? rl::reshape(rl::expand(t, {b, c}), {-1}) : t;
  };
  auto copied = [&](const Tensor& t) { return t.defined() ? rl::clone(repeated(t)) : t; };
  const Tensor rm = copied(mean), rv = copied(var);
  Tensor out = rl::batch_norm(rl::reshape(rl::contiguous(input), shape), repeated(weight),
                              repeated(bias), rm, rv, use_input_stats, momentum, eps, false);
  auto fold = [&](const Tensor& running, const Tensor& many) {
    const int64_t first = 0;
    if (running.defined() && use_input_stats)
      rl::copy_(running, rl::mean(rl::view(many, {b, c}), IntRef(&first, 1), false, std::nullopt));
  };
  NoGrad no_grad;
  fold(mean, rm);
  fold(var, rv);
  GradMode on(true);
  return rl::view(out, input.sizes());
}

}  // namespace rl::composite
