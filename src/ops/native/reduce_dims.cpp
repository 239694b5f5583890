// The dimensions of a reduction (see reduce_dims.h).
#include "ops/reduce_dims.h"

namespace rl {

uint64_t dim_mask(const Tensor& self, std::optional<IntRef> dims, bool empty_is_none) {
  const int64_t n = self.dim();
  check(n <= 64, "only tensors with up to 64 dims are supported");
  const uint64_t all = n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1;
  if (!dims || (dims->empty() && !empty_is_none)) return all;
  uint64_t mask = 0;
  for (int64_t d : *dims) {
    const int64_t at = wrap_dim(d, n);
    const uint64_t bit = uint64_t(1) << at;
    check(!(mask & bit), "dim ", at, " appears multiple times in the list of dims");
    mask |= bit;
  }
  return mask & all;
}

int64_t reduced_count(const Tensor& self, uint64_t mask) {
  int64_t n = 1;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (mask >> d & 1) n *= self.sizes()[size_t(d)];
  return n;
}

Dims reduced_sizes(const Tensor& self, uint64_t mask, bool keepdim) {
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!(mask >> d & 1)) sizes.push_back(self.sizes()[size_t(d)]);
    else if (keepdim) sizes.push_back(1);
  }
  return sizes;
}

void check_nonempty_dims(const char* name, const Tensor& self, uint64_t mask) {
  for (int64_t d = 0; d < self.dim(); ++d)
    check_index(!(mask >> d & 1) || self.sizes()[size_t(d)] != 0, name,
                "(): Expected reduction dim ", d, " to have non-zero size.");
}

}  // namespace rl
