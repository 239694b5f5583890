// Gradients of activations. With create_graph they are written with differentiable operators, so
// that any order works; otherwise one fused loop runs.
#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/math.h"
#include "gen/ops/reduce.h"
#include "gen/ops/softmax.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

namespace {
Tensor num(double v) { return wrapped_number(Scalar(v)); }
bool fused() { return !tls.grad_mode; }
Tensor choose(const Tensor& c, const Tensor& a, const Tensor& b) { return rl::_where(c, a, b); }
}  // namespace

Tensor silu_grad(const Tensor& grad, const Tensor& x) {
  if (fused()) return rl::silu_backward(grad, x);
  Tensor s = rl::sigmoid(x);
  return grad * s * (x * (Scalar(1) - s) + Scalar(1));
}

Tensor mish_grad(const Tensor& grad, const Tensor& x) {
  if (fused()) return rl::mish_backward(grad, x);
  Tensor t = rl::tanh(rl::softplus(x));
  return grad * (t + x * (Scalar(1) - t * t) * rl::sigmoid(x));
}

Tensor hardswish_grad(const Tensor& grad, const Tensor& x) {
  if (fused()) return rl::hardswish_backward(grad, x);
  Tensor inside = grad * (x / Scalar(3.0) + Scalar(0.5));
  return choose(rl::le(x, num(-3)), num(0), choose(rl::lt(x, num(3)), inside, grad));
}

Tensor hardsigmoid_grad(const Tensor& grad, const Tensor& x) {
  if (fused()) return rl::hardsigmoid_backward(grad, x);
  return masked_grad(grad / Scalar(6.0), rl::logical_and(rl::gt(x, num(-3)), rl::lt(x, num(3))));
}

Tensor log_sigmoid_grad(const Tensor& grad, const Tensor& x) {
  if (fused()) return rl::log_sigmoid_backward(grad, x);
  return grad * rl::sigmoid(-x);
}

Tensor softplus_grad(const Tensor& grad, const Tensor& x, const Scalar& beta,
                     const Scalar& threshold) {
  if (fused()) return rl::softplus_backward(grad, x, beta, threshold);
  Tensor z = x * beta;
  return choose(rl::gt(z, wrapped_number(threshold)), grad, grad * rl::sigmoid(z));
}

Tensor elu_grad(const Tensor& grad, const Tensor& x, const Scalar& alpha, const Scalar& scale,
                const Scalar& input_scale) {
  if (fused()) return rl::elu_backward(grad, x, alpha, scale, input_scale, false);
  const double k = alpha.to_double() * scale.to_double() * input_scale.to_double();
  return choose(rl::gt(x, num(0)), grad * scale, grad * rl::exp(x * input_scale) * Scalar(k));
}

Tensor gelu_grad(const Tensor& grad, const Tensor& x, std::string_view approximate) {
  const bool tanh = approximate == "tanh";
  if (fused()) return tanh ? rl::gelu_tanh_backward(grad, x) : rl::gelu_erf_backward(grad, x);
  if (!tanh) {
    Tensor cdf = (rl::erf(x * Scalar(0.70710678118654752440)) + Scalar(1)) * Scalar(0.5);
    Tensor pdf = rl::exp(x * x * Scalar(-0.5)) * Scalar(0.39894228040143267794);
    return grad * (cdf + x * pdf);
  }
  const Scalar beta(0.79788456080286535588), cube(0.044715);
  Tensor t = rl::tanh((x + x * x * x * cube) * beta);
  Tensor slope = (x * x * Scalar(3 * 0.044715) + Scalar(1)) * beta;
  return grad * ((t + Scalar(1)) * Scalar(0.5) + x * (Scalar(1) - t * t) * slope * Scalar(0.5));
}

Tensor prelu_self_grad(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  return choose(rl::gt(x, num(0)), grad, grad * weight);
}
Tensor prelu_weight_grad(const Tensor& grad, const Tensor& x) {
  return choose(rl::gt(x, num(0)), num(0), grad * x);
}

// ---- softmax
Tensor softmax_grad(const Tensor& grad, const Tensor& y, int64_t dim, DType input_dtype) {
  if (fused()) return rl::_softmax_backward_data(grad, y, dim, input_dtype);
  Tensor gy = grad * y;
  return gy - y * rl::sum(gy, IntRef(&dim, 1), true, std::nullopt);
}

Tensor log_softmax_grad(const Tensor& grad, const Tensor& y, int64_t dim, DType input_dtype) {
  if (fused()) return rl::_log_softmax_backward_data(grad, y, dim, input_dtype);
  return grad - rl::exp(y) * rl::sum(grad, IntRef(&dim, 1), true, std::nullopt);
}

Tensor logsumexp_grad(const Tensor& grad, const Tensor& x, const Tensor& y, IntRef dim,
                      bool keepdim) {
  const size_t n = size_t(x.dim());
  Tensor g = unsqueeze_reduced(grad, n, dim, keepdim), r = unsqueeze_reduced(y, n, dim, keepdim);
  Tensor finite = choose(rl::eq(r, num(-INFINITY)), num(0), r);
  return g * conj_if(rl::exp(x - finite));
}

}  // namespace rl
