// Small helpers of gradients of padding and resampling.
#include "ops/backward.h"

namespace rl {

Dims negated(IntRef pad) {
  Dims out;
  for (int64_t p : pad) out.push_back(-p);
  return out;
}

Dims last_two(IntRef sizes) {
  return {sizes[sizes.size() - 2], sizes[sizes.size() - 1]};
}

Dims spatial_sizes(IntRef sizes, ArrayRef<double> scales) {
  Dims out;
  for (size_t i = sizes.size() - scales.size(); i < sizes.size(); ++i) out.push_back(sizes[i]);
  return out;
}

}  // namespace rl
