// Quantiles and other results of sorting, and the gradients of selecting.
#include <algorithm>
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/math.h"
#include "gen/ops/reduce.h"
#include "gen/ops/scatter.h"
#include "gen/ops/sort.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

// Zeros with the gradient at the places that the values came from.
Tensor selected_grad(const Tensor& grad, IntRef sizes, const Tensor& indices, int64_t dim,
                     bool keepdim) {
  if (sizes.empty()) return grad;
  const int64_t d = wrap_dim(dim, int64_t(sizes.size()));
  Tensor zeros = rl::full(sizes, Scalar(0), grad.dtype(), grad.device());
  if (numel_of(sizes) == 0) return zeros;
  if (keepdim) return rl::scatter(zeros, d, indices, grad);
  return rl::scatter(zeros, d, rl::unsqueeze(indices, d), rl::unsqueeze(grad, d));
}

// Elements equal to the median share its gradient.
Tensor median_grad(const Tensor& grad, const Tensor& self, const Tensor& result) {
  Tensor chosen = rl::eq(self, result);
  if (self.is_floating()) chosen = rl::logical_or(chosen, rl::logical_and(rl::isnan(self),
      rl::isnan(result)));
  Tensor mask = rl::to(chosen, grad.dtype());
  return grad * mask / rl::sum(mask);
}

namespace composite {

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(rl::sort(self, dim, descending));
}
Tensor argsort_stable(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(rl::sort(self, std::optional<bool>(stable), dim, descending));
}
Tensor msort(const Tensor& self) { return std::get<0>(rl::sort(self, 0, false)); }

// ---- quantile
namespace {

enum class Interpolation { Linear, Lower, Higher, Midpoint, Nearest };

Interpolation interpolation_named(std::string_view s, const char* name) {
  if (s == "linear") return Interpolation::Linear;
  if (s == "lower") return Interpolation::Lower;
  if (s == "higher") return Interpolation::Higher;
  if (s == "midpoint") return Interpolation::Midpoint;
  check(s == "nearest", name, "() interpolation must be one of linear, lower, higher, midpoint or "
        "nearest, but got ", s);
  return Interpolation::Nearest;
}

void check_quantile(const Tensor& self, const Tensor& q, const char* name) {
  check(self.numel() > 0, name, "() input tensor must be non-empty");
  check(q.dim() <= 1, name, "() q must be a scalar or 1D tensor");
  check(self.dtype() == DType::Float || self.dtype() == DType::Double, name,
        "() input tensor must be either float or double dtype");
  check(q.dtype() == self.dtype(), name, "() q tensor must be same dtype as the input tensor");
  if (q.is_meta() || q.numel() == 0) return;
  const Tensor inside = rl::logical_and(rl::ge(q, wrapped_number(0)), rl::le(q, wrapped_number(1)));
  for (int64_t i = 0; i < q.numel(); ++i)
    check(item(rl::select(rl::reshape(inside, {-1}), 0, i)).to_bool(), name,
          "() q values must be in the range [0, 1]");
}

// Positions of the quantiles in sorted lines of n (the last dimension of `sorted`).
Tensor ranks_of(const Tensor& sorted, const Tensor& q, bool ignore_nan) {
  const Tensor nan = rl::isnan(sorted);
  const double last = double(sorted.size(-1) - 1);
  Tensor ranks;
  if (ignore_nan) {
    Tensor count = rl::sum(rl::to(rl::logical_not(nan), q.dtype()), IntRef{-1}, true, std::nullopt);
    ranks = rl::clamp_min(q * (count - Scalar(1)), Scalar(0));
  } else {
    Tensor any = rl::select(nan, -1, sorted.size(-1) - 1);  // NaN is sorted to the end
    ranks = rl::_where(rl::unsqueeze(any, -1), wrapped_number(Scalar(last)), q * Scalar(last));
  }
  return ranks;
}

Tensor at_ranks(const Tensor& sorted, const Tensor& ranks, Interpolation how) {
  auto values = [&](const Tensor& r) {
    return rl::gather(sorted, -1, rl::to(r, DType::Int64), false);
  };
  switch (how) {
    case Interpolation::Lower: return values(rl::floor(ranks));
    case Interpolation::Higher: return values(rl::ceil(ranks));
    case Interpolation::Nearest: return values(rl::round(ranks));
    default: break;
  }
  Tensor below = rl::floor(ranks);
  Tensor weight = how == Interpolation::Midpoint
                      ? rl::full(ranks.sizes(), Scalar(0.5), ranks.dtype(), ranks.device())
                      : ranks - below;
  return rl::lerp(values(below), values(rl::ceil(ranks)), weight);
}

Tensor quantile_of(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation, bool ignore_nan, const char* name) {
  const Interpolation how = interpolation_named(interpolation, name);
  check_quantile(self, q, name);
  const bool all = !dim || self.dim() == 0;
  const int64_t d = dim ? wrap_dim(*dim, self.dim()) : 0;
  Tensor lines = all ? rl::reshape(self, {-1}) : rl::transpose(self, d, -1);
  Tensor sorted = std::get<0>(rl::sort(lines, -1, false));
  Dims sizes(sorted.sizes());
  sizes.back() = q.numel();
  Tensor ranks = rl::expand(ranks_of(sorted, rl::reshape(q, {-1}), ignore_nan), sizes);
  Tensor out = rl::unsqueeze(at_ranks(sorted, ranks, how), -1);  // (.., quantile, 1)
  // The reduced dimension, now 1, goes back to its place; the quantiles come first.
  if (!all && d == self.dim() - 1) out = rl::transpose(out, -2, -1);
  else if (!all) out = rl::movedim(rl::transpose(out, d, -1), -2, -1);
  out = rl::movedim(out, all ? 0 : self.dim(), 0);
  if (all) {
    Dims kept(keepdim ? size_t(self.dim()) : 0, 1);
    kept.insert(0, q.numel());
    out = rl::reshape(out, kept);
  } else if (!keepdim) {
    out = rl::squeeze(out, IntRef{d + 1});
  }
  return q.dim() == 0 ? rl::squeeze(out, IntRef{0}) : out;
}

Tensor scalar_q(const Tensor& self, double q, const char* name) {
  check(q >= 0 && q <= 1, name, "() q must be in the range [0, 1] but got ", q);
  return rl::full({}, Scalar(q), self.is_floating() ? self.dtype() : default_dtype(),
      self.device());
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, false, "quantile");
}
Tensor quantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
  return composite::quantile(self, scalar_q(self, q, "quantile"), dim, keepdim, interpolation);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, true, "nanquantile");
}
Tensor nanquantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                          std::string_view interpolation) {
  return composite::nanquantile(self, scalar_q(self, q, "nanquantile"), dim, keepdim,
      interpolation);
}

// ---- numbers in place of tensors
Tensor isin_scalar(const Tensor& elements, const Scalar& test, bool assume_unique, bool invert) {
  return rl::isin(elements, wrapped_number(test), assume_unique, invert);
}
Tensor scalar_isin(const Scalar& element, const Tensor& test, bool assume_unique, bool invert) {
  return rl::isin(wrapped_number(element), test, assume_unique, invert);
}
Tensor searchsorted_scalar(const Tensor& sequence, const Scalar& self, bool out_int32, bool right,
                           std::optional<std::string_view> side, const Tensor& sorter) {
  return rl::searchsorted(sequence, wrapped_number(self), out_int32, right, side, sorter);
}
Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return rl::bucketize(wrapped_number(self), boundaries, out_int32, right);
}

}  // namespace composite
}  // namespace rl
