// Gradients of normalisation layers: fused kernels; with create_graph the same formula in
// differentiable operators.
#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/math.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {
namespace native {
std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(const Tensor&, const Tensor&, IntRef,
                                                              const Tensor&, const Tensor&,
                                                              const Tensor&, const Tensor&,
                                                              std::array<bool, 3>);
std::tuple<Tensor, Tensor> fused_rms_norm_backward(const Tensor&, const Tensor&, IntRef,
                                                   const Tensor&, const Tensor&,
                                                   std::array<bool, 2>);
std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(const Tensor&, const Tensor&,
                                                              const Tensor&, const Tensor&,
                                                              const Tensor&, int64_t, int64_t,
                                                              int64_t, int64_t,
                                                              std::array<bool, 3>);
std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(
    const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    const Tensor&, bool, double, std::array<bool, 3>);
}  // namespace native

namespace {

// x normalised over `dims` with statistics that are differentiable functions of x.
struct Normalised {
  Tensor xhat, rstd;
};
Normalised normalise(const Tensor& x, IntRef dims, double eps) {
  Tensor centred = x - rl::mean(x, dims, true, std::nullopt);
  Tensor rstd = rl::rsqrt(rl::mean(centred * centred, dims, true, std::nullopt) + Scalar(eps));
  return {centred * rstd, rstd};
}

// dx of y = xhat * w given g = dy * w: rstd (g - mean(g) - xhat mean(g xhat)).
Tensor input_grad(const Tensor& g, const Normalised& n, IntRef dims) {
  Tensor a = rl::mean(g, dims, true, std::nullopt),
         b = rl::mean(g * n.xhat, dims, true, std::nullopt);
  return n.rstd * (g - a - n.xhat * b);
}

Dims range(int64_t from, int64_t to) {
  Dims out;
  for (int64_t d = from; d < to; ++d) out.push_back(d);
  return out;
}

Tensor per_channel(const Tensor& v, int64_t ndim) {
  Dims shape(size_t(ndim), 1);
  shape[1] = v.numel();
  return rl::view(v, shape);
}

Dims all_but_channel(int64_t ndim) {
  Dims dims = range(0, ndim);
  dims.erase(1);
  return dims;
}

}  // namespace

Three layer_norm_grad(const Tensor& grad, const Tensor& input, IntRef shape, const Tensor& mean,
                      const Tensor& rstd, const Tensor& weight, const Tensor& bias, double eps,
                      std::array<bool, 3> mask) {
  if (!tls.grad_mode)
    return native::native_layer_norm_backward(grad, input, shape, mean, rstd, weight, bias, mask);
  const int64_t first = input.dim() - int64_t(shape.size());
  const Dims dims = range(first, input.dim());
  Normalised n = normalise(input, dims, eps);
  Three out;
  if (mask[0]) std::get<0>(out) = input_grad(weight.defined() ? grad * weight : grad, n, dims);
  if (mask[1]) std::get<1>(out) = sum_to(grad * n.xhat, shape);
  if (mask[2]) std::get<2>(out) = sum_to(grad, shape);
  return out;
}

std::tuple<Tensor, Tensor> rms_norm_grad(const Tensor& grad, const Tensor& input, IntRef shape,
                                         const Tensor& rstd, const Tensor& weight,
                                         std::optional<double> eps, std::array<bool, 2> mask) {
  if (!tls.grad_mode)
    return native::fused_rms_norm_backward(grad, input, shape, rstd, weight, mask);
  const Dims dims = range(input.dim() - int64_t(shape.size()), input.dim());
  const double least =
      input.dtype() == DType::Double ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  Tensor r =
      rl::rsqrt(rl::mean(input * input, dims, true, std::nullopt) + Scalar(eps.value_or(least)));
  Tensor g = weight.defined() ? grad * weight : grad, xhat = input * r;
  std::tuple<Tensor, Tensor> out;
  if (mask[0]) std::get<0>(out) = r * (g - xhat * rl::mean(g * xhat, dims, true, std::nullopt));
  if (mask[1]) std::get<1>(out) = sum_to(grad * xhat, shape);
  return out;
}

Three group_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& mean,
                      const Tensor& rstd, const Tensor& weight, int64_t N, int64_t C, int64_t HxW,
                      int64_t group, double eps, std::array<bool, 3> mask) {
  if (!tls.grad_mode)
    return native::native_group_norm_backward(grad, input, mean, rstd, weight, N, C, HxW, group,
                                              mask);
  const Dims dims = {2, 3};
  Tensor x = rl::reshape(input, {N, group, C / group, HxW});
  Normalised n = normalise(x, dims, eps);
  Tensor g = weight.defined() ? grad * per_channel(weight, input.dim()) : grad;
  Three out;
  if (mask[0])
    std::get<0>(out) = rl::reshape(input_grad(rl::reshape(g, x.sizes()), n, dims), input.sizes());
  const Dims others = all_but_channel(input.dim());
  if (mask[1])
    std::get<1>(out) =
        rl::sum(grad * rl::reshape(n.xhat, input.sizes()), IntRef(others), false, std::nullopt);
  if (mask[2]) std::get<2>(out) = rl::sum(grad, IntRef(others), false, std::nullopt);
  return out;
}

Three batch_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& weight,
                      const Tensor& running_mean, const Tensor& running_var,
                      const Tensor& save_mean, const Tensor& save_invstd, bool training, double eps,
                      std::array<bool, 3> mask) {
  if (!tls.grad_mode)
    return native::native_batch_norm_backward(grad, input, weight, running_mean, running_var,
                                              save_mean, save_invstd, training, eps, mask);
  const int64_t nd = input.dim();
  const Dims dims = all_but_channel(nd);
  Normalised n;
  if (training) {
    n = normalise(input, dims, eps);
  } else {
    n.rstd = per_channel(rl::rsqrt(running_var + Scalar(eps)), nd);
    n.xhat = (input - per_channel(running_mean, nd)) * n.rstd;
  }
  Tensor g = weight.defined() ? grad * per_channel(weight, nd) : grad;
  Three out;
  if (mask[0]) std::get<0>(out) = training ? input_grad(g, n, dims) : g * n.rstd;
  if (mask[1]) std::get<1>(out) = rl::sum(grad * n.xhat, IntRef(dims), false, std::nullopt);
  if (mask[2]) std::get<2>(out) = rl::sum(grad, IntRef(dims), false, std::nullopt);
  return out;
}

}  // namespace rl
