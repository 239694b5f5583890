// Special functions made of other operators.
#include "gen/ops/create.h"
#include "gen/ops/special.h"
#include "kernels/iter/tensor_iter.h"

namespace rl::composite {

Tensor polygamma(const Tensor& self, int64_t n) { return rl::polygamma(n, self); }

Tensor logit(const Tensor& self, std::optional<double> eps) {
  return rl::_logit(self, eps.value_or(-1));
}

// The gradients need the value from before.
static Tensor assign(const Tensor& self, const Tensor& value) {
  check_output_dtype(value.dtype(), self.dtype());
  return rl::copy_(self, value, false);
}

Tensor polygamma_(const Tensor& self, int64_t n) {
  return assign(self, rl::polygamma(n, rl::clone(self, std::nullopt)));
}
Tensor logit_(const Tensor& self, std::optional<double> eps) {
  return assign(self, rl::logit(rl::clone(self, std::nullopt), eps));
}

}  // namespace rl::composite
