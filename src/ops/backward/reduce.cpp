// Gradients of reductions: the reduced dimensions come back by expanding.
#include <algorithm>

#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/reduce_dims.h"

namespace rl {

namespace {
// Which dimensions a reduction removes: bit d. None or an empty list: all.
uint64_t reduced_mask(size_t n, const std::optional<IntRef>& dim) {
  uint64_t mask = 0;
  if (!dim || dim->empty()) return ~uint64_t(0);
  for (int64_t d : *dim) mask |= uint64_t(1) << wrap_dim(d, int64_t(n));
  return mask;
}
}  // namespace

Tensor unsqueeze_reduced(const Tensor& t, size_t ndim, const std::optional<IntRef>& dim,
                         bool keepdim) {
  if (keepdim || ndim == 0) return t;
  const uint64_t mask = reduced_mask(ndim, dim);
  Dims sizes;
  size_t at = 0;
  for (size_t d = 0; d < ndim; ++d) {
    if (mask >> d & 1) sizes.push_back(1);
    else sizes.push_back(t.sizes()[at++]);
  }
  return rl::reshape(t, sizes);
}

Tensor expand_reduced(const Tensor& grad, IntRef sizes, const std::optional<IntRef>& dim,
                      bool keepdim) {
  return rl::expand(unsqueeze_reduced(grad, sizes.size(), dim, keepdim), sizes);
}

double reduced_numel(IntRef sizes, const std::optional<IntRef>& dim) {
  const uint64_t mask = reduced_mask(sizes.size(), dim);
  double n = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (mask >> d & 1) n *= double(sizes[d]);
  return n;
}

Tensor sum_to(const Tensor& grad, IntRef sizes) {
  if (grad.sizes() == sizes) return grad;
  const size_t extra = size_t(grad.dim()) - sizes.size();
  Dims dims;
  for (size_t d = 0; d < size_t(grad.dim()); ++d)
    if (d < extra || (sizes[d - extra] == 1 && grad.sizes()[d] != 1)) dims.push_back(int64_t(d));
  Tensor out = dims.empty() ? grad : rl::sum(grad, IntRef(dims), true, std::nullopt);
  return extra ? rl::view(out, sizes) : out;
}

}  // namespace rl
