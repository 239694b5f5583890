// Differences and integrals over samples: diff, gradient, trapezoid.
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/arrange.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/join.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/formula.h"

namespace rl::composite {
namespace {

Tensor part(const Tensor& t, int64_t dim, int64_t from, std::optional<int64_t> to,
    int64_t step = 1) {
  return rl::slice(t, dim, from, to, step);
}

int64_t wrapped(const Tensor& t, int64_t dim) {
  check_index(t.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, t.dim());
}

void check_joined(const Tensor& self, const Tensor& t, int64_t dim) {
  if (!t.defined()) return;
  check(t.dim() == self.dim(), "diff expects prepend or append to be the same dimension as input");
  for (int64_t i = 0; i < self.dim(); ++i)
    check(i == dim || t.size(i) == self.size(i), "diff expects the shape of tensor to prepend or "
        "append "
          "to match that of input except along the differencing dimension; input.size(", i, ") = ",
          self.size(i), ", but got tensor.size(", i, ") = ", t.size(i));
}

}  // namespace

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
    const Tensor& append) {
  check(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  check(n >= 0, "order must be non-negative but got ", n);
  if (n == 0) return rl::clone(self);
  const int64_t d = wrap_dim(dim, self.dim());
  check_joined(self, prepend, d);
  check_joined(self, append, d);
  Tensor t = self;
  if (prepend.defined() || append.defined()) {
    std::vector<Tensor> parts;
    if (prepend.defined()) parts.push_back(prepend);
    parts.push_back(self);
    if (append.defined()) parts.push_back(append);
    t = rl::cat(parts, d);
  }
  if (n > t.size(d)) n = t.size(d);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t size = t.size(d);
    Tensor high = part(t, d, 1, size), low = part(t, d, 0, size - 1);
    t = t.dtype() == DType::Bool ? rl::logical_xor(high, low) : high - low;
  }
  return t;
}

// ---- trapezoid
namespace {

void check_samples(const Tensor& y, const char* name) {
  check_implemented(y.dtype() != DType::Bool, name,
                    ": received a bool input for `y`, but bool is not supported");
}

// Differences of the sample points, in a shape that broadcasts with the pieces of y.
Tensor point_steps(const Tensor& y, const Tensor& x, int64_t dim, const char* name) {
  check_implemented(x.dtype() != DType::Bool, name,
                    ": received a bool input for `x`, but bool is not supported");
  Tensor points = x;
  if (x.dim() == 1) {
    check(x.size(0) == y.size(dim), name, ": There must be one `x` value for each sample point");
    Dims sizes(size_t(y.dim()), 1);
    sizes[size_t(dim)] = x.size(0);
    points = rl::view(x, sizes);
  } else {
    while (points.dim() < y.dim()) points = rl::unsqueeze(points, 0);
  }
  const int64_t n = points.size(dim);
  return part(points, dim, 1, n) - part(points, dim, 0, n - 1);
}

Tensor neighbour_sums(const Tensor& y, int64_t dim) {
  const int64_t n = y.size(dim);
  return part(y, dim, 1, n) + part(y, dim, 0, n - 1);
}

Tensor zero_integral(const Tensor& y, int64_t dim) {
  Dims sizes(y.sizes());
  sizes.erase(size_t(dim));
  return rl::full(sizes, Scalar(0), y.dtype(), y.device());
}

Tensor running(const Tensor& t, int64_t dim) { return rl::cumsum(t, dim, std::nullopt); }

void check_dx(const Scalar& dx, const char* name) {
  check(!dx.is_complex() && !dx.is_bool(), name, ": Currently, we only support dx as a real "
      "number.");
}

}  // namespace

Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  check_samples(y, "trapezoid");
  const int64_t d = wrapped(y, dim);
  if (y.size(d) == 0) return zero_integral(y, d);
  Tensor steps = point_steps(y, x, d, "trapezoid");
  return rl::sum(steps * neighbour_sums(y, d), IntRef{d}, false, std::nullopt) / Scalar(2.0);
}

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_samples(y, "trapezoid");
  check_dx(dx, "trapezoid");
  const int64_t d = wrapped(y, dim), n = y.size(d);
  if (n == 0) return zero_integral(y, d);
  Tensor ends = (rl::select(y, d, 0) + rl::select(y, d, n - 1)) * Scalar(0.5);
  return (rl::sum(y, IntRef{d}, false, std::nullopt) - ends) * dx;
}
Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) { return trapezoid_dx(y, Scalar(dx),
    dim); }

Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  check_samples(y, "cumulative_trapezoid");
  const int64_t d = wrapped(y, dim);
  Tensor steps = point_steps(y, x, d, "cumulative_trapezoid");
  return running(steps * neighbour_sums(y, d), d) / Scalar(2.0);
}
Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_samples(y, "cumulative_trapezoid");
  check_dx(dx, "cumulative_trapezoid");
  const int64_t d = wrapped(y, dim);
  return running(neighbour_sums(y, d), d) * Scalar(dx.to_double() / 2.0);
}

// ---- gradient
namespace {

Dims all_dims(const Tensor& self, std::optional<int64_t> dim) {
  if (dim) return {*dim};
  Dims out;
  for (int64_t d = 0; d < self.dim(); ++d) out.push_back(d);
  return out;
}

Dims checked_dims(const Tensor& self, IntRef dims, int64_t edge_order) {
  check(edge_order == 1 || edge_order == 2, "torch.gradient only supports edge_order=1 and "
        "edge_order=2.");
  Dims out;
  SmallVec<int64_t, 8> seen(size_t(std::max<int64_t>(self.dim(), 1)));
  for (int64_t d : dims) {
    const int64_t w = wrap_dim(d, self.dim());
    check(!seen[size_t(w)], "dim ", w, " appears multiple times in the list of dims");
    seen[size_t(w)] = 1;
    out.push_back(w);
    check(self.size(w) >= edge_order + 1,
          "torch.gradient expected each dimension size to be at least edge_order+1");
  }
  return out;
}

// Equal steps: central differences inside, one-sided ones at the ends.
Tensor uniform_gradient(const Tensor& f, int64_t d, const Scalar& h, int64_t edge_order) {
  const int64_t n = f.size(d);
  auto at = [&](int64_t i) { return part(f, d, i, i + 1); };
  const Scalar twice = h.is_complex() ? Scalar(h.to_complex() * 2.0) : Scalar(h.to_double() * 2.0);
  Tensor inside = (part(f, d, 2, n) - part(f, d, 0, n - 2)) / twice;
  Tensor first, last;
  if (edge_order == 1) {
    first = (at(1) - at(0)) / h;
    last = (at(n - 1) - at(n - 2)) / h;
  } else {
    first = (at(1) * Scalar(4) - at(0) * Scalar(3) - at(2)) / twice;
    last = (at(n - 1) * Scalar(3) - at(n - 2) * Scalar(4) + at(n - 3)) / twice;
  }
  return rl::cat(std::vector<Tensor>{first, inside, last}, d);
}

// Points at given places: the derivative of the parabola through three neighbours.
Tensor point_gradient(const Tensor& f, int64_t d, const Tensor& points, int64_t edge_order) {
  const int64_t n = f.size(d);
  Dims shape(size_t(f.dim()), 1);
  shape[size_t(d)] = n - 1;
  Tensor steps = rl::reshape(part(points, 0, 1, n) - part(points, 0, 0, n - 1), shape);
  auto at = [&](int64_t i) { return part(f, d, i, i + 1); };
  auto step = [&](int64_t i) { return part(steps, d, i, i + 1); };
  Tensor a = part(steps, d, 0, n - 2), b = part(steps, d, 1, n - 1);
  Tensor inside = part(f, d, 0, n - 2) * (-b / (a * (a + b))) +
                  part(f, d, 1, n - 1) * ((b - a) / (a * b)) +
                  part(f, d, 2, n) * (a / (b * (a + b)));
  Tensor first, last;
  if (edge_order == 1) {
    first = (at(1) - at(0)) / step(0);
    last = (at(n - 1) - at(n - 2)) / step(n - 2);
  } else {
    Tensor p = step(0), q = step(1);
    first = at(0) * (-(p * Scalar(2) + q) / (p * (p + q))) + at(1) * ((p + q) / (p * q)) +
            at(2) * (-p / (q * (p + q)));
    p = step(n - 3);
    q = step(n - 2);
    last = at(n - 3) * (q / (p * (p + q))) + at(n - 2) * (-(p + q) / (p * q)) +
           at(n - 1) * ((q * Scalar(2) + p) / (q * (p + q)));
  }
  return rl::cat(std::vector<Tensor>{first, inside, last}, d);
}

void check_supported(const Tensor& self) {
  check_implemented(self.dtype() != DType::UInt8, "torch.gradient does not support uint8 input.");
}

void check_spacing(const Tensor& self, size_t have, size_t dims, bool given_dims) {
  if (given_dims)
    check(have == dims, "torch.gradient expected spacing to be unspecified, a scalar or it's "
        "spacing "
          "and dim arguments to have the same length, but got a spacing argument of length ", have,
          " and a dim argument of length ", dims, ".");
  else
    check(have == dims, "torch.gradient expected spacing to be unspecified, a scalar, or a list of "
          "length equal to 'self.dim() = ", self.dim(), "', since dim argument was not given, but "
          "got a "
          "list of length ", have);
}

std::vector<Tensor> by_numbers(const Tensor& self, ArrayRef<Scalar> spacing, IntRef dims,
                               int64_t edge_order) {
  check_supported(self);
  std::vector<Tensor> out;
  const Dims checked = checked_dims(self, dims, edge_order);
  for (size_t i = 0; i < checked.size(); ++i)
    out.push_back(uniform_gradient(self, checked[i], spacing[spacing.size() == 1 ? 0 : i],
        edge_order));
  return out;
}

std::vector<Tensor> by_points(const Tensor& self, TensorList points, IntRef dims,
    int64_t edge_order) {
  check_supported(self);
  std::vector<Tensor> out;
  const Dims checked = checked_dims(self, dims, edge_order);
  for (size_t i = 0; i < checked.size(); ++i) {
    check(points[i].dim() == 1, "torch.gradient expected each element of spacing to have one "
        "dimension, "
          "but got an element with ", points[i].dim(), " dimensions!");
    check(points[i].size(0) == self.size(checked[i]), "torch.gradient expected the spacing to "
        "have the "
          "size of the dimension");
    out.push_back(point_gradient(self, checked[i], points[i], edge_order));
  }
  return out;
}

}  // namespace

std::vector<Tensor> gradient_scalar_int(const Tensor& self, const std::optional<Scalar>& spacing,
                                        std::optional<int64_t> dim, int64_t edge_order) {
  const Scalar h = spacing.value_or(Scalar(1.0));
  return by_numbers(self, ArrayRef<Scalar>(h), all_dims(self, dim), edge_order);
}
std::vector<Tensor> gradient_scalar_dims(const Tensor& self, const Scalar& spacing, IntRef dim,
                                         int64_t edge_order) {
  return by_numbers(self, ArrayRef<Scalar>(spacing), dim, edge_order);
}
std::vector<Tensor> gradient_dims(const Tensor& self, IntRef dim, int64_t edge_order) {
  const Scalar h(1.0);
  return by_numbers(self, ArrayRef<Scalar>(h), dim, edge_order);
}
std::vector<Tensor> gradient_scalars_int(const Tensor& self, ArrayRef<Scalar> spacing,
                                         std::optional<int64_t> dim, int64_t edge_order) {
  const Dims dims = all_dims(self, dim);
  check_spacing(self, spacing.size(), dims.size(), dim.has_value());
  return by_numbers(self, spacing, dims, edge_order);
}
std::vector<Tensor> gradient_scalars_dims(const Tensor& self, ArrayRef<Scalar> spacing, IntRef dim,
                                          int64_t edge_order) {
  check_spacing(self, spacing.size(), dim.size(), true);
  return by_numbers(self, spacing, dim, edge_order);
}
std::vector<Tensor> gradient_points_int(const Tensor& self, TensorList spacing,
                                        std::optional<int64_t> dim, int64_t edge_order) {
  const Dims dims = all_dims(self, dim);
  check_spacing(self, spacing.size(), dims.size(), dim.has_value());
  return by_points(self, spacing, dims, edge_order);
}
std::vector<Tensor> gradient_points_dims(const Tensor& self, TensorList spacing, IntRef dim,
                                         int64_t edge_order) {
  check_spacing(self, spacing.size(), dim.size(), true);
  return by_points(self, spacing, dim, edge_order);
}

}  // namespace rl::composite
