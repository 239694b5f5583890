// Special functions made of other operators.
#include "gen/ops/create.h"
#include "gen/ops/special.h"

namespace rl::composite {

Tensor polygamma(const Tensor& self, int64_t n) { return rl::polygamma(n, self); }

Tensor logit(const Tensor& self, std::optional<double> eps) {
  return rl::_logit(self, eps.value_or(-1));
}

// The gradients need the value from before.
Tensor polygamma_(const Tensor& self, int64_t n) {
  return rl::copy_(self, rl::polygamma(n, rl::clone(self, std::nullopt)), false);
}
Tensor logit_(const Tensor& self, std::optional<double> eps) {
  return rl::copy_(self, rl::logit(rl::clone(self, std::nullopt), eps), false);
}

}  // namespace rl::composite
