// Dropout and its relatives, rrelu.
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/random.h"
#include "ops/formula.h"

namespace rl::composite {
namespace {

void check_probability(double p) {
  check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

// One element for each channel.
Dims channel_sizes(const Tensor& input) {
  check(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  Dims sizes(size_t(input.dim()), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return sizes;
}

Tensor keep_mask(IntRef sizes, const Tensor& input, double p) {
  check(!is_integral(input.dtype(), true), "result type ", default_dtype(),
        " can't be cast to the desired output type ", input.dtype());
  const DType real = to_real(input.dtype());
  const Tensor kept =
      rl::bernoulli_(rl::empty(sizes, real, input.device(), std::nullopt), 1 - p, nullptr);
  return rl::to(kept, input.dtype());
}

// Klambauer et al., "Self-normalizing neural networks" (2017): dropped elements take the value that
// SELU saturates at, and an affine map restores mean and variance.
Tensor alpha_scaled(const Tensor& input, const Tensor& kept, double p) {
  constexpr double alpha = 1.7580993408473766;  // SELU's scale * alpha
  const double a = 1.0 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  Tensor b = kept - Scalar(1);
  b = b * Scalar(alpha * a) + Scalar(alpha * a * p);
  return input * (kept * Scalar(a)) + b;
}

bool nothing_to_do(const Tensor& input, double p, bool train) {
  check_probability(p);
  return p == 0 || !train || input.numel() == 0;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  if (nothing_to_do(input, p, train)) return input;
  if (p == 1) return input * Scalar(0.0);
  return std::get<0>(rl::_fused_dropout(input, p, nullptr));
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  if (nothing_to_do(input, p, train)) return input;
  if (p == 1) return input * Scalar(0.0);
  const Dims sizes = channel_sizes(input);
  return input * (keep_mask(sizes, input, p) / Scalar(1 - p));
}

Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  if (nothing_to_do(input, p, train)) return input;
  if (p == 1) return input * Scalar(0.0);
  check(!is_integral(input.dtype(), true), "result type ", default_dtype(),
        " can't be cast to the desired output type ", input.dtype());
  Tensor kept = rl::bernoulli_(
      rl::empty_like(input, to_real(input.dtype()), std::nullopt, std::nullopt), 1 - p, nullptr);
  return alpha_scaled(input, kept, p);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  if (nothing_to_do(input, p, train)) return input;
  if (p == 1) return input * Scalar(0.0);
  const Dims sizes = channel_sizes(input);
  return alpha_scaled(input, keep_mask(sizes, input, p), p);
}

Tensor _scale_kept_public(const Tensor& grad, const Tensor& mask, double scale) {
  return rl::_scale_kept(grad, mask, scale);
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
             Generator* generator) {
  check(lower.to_double() <= upper.to_double(),
        "Lower bound should be less than or equal to the upper bound");
  Tensor noise = rl::empty_like(self, std::nullopt, std::nullopt, std::nullopt);
  return rl::rrelu_with_noise(self, noise, lower, upper, training, generator);
}

Tensor rrelu_with_noise_backward(const Tensor& grad, const Tensor& self, const Tensor& noise,
                                 const Scalar& lower, const Scalar& upper, bool training, bool) {
  if (training && upper.to_double() - lower.to_double() > 1e-6) return grad * noise;
  return rl::_leaky_grad(grad, self, (lower.to_double() + upper.to_double()) / 2);
}

}  // namespace rl::composite
