#include "ops/native.h"

namespace rl::native {
Tensor gelu_erf(const Tensor& self);
Tensor gelu_tanh(const Tensor& self);

Tensor gelu(const Tensor& self, std::string_view approximate) {
  check(approximate == "none" || approximate == "tanh",
        "approximate argument must be either none or tanh.");
  return approximate == "none" ? gelu_erf(self) : gelu_tanh(self);
}
}  // namespace rl::native
