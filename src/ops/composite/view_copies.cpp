// Views as row-major copies.
#include "gen/ops/create.h"
#include "gen/ops/view_copies.h"
#include "gen/ops/views.h"

namespace rl::composite {
namespace {
Tensor copy(const Tensor& t) { return rl::clone(t, MemoryFormat::Contiguous); }
std::vector<Tensor> copies(const std::vector<Tensor>& v) {
  std::vector<Tensor> out;
  for (const Tensor& t : v) out.push_back(copy(t));
  return out;
}
}  // namespace

Tensor alias_copy(const Tensor& self) { return copy(self); }
Tensor detach_copy(const Tensor& self) { return copy(rl::detach(self)); }
Tensor as_strided_copy(const Tensor& self, IntRef size, IntRef stride,
    std::optional<int64_t> offset) {
  return copy(rl::as_strided(self, size, stride, offset));
}
Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return copy(rl::diagonal(self, offset, dim1, dim2));
}
Tensor expand_copy(const Tensor& self, IntRef size, bool implicit) {
  return copy(rl::expand(self, size, implicit));
}
Tensor permute_copy(const Tensor& self, IntRef dims) { return copy(rl::permute(self, dims)); }
Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  return copy(rl::select(self, dim, index));
}
Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step) {
  return copy(rl::slice(self, dim, start, end, step));
}
Tensor squeeze_copy(const Tensor& self) { return copy(rl::squeeze(self)); }
Tensor squeeze_copy_dim(const Tensor& self, int64_t dim) { return copy(rl::squeeze(self,
    IntRef{dim})); }
Tensor squeeze_copy_dims(const Tensor& self, IntRef dim) { return copy(rl::squeeze(self, dim)); }
Tensor t_copy(const Tensor& self) { return copy(rl::t(self)); }
Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return copy(rl::transpose(self, dim0, dim1));
}
Tensor unsqueeze_copy(const Tensor& self, int64_t dim) { return copy(rl::unsqueeze(self, dim)); }
Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return copy(rl::unfold(self, dimension, size, step));
}
Tensor view_copy(const Tensor& self, IntRef size) { return copy(rl::view(self, size)); }
Tensor view_copy_dtype(const Tensor& self, DType dtype) { return copy(rl::view(self, dtype)); }
Tensor view_as_real_copy(const Tensor& self) { return copy(rl::view_as_real(self)); }
Tensor view_as_complex_copy(const Tensor& self) { return copy(rl::view_as_complex(self)); }
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  check(length >= 0 || self.dim() == 0, "start (", start, ") + length (", length,
        ") exceeds dimension size (", self.dim() ? self.size(dim) : 0, ").");
  return copy(rl::narrow(self, dim, start, length));
}
std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return copies(rl::split(self, split_size, dim));
}
std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntRef sizes, int64_t dim) {
  return copies(rl::split_with_sizes(self, sizes, dim));
}
std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim) { return copies(rl::unbind(self,
    dim)); }

}  // namespace rl::composite
