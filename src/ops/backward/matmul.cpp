// Gradients of products and distances.
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/math.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view_grads.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

Tensor linear_grad_input(const Tensor& grad, const Tensor& weight) {
  const Tensor w = conj_if(weight);
  if (weight.dim() == 1) return rl::unsqueeze(grad, -1) * w;
  return rl::linear(grad, rl::t(w), Tensor());
}

Tensor linear_grad_weight(const Tensor& grad, const Tensor& input, const TensorInfo& weight) {
  const int64_t k = input.sizes().back(), n = weight.dim() == 2 ? weight.size(0) : 1;
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < input.dim(); ++d) rows *= input.sizes()[size_t(d)];
  const Tensor x = input.dim() == 2 ? input : rl::reshape(input, {rows, k});
  const Tensor g = grad.dim() == 2 && weight.dim() == 2 ? grad : rl::reshape(grad, {rows, n});
  const Tensor out = rl::mm(rl::t(g), conj_if(x));
  return weight.dim() == 2 ? out : rl::view(out, {k});
}

namespace {

// d|x - y|_p / dx, element by element of the differences (..., n, k, m), times grad / dist^(p-1).
Tensor distance_weights(const Tensor& diff, const Tensor& grad, double p, const Tensor& dist) {
  const Tensor g = rl::unsqueeze(grad, -1), d = rl::unsqueeze(dist, -1);
  const Tensor zero = wrapped_number(Scalar(0.0));
  if (p == 1) return rl::sgn(diff) * g;
  if (std::isinf(p)) {
    return rl::_where(rl::eq(rl::abs(diff), d), rl::sgn(diff) * g, zero);
  }
  const Tensor at_zero = rl::eq(d, zero);
  const Tensor safe = rl::_where(at_zero, wrapped_number(Scalar(1.0)), d);
  Tensor slope;
  if (p == 2) {
    slope = diff * (g / safe);
  } else {
    const Tensor none = rl::eq(diff, zero);
    const Tensor size = rl::_where(none, wrapped_number(Scalar(1.0)), rl::abs(diff));
    slope = rl::sgn(diff) * rl::pow(size, wrapped_number(Scalar(p - 1))) * g /
            rl::pow(safe, wrapped_number(Scalar(p - 1)));
  }
  return rl::_where(at_zero, zero, slope);
}

}  // namespace

Tensor cdist_grad(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                  const Tensor& dist) {
  if (p == 0 || grad.numel() == 0 || x1.numel() == 0)
    return rl::full(x1.sizes(), Scalar(0), x1.dtype(), x1.device());
  if (p == 2) {  // sum_j w_ij (x_i - y_j), w = grad / dist
    const Tensor zero = wrapped_number(Scalar(0.0));
    const Tensor at_zero = rl::eq(dist, zero);
    const Tensor w = rl::_where(
        at_zero, zero, grad / rl::_where(at_zero, wrapped_number(Scalar(1.0)), dist));
    return x1 * rl::sum(w, IntRef({-1}), true, std::nullopt) - rl::matmul(w, x2);
  }
  const Tensor diff = rl::unsqueeze(x1, -2) - rl::unsqueeze(x2, -3);
  return rl::sum(distance_weights(diff, grad, p, dist), IntRef({-2}), false, std::nullopt);
}

Tensor pdist_grad(const Tensor& grad, const Tensor& self, double p, const Tensor& dist) {
  const int64_t n = self.size(0);
  if (p == 0 || n < 2) return rl::full(self.sizes(), Scalar(0), self.dtype(), self.device());
  Tensor total;
  int64_t at = 0;
  for (int64_t i = 0; i + 1 < n; ++i) {  // row i against the rows after it
    const int64_t count = n - 1 - i;
    const Tensor diff = rl::slice(self, 0, i, i + 1, 1) - rl::slice(self, 0, i + 1, n, 1);
    const Tensor w = distance_weights(diff, rl::slice(grad, 0, at, at + count, 1), p,
                                      rl::slice(dist, 0, at, at + count, 1));
    const Tensor own = rl::slice_backward(rl::sum(w, IntRef({0}), true, std::nullopt), self.sizes(),
                                          0, i, i + 1, 1);
    const Tensor term = own - rl::slice_backward(w, self.sizes(), 0, i + 1, n, 1);
    total = total.defined() ? total + term : term;
    at += count;
  }
  return total;
}

}  // namespace rl
