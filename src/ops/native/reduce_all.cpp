// Full reductions: the forms without a dimension.
#include "ops/native.h"

namespace rl::native {

Tensor sum(const Tensor& self, std::optional<IntRef> dim, bool keepdim, std::optional<DType> dtype);
Tensor mean(const Tensor& self, std::optional<IntRef> dim, bool keepdim,
            std::optional<DType> dtype);
Tensor prod(const Tensor& self, std::optional<int64_t> dim, bool keepdim,
            std::optional<DType> dtype);
Tensor any(const Tensor& self, std::optional<IntRef> dim, bool keepdim);
Tensor all(const Tensor& self, std::optional<IntRef> dim, bool keepdim);

Tensor sum_all(const Tensor& self, std::optional<DType> dtype) {
  return sum(self, std::nullopt, false, dtype);
}
Tensor mean_all(const Tensor& self, std::optional<DType> dtype) {
  return mean(self, std::nullopt, false, dtype);
}
Tensor prod_all(const Tensor& self, std::optional<DType> dtype) {
  return prod(self, std::nullopt, false, dtype);
}
Tensor prod_dim(const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  return prod(self, std::optional<int64_t>(dim), keepdim, dtype);
}
Tensor any_full(const Tensor& self) { return any(self, std::nullopt, false); }
Tensor all_full(const Tensor& self) { return all(self, std::nullopt, false); }

}  // namespace rl::native
