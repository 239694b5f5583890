// Full reductions: the forms without a dimension.
#include "ops/native.h"

namespace rl::native {

Tensor sum(const Tensor& self, std::optional<IntRef> dim, bool keepdim, std::optional<DType> dtype);
Tensor mean(const Tensor& self, std::optional<IntRef> dim, bool keepdim, std::optional<DType> dtype);

Tensor sum_all(const Tensor& self, std::optional<DType> dtype) {
  return sum(self, std::nullopt, false, dtype);
}
Tensor mean_all(const Tensor& self, std::optional<DType> dtype) {
  return mean(self, std::nullopt, false, dtype);
}

}  // namespace rl::native
