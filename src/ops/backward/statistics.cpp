// Gradients of products, extrema, moments, norms and running reductions.
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/join.h"
#include "gen/ops/math.h"
#include "gen/ops/reduce.h"
#include "gen/ops/scatter.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

namespace {
Tensor num(double v) { return wrapped_number(Scalar(v)); }
Tensor zero() { return wrapped_number(Scalar(int64_t(0))); }
Tensor back(const Tensor& t, const Tensor& like, const std::optional<IntRef>& dim, bool keepdim) {
  return unsqueeze_reduced(t, size_t(like.dim()), dim, keepdim);
}

Tensor reversed(const Tensor& t, int64_t dim) {
  const int64_t n = t.size(dim);
  return rl::index_select(t, dim,
                          rl::arange(Scalar(n - 1), Scalar(int64_t(-1)), Scalar(int64_t(-1))));
}

// Product of all other elements along a dimension, zeros included: product of what stands before
// times product of what stands behind.
Tensor product_of_others(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim);
  Dims one(x.sizes());
  one[size_t(wrap_dim(dim, x.dim()))] = 1;
  Tensor ones = rl::full(one, Scalar(1), x.dtype(), x.device());
  Tensor before = rl::cumprod(rl::cat({ones, rl::narrow(x, dim, 0, n - 1)}, dim), dim);
  const int64_t d = wrap_dim(dim, x.dim());
  Tensor tail = reversed(rl::narrow(x, dim, 1, n - 1), d);
  Tensor behind = reversed(rl::cumprod(rl::cat({ones, tail}, dim), dim), d);
  return before * behind;
}
}  // namespace

Tensor prod_grad(const Tensor& grad, const Tensor& x, const Tensor&, int64_t dim, bool keepdim) {
  if (x.dim() == 0) return grad;
  const int64_t d = wrap_dim(dim, x.dim());
  if (x.size(d) == 0)
    return zeros_like_grad(rl::expand(back(grad, x, IntRef(&d, 1), keepdim), x.sizes()));
  return back(grad, x, IntRef(&d, 1), keepdim) * conj_if(product_of_others(x, d));
}

Tensor prod_grad_all(const Tensor& grad, const Tensor& x, const Tensor&) {
  if (x.dim() == 0) return grad;
  if (x.numel() == 0) return rl::full(x.sizes(), Scalar(0), grad.dtype(), grad.device());
  Tensor flat = rl::reshape(x, {-1});
  return rl::reshape(grad * conj_if(product_of_others(flat, 0)), x.sizes());
}

// Equal extrema share the gradient.
Tensor shared_extremum_grad(const Tensor& grad, const Tensor& x, const Tensor& y, IntRef dim,
                            bool keepdim) {
  Tensor r = back(y, x, dim, keepdim), g = back(grad, x, dim, keepdim);
  Tensor hit = rl::logical_or(rl::eq(x, r), rl::logical_and(rl::isnan(x), rl::isnan(r)));
  std::optional<IntRef> over = dim.empty() ? std::nullopt : std::optional<IntRef>(dim);
  Tensor count = rl::sum(hit, over, true, std::nullopt);
  return masked_grad(g / rl::to(count, g.dtype()), hit);
}

Tensor aminmax_grad(const Tensor& grad_min, const Tensor& grad_max, const Tensor& x,
                    std::optional<int64_t> dim, bool keepdim, const Tensor& min,
                    const Tensor& max) {
  IntRef d = dim ? IntRef(&*dim, 1) : IntRef();
  return shared_extremum_grad(grad_min, x, min, d, keepdim) +
         shared_extremum_grad(grad_max, x, max, d, keepdim);
}

Tensor value_at_grad(const Tensor& grad, IntRef sizes, const Tensor& indices, int64_t dim,
                     bool keepdim) {
  if (sizes.empty()) return grad;
  const int64_t d = wrap_dim(dim, int64_t(sizes.size()));
  Tensor zeros = rl::full(sizes, Scalar(0), grad.dtype(), grad.device());
  if (keepdim) return rl::scatter_add(zeros, d, indices, grad);
  return rl::scatter_add(zeros, d, rl::unsqueeze(indices, d), rl::unsqueeze(grad, d));
}

Tensor cumextremum_grad(const Tensor& grad, IntRef sizes, const Tensor& indices, int64_t dim) {
  if (sizes.empty()) return grad;
  Tensor zeros = rl::full(sizes, Scalar(0), grad.dtype(), grad.device());
  return rl::scatter_add(zeros, dim, indices, grad);
}

static Tensor reverse_cumsum(const Tensor& t, int64_t dim) {
  if (t.dim() == 0) return t;
  const int64_t d = wrap_dim(dim, t.dim());
  return reversed(rl::cumsum(reversed(t, d), d), d);
}

Tensor cumsum_grad(const Tensor& grad, const Tensor& x, int64_t dim) {
  return real_if(reverse_cumsum(grad, dim), x);
}

// d/dx_i of running products: sum over k >= i of g_k prod_{j<=k, j!=i} x_j. Without zeros that is
// reverse_cumsum(g * y) / x; a position of zero takes the direct product.
Tensor cumprod_grad(const Tensor& grad, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.dim() == 0 || x.numel() <= 1) return real_if(grad, x);
  const int64_t d = wrap_dim(dim, x.dim()), n = x.size(d);
  Tensor any_zero = rl::any(rl::eq(x, zero()));
  if (!tls.grad_mode && !any_zero.is_meta() && !item(any_zero).to_bool())
    return real_if(reverse_cumsum(grad * conj_if(y), d) / conj_if(x), x);
  std::vector<Tensor> parts;
  Tensor xc = conj_if(x);
  for (int64_t i = 0; i < n; ++i) {
    Dims one(x.sizes());
    one[size_t(d)] = 1;
    Tensor before = i == 0 ? rl::full(one, Scalar(1), x.dtype(), x.device())
                           : rl::prod(rl::narrow(xc, d, 0, i), d, true, std::nullopt);
    Tensor ones = rl::full(one, Scalar(1), x.dtype(), x.device());
    Tensor tail = rl::cumprod(rl::cat({ones, rl::narrow(xc, d, i + 1, n - i - 1)}, d), d);
    parts.push_back(rl::sum(rl::narrow(grad, d, i, n - i) * before * tail, IntRef(&d, 1), true,
                            std::nullopt));
  }
  return real_if(rl::cat(parts, d), x);
}

Tensor logcumsumexp_grad(const Tensor& grad, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.dim() == 0 || x.numel() == 0) return grad;
  if (grad.is_complex() || tls.grad_mode)  // a form that is differentiable again
    return conj_if(rl::exp(x)) * reverse_cumsum(grad * conj_if(rl::exp(-y)), dim);
  // The positive and the negative part separately, in the logarithmic domain.
  auto part = [&](const Tensor& g) {
    Tensor positive = rl::gt(g, zero());
    Tensor lg = rl::_where(positive, rl::log(rl::_where(positive, g, num(1))), num(-INFINITY));
    const int64_t d = wrap_dim(dim, x.dim());
    Tensor r = reversed(rl::logcumsumexp(reversed(lg - y, d), d), d);
    return rl::exp(r + x);
  };
  return part(grad) - part(-grad);
}

// ---- moments
static double samples_minus(const Tensor& x, const std::optional<IntRef>& dim,
                            const std::optional<Scalar>& correction) {
  return reduced_numel(x.sizes(), dim) - (correction ? correction->to_double() : 1.0);
}

Tensor var_grad(const Tensor& grad, const Tensor& x, const std::optional<IntRef>& dim,
                const std::optional<Scalar>& correction, bool keepdim) {
  const double n = samples_minus(x, dim, correction);
  std::optional<IntRef> over = dim && !dim->empty() ? dim : std::nullopt;
  Tensor centred = x - rl::mean(x, over, true, std::nullopt);
  return back(grad, x, dim, keepdim) * centred * Scalar(2.0 / n);
}

Tensor std_grad(const Tensor& result, const Tensor& grad, const Tensor& x,
                const std::optional<IntRef>& dim, const std::optional<Scalar>& correction,
                bool keepdim) {
  Tensor g = grad / (result * Scalar(2.0));
  return var_grad(rl::_where(rl::eq(result, zero()), zero(), g), x, dim, correction, keepdim);
}

Tensor var_mean_grad(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& x,
                     const std::optional<IntRef>& dim, const std::optional<Scalar>& correction,
                     bool keepdim) {
  return var_grad(grad_var, x, dim, correction, keepdim) +
         expand_reduced(grad_mean, x.sizes(), dim, keepdim) / Scalar(reduced_numel(x.sizes(), dim));
}

Tensor std_mean_grad(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& x,
                     const Tensor& std, const std::optional<IntRef>& dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  return std_grad(std, grad_std, x, dim, correction, keepdim) +
         expand_reduced(grad_mean, x.sizes(), dim, keepdim) / Scalar(reduced_numel(x.sizes(), dim));
}

// ---- norms
Tensor vector_norm_grad(const Tensor& grad, const Tensor& x, const Tensor& norm, const Scalar& ord,
                        const std::optional<IntRef>& dim, bool keepdim) {
  const double p = ord.to_double();
  Tensor g = back(grad, x, dim, keepdim), r = back(norm, x, dim, keepdim);
  if (p == 0) return rl::zeros_like(x);
  if (p == 1) return g * rl::sgn(x);
  if (p == 2) return rl::_where(rl::eq(r, zero()), zero(), x * (g / r));
  Tensor size = rl::abs(x);
  if (std::isinf(p)) {
    Tensor hit = rl::logical_or(rl::eq(size, r), rl::logical_and(rl::isnan(size), rl::isnan(r)));
    std::optional<IntRef> over = dim && !dim->empty() ? dim : std::nullopt;
    Tensor count = rl::to(rl::sum(hit, over, true, std::nullopt), r.dtype());
    return rl::sgn(x) * masked_grad(g / count, hit);
  }
  Tensor scaled = rl::pow(size / r, num(p - 1));
  return rl::_where(rl::eq(size, zero()), zero(), rl::sgn(x) * scaled * g);
}

}  // namespace rl
