// Gradients of views: the cotangent is written into zeros of the input's shape.
#include <algorithm>

#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/join.h"
#include "gen/ops/views.h"
#include "ops/backward.h"

namespace rl {

namespace {

// The parts that autograd left undefined are zero.
std::vector<Tensor> with_zeros(const Grads& grads, const TensorInfo& self, int64_t dim,
                               IntRef lengths) {
  std::vector<Tensor> parts;
  const DType dtype = self.dtype();
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) {
      parts.push_back(grads[i]);
      continue;
    }
    Dims sizes(self.sizes());
    sizes[size_t(dim)] = lengths[i];
    parts.push_back(rl::full(sizes, Scalar(0), dtype, self.device()));
  }
  return parts;
}

}  // namespace

Tensor split_with_sizes_backward(const Grads& grads, const TensorInfo& self, IntRef sizes,
                                 int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  return rl::cat(with_zeros(grads, self, d, sizes), d);
}

Tensor split_backward(const Grads& grads, const TensorInfo& self, int64_t split_size, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  Dims sizes;
  for (size_t i = 0; i < grads.size(); ++i)
    sizes.push_back(std::min(split_size, n - int64_t(i) * split_size));
  return split_with_sizes_backward(grads, self, sizes, d);
}

Tensor unbind_backward(const Grads& grads, const TensorInfo& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  Dims sizes(self.sizes());
  sizes.erase(size_t(d));
  std::vector<Tensor> parts;
  for (const Tensor& g : grads)
    parts.push_back(g.defined() ? g : rl::full(sizes, Scalar(0), self.dtype(), self.device()));
  return rl::stack(parts, d);
}

std::vector<Tensor> cat_grad(const Tensor& grad, const std::vector<TensorInfo>& tensors,
                             int64_t dim) {
  std::vector<Tensor> out;
  int64_t at = 0;
  const int64_t d = wrap_dim(dim, grad.dim());
  for (const TensorInfo& t : tensors) {
    if (t.dim() == 1 && t.size(0) == 0 && grad.dim() != 1) {  // the old "skip empty" rule of cat
      out.push_back(rl::full(t.sizes(), Scalar(0), grad.dtype(), grad.device()));
      continue;
    }
    Tensor g = rl::narrow(grad, d, at, t.size(d));
    out.push_back(!t.is_complex() && g.is_complex() ? rl::real(g) : g);
    at += t.size(d);
  }
  return out;
}

}  // namespace rl
