#include "gen/ops/join.h"
#include "gen/ops/views.h"

namespace rl::composite {

Tensor stack(TensorList tensors, int64_t dim) {
  check(!tensors.empty(), "stack expects a non-empty TensorList");
  const int64_t d = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    check(tensors[i].sizes() == tensors[0].sizes(),
          "stack expects each tensor to be equal size, but "
          "got ",
          tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
    parts.push_back(rl::unsqueeze(tensors[i], d));
  }
  return rl::cat(parts, d);
}

}  // namespace rl::composite
