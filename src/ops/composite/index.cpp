// Indexing made of other operators.
#include "gen/ops/index.h"
#include "gen/ops/scatter.h"
#include "gen/ops/views.h"
#include "ops/index_tools.h"

namespace rl::composite {

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  if (self.dim() == 0) return rl::unbind(rl::nonzero(rl::unsqueeze(self, 0)), 1);
  return rl::unbind(rl::nonzero(self), 1);
}

Tensor _nonzero_python(const Tensor& self, bool) { return rl::nonzero(self); }

std::vector<Tensor> where_true(const Tensor& condition) { return rl::nonzero_numpy(condition); }

Tensor argwhere(const Tensor& self) { return rl::nonzero(self); }

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  check(indices.dtype() == DType::Int64, "torch.take_along_dim(): dtype of indices should be Long "
      "but "
        "got ", indices.dtype());
  if (!dim) return rl::gather(rl::reshape(self, {-1}), 0, rl::reshape(indices, {-1}), false);
  check(self.dim() == indices.dim(), "torch.take_along_dim(): input and indices should have the "
      "same "
        "number of dimensions, but got ", self.dim(), " dimensions for input, and ", indices.dim(),
        " dimensions for indices");
  const int64_t d = wrap_dim(*dim, self.dim());
  if (self.dim() == 0) return rl::gather(self, d, indices, false);
  Dims a(self.sizes()), b(indices.sizes());
  a[size_t(d)] = b[size_t(d)] = 1;
  Dims self_sizes = broadcast_shapes(a, b), index_sizes = self_sizes;
  self_sizes[size_t(d)] = self.size(d);
  index_sizes[size_t(d)] = indices.size(d);
  Tensor at = rl::expand(indices, index_sizes, false);
  if (!at.is_meta()) at = wrapped_indices(index_numbers(at), self.size(d));
  return rl::gather(rl::expand(self, self_sizes, false), d, at, false);
}

}  // namespace rl::composite
