// Gradients of losses. With create_graph: differentiable operators; otherwise one fused loop.
#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/loss.h"
#include "gen/ops/math.h"
#include "gen/ops/scatter.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

namespace {
Tensor num(double v) { return wrapped_number(Scalar(v)); }
int64_t broadcast_numel(const Tensor& a, const Tensor& b) {
  return numel_of(broadcast_shapes(a.sizes(), b.sizes()));
}
Scalar mean_scale(const Tensor& x, const Tensor& y, int64_t reduction) {
  return Scalar(reduction == 1 ? 1.0 / double(broadcast_numel(x, y)) : 1.0);
}
bool fused() { return !tls.grad_mode; }
}  // namespace

Tensor mse_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction) {
  const Scalar s = mean_scale(x, y, reduction);
  if (fused()) return rl::mse_slope(g, x, y, s);
  return g * (x - y) * Scalar(2.0 * s.to_double());
}
Tensor l1_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction) {
  return g * rl::sgn(x - y) * mean_scale(x, y, reduction);
}
Tensor smooth_l1_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction,
                           double beta) {
  if (beta == 0) return l1_loss_grad(g, x, y, reduction);
  const Scalar s = mean_scale(x, y, reduction);
  if (fused()) return rl::smooth_l1_slope(g, x, y, s, beta);
  Tensor d = x - y;
  Tensor slope = rl::_where(rl::lt(rl::abs(d), num(beta)), d / Scalar(beta), rl::sgn(d));
  return g * slope * s;
}
Tensor huber_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction,
                       double delta) {
  const Scalar s = mean_scale(x, y, reduction);
  if (fused()) return rl::huber_slope(g, x, y, s, delta);
  Tensor d = x - y;
  Tensor slope = rl::_where(rl::le(rl::abs(d), num(delta)), d, rl::sgn(d) * Scalar(delta));
  return g * slope * s;
}
Tensor soft_margin_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction) {
  const Scalar s = mean_scale(x, y, reduction);
  if (fused()) return rl::soft_margin_slope(g, x, y, s);
  return -(g * y * rl::sigmoid(-(y * x)) * s);
}

Tensor bce_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& weight,
                int64_t reduction) {
  Tensor d = fused() ? rl::bce_slope(g, x, y)
                     : g * (x - y) / rl::clamp_min((Scalar(1) - x) * x, Scalar(1e-12));
  if (weight.defined()) d = d * weight;
  return reduction == 1 ? d / Scalar(double(x.numel())) : d;
}
Tensor bce_target_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& weight,
                       int64_t reduction) {
  Tensor d = g * (rl::log(Scalar(1) - x) - rl::log(x));
  if (weight.defined()) d = d * weight;
  return reduction == 1 ? d / Scalar(double(x.numel())) : d;
}
Tensor bce_logits_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& weight,
                       const Tensor& pos_weight, int64_t reduction) {
  Tensor d;
  if (pos_weight.defined()) {
    Tensor t = pos_weight * y;
    d = g * ((t + Scalar(1) - y) * rl::sigmoid(x) - t);
  } else {
    d = g * (rl::sigmoid(x) - y);
  }
  if (weight.defined()) d = d * weight;
  return reduction == 1 ? d / Scalar(double(broadcast_numel(x, y))) : d;
}
Tensor bce_logits_target_grad(const Tensor& g, const Tensor& x, const Tensor& y,
                              const Tensor& weight, const Tensor& pos_weight, int64_t reduction) {
  Tensor d =
      pos_weight.defined() ? g * (rl::log_sigmoid(-x) - pos_weight * rl::log_sigmoid(x)) : -(g * x);
  if (weight.defined()) d = d * weight;
  return reduction == 1 ? d / Scalar(double(broadcast_numel(x, y))) : d;
}

// The map grad_output -> gradient is linear: its transpose picks the target entries again.
Tensor nll_loss_double_backward(const Tensor& g, const Tensor& target, const Tensor& weight,
                                int64_t reduction, int64_t ignore_index, const Tensor&) {
  return std::get<0>(rl::nll_loss_forward(g, target, weight, reduction, ignore_index));
}

}  // namespace rl
