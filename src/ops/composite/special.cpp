// Special functions made of other operators.
#include "gen/ops/special.h"

namespace rl::composite {

Tensor polygamma(const Tensor& self, int64_t n) { return rl::polygamma(n, self); }

Tensor logit(const Tensor& self, std::optional<double> eps) {
  return rl::_logit(self, eps.value_or(-1));
}

}  // namespace rl::composite
