#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/math.h"
#include "gen/ops/matmul.h"
#include "gen/ops/misc.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/formula.h"

namespace rl {

Tensor sum_to(const Tensor& grad, IntRef sizes);

namespace composite {

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return item(rl::all(rl::isclose(self, other, rtol, atol, equal_nan))).to_bool();
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  auto fits = [](DType d) { return d == DType::Float || d == DType::Double; };
  check(fits(abs.dtype()) && fits(angle.dtype()),
        "Expected both inputs to be Float or Double tensors but "
        "got ",
        abs.dtype(), " and ", angle.dtype());
  check(abs.dtype() == angle.dtype(), "Expected object of scalar type ", abs.dtype(),
        " but got scalar type ", angle.dtype(), " for second argument");
  return rl::complex(abs * rl::cos(angle), abs * rl::sin(angle));
}

Tensor scalar_tensor_of(const Scalar& s, std::optional<DType> dtype, std::optional<Device> device) {
  return rl::full({}, s, dtype.value_or(default_dtype()), device);
}

Tensor sum_to_size(const Tensor& self, IntRef size) {
  const size_t n = size_t(self.dim());
  bool fits = size.size() <= n;
  for (size_t k = 1; fits && k <= size.size(); ++k) {
    const int64_t want = size[size.size() - k];
    fits = want == 1 || want == self.sizes()[n - k];
  }
  check(fits, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  return sum_to(self, size);
}

Tensor empty_permuted(IntRef size, IntRef layout, std::optional<DType> dtype,
                      std::optional<Device> device) {
  check(size.size() == layout.size(),
        "Number of dimensions in size does not match the length of the "
        "physical_layout; i.e. len(size) = ",
        size.size(), " is not equal to len(physical_layout) = ", layout.size());
  Dims physical, back(size.size(), -1);
  for (size_t i = 0; i < layout.size(); ++i) {
    check(layout[i] >= 0 && layout[i] < int64_t(size.size()),
          "Dimension out of range (expected to be between 0 and ", size.size() - 1, ", but got ",
          layout[i], " at index ", i,
          ").  NB: negative dims not currently supported; file an issue if you want it.");
    check(back[size_t(layout[i])] < 0, "Duplicate dim not allowed");
    back[size_t(layout[i])] = int64_t(i);
    physical.push_back(size[size_t(layout[i])]);
  }
  return rl::permute(rl::empty(physical, dtype, device), back);
}

Tensor fill_with(const Tensor& self, const Scalar& value) {
  return rl::fill_(rl::clone(self), value);
}
Tensor fill_with_tensor(const Tensor& self, const Tensor& value) {
  return rl::fill_(rl::clone(self), value);
}

namespace {
void check_one_dim(const char* name, const Tensor& w) {
  check(w.dim() <= 1, "cov(): expected ", name, " to have one or fewer dimensions but got ", name,
        " with ", w.dim(), " dimensions");
}

void check_weights(const char* name, const Tensor& w, int64_t observations) {
  check(w.numel() == observations, "cov(): expected ", name, " to have the same numel as there are "
        "observations in the input but got ", w.numel(), " != ", observations);
  check(w.numel() == 0 || item(rl::min(w)).to_double() >= 0, "cov(): ", name,
        " cannot be negative");
}
}  // namespace

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  check(self.dim() <= 2,
        "cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
        " dimensions");
  check(self.dtype() != DType::Bool, "cov(): bool dtype is not supported for input");
  Tensor x = self.dim() < 2 ? rl::view(self, {1, -1}) : self;
  if (is_integral(x.dtype())) x = rl::to(x, default_dtype());
  const int64_t n = x.size(1), one = 1;
  Tensor w;
  if (fweights.defined()) {
    check_one_dim("fweights", fweights);
    check(is_integral(fweights.dtype()),
          "cov(): expected fweights to have integral dtype but got fweights "
          "with ",
          fweights.dtype(), " dtype");
    check_weights("fweights", fweights, n);
    w = fweights;
  }
  if (aweights.defined()) {
    check_one_dim("aweights", aweights);
    check(aweights.is_floating(),
          "cov(): expected aweights to have floating point dtype but got aweights "
          "with ",
          aweights.dtype(), " dtype");
    check_weights("aweights", aweights, n);
    w = w.defined() ? w * aweights : aweights;
  }
  Tensor total = w.defined() ? rl::sum(w) : scalar_tensor(Scalar(n), DType::Int64);
  check(!w.defined() || n == 0 || item(total).to_double() != 0,
        "cov(): weights sum to zero, can't be "
        "normalized");
  Tensor mean =
      (w.defined() ? rl::sum(x * w, IntRef(&one, 1), true) : rl::sum(x, IntRef(&one, 1), true)) /
      total;
  Tensor norm = total;
  if (w.defined() && aweights.defined() && correction != 0)
    norm = total - Scalar(correction) * (rl::sum(w * aweights) / total);
  else
    norm = total - Scalar(correction);
  norm = rl::clamp_min(norm, Scalar(int64_t(0)));
  Tensor d = x - mean;
  Tensor weighted = w.defined() ? d * w : d;
  Tensor dt = rl::t(weighted);
  return rl::squeeze(rl::mm(d, dt.is_complex() ? rl::conj(dt) : dt) / norm);
}

Tensor corrcoef(const Tensor& self) {
  check(self.dim() <= 2,
        "corrcoef(): expected input to have two or fewer dimensions but got an input "
        "with ",
        self.dim(), " dimensions");
  Tensor c = rl::cov(self);
  if (c.dim() == 0) return c / c;
  Tensor d = rl::diagonal(c);
  Tensor s = rl::sqrt(d.is_complex() ? rl::real(d) : d);
  c = c / rl::view(s, {-1, 1}) / rl::view(s, {1, -1});
  if (!c.is_complex()) return rl::clamp(c, Scalar(-1), Scalar(1));
  return rl::complex(rl::clamp(rl::real(c), Scalar(-1), Scalar(1)),
                     rl::clamp(rl::imag(c), Scalar(-1), Scalar(1)));
}

bool is_nonzero(const Tensor& self) {
  check(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  check(self.numel() < 2, "Boolean value of Tensor with more than one value is ambiguous");
  return item(self).to_bool();
}
bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }
Tensor rdiv(const Tensor& self, const Tensor& other) { return rl::reciprocal(self) * other; }

}  // namespace composite
}  // namespace rl
