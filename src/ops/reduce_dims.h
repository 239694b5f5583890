// The dimensions of a reduction, as arguments give them, and the tensors it makes.
#pragma once
#include <optional>

#include "core/tensor.h"

namespace rl {

// Bit d is set for every dimension to reduce. None means all; so does an empty list, unless
// `empty_is_none`. Errors: out of range (IndexError), the same one twice.
uint64_t dim_mask(const Tensor& self, std::optional<IntRef> dims, bool empty_is_none = false);
inline uint64_t one_dim_mask(const Tensor& self, std::optional<int64_t> dim) {
  return dim ? dim_mask(self, IntRef(*dim)) : dim_mask(self, std::nullopt);
}
// Elements that one output collects.
int64_t reduced_count(const Tensor& self, uint64_t mask);
Dims reduced_sizes(const Tensor& self, uint64_t mask, bool keepdim);
inline Tensor empty_reduced(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  return empty_tensor(reduced_sizes(self, mask, keepdim), dtype, self.device());
}
// IndexError "NAME(): Expected reduction dim D to have non-zero size." for an empty reduced
// dimension.
void check_nonempty_dims(const char* name, const Tensor& self, uint64_t mask);

}  // namespace rl
