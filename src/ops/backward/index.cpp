// Gradients of indexing: reads become additions at the same places, writes become reads.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/reduce.h"
#include "gen/ops/scatter.h"
#include "gen/ops/view_grads.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {
namespace {

Tensor zeros_of(const Tensor& grad, IntRef sizes) {
  return rl::full(sizes, Scalar(0), grad.dtype(), grad.device());
}
Tensor zero_scalar(const Tensor& like) { return zeros_of(like, {}); }

}  // namespace

Tensor index_backward(const Tensor& grad, const TensorInfo& self,
    const std::vector<Tensor>& indices) {
  return rl::index_put(zeros_of(grad, self.sizes()), indices, grad, true);
}

Tensor index_put_self_grad(const Tensor& grad, const std::vector<Tensor>& indices,
    bool accumulate) {
  return accumulate ? grad : rl::index_put(grad, indices, zero_scalar(grad), false);
}

Tensor index_select_grad(const Tensor& grad, IntRef sizes, int64_t dim, const Tensor& index) {
  Tensor g = sizes.empty() ? rl::reshape(grad, {1}) : grad;
  if (sizes.empty())
    return rl::reshape(rl::index_add(zeros_of(grad, {1}), 0, index, g, Scalar(1)), {});
  return rl::index_add(zeros_of(grad, sizes), dim, index, g, Scalar(1));
}

Tensor index_source_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntRef sizes) {
  Tensor g = rl::index_select(grad, dim, index);
  return g.sizes() == sizes ? g : rl::reshape(g, sizes);
}

// Each place is written once, however often it is named.
Tensor index_fill_value_grad(const Tensor& grad, int64_t dim, const Tensor& index) {
  return rl::sum(grad) - rl::sum(rl::index_fill(grad, dim, index, Scalar(0)));
}

Tensor masked_select_grad(const Tensor& grad, IntRef sizes, const Tensor& mask) {
  const Dims shape = broadcast_shapes(sizes, mask.sizes());
  return rl::masked_scatter(zeros_of(grad, shape), mask, grad);
}

Tensor masked_scatter_grad(const Tensor& grad, const Tensor& mask, IntRef sizes) {
  Tensor used = rl::masked_select(grad, mask);
  const int64_t n = numel_of(sizes);
  Tensor all = rl::slice_backward(used, {n}, 0, int64_t(0), used.numel(), 1);
  return rl::reshape(all, sizes);
}

Tensor take_grad(const Tensor& grad, IntRef sizes, const Tensor& index) {
  return rl::put(zeros_of(grad, sizes), index, grad, true);
}

Tensor put_self_grad(const Tensor& grad, const Tensor& index, bool accumulate) {
  return accumulate ? grad : rl::put(grad, index, zeros_of(grad, index.sizes()), false);
}

Tensor gather_grad(const Tensor& grad, IntRef sizes, int64_t dim, const Tensor& index) {
  return rl::scatter_add(zeros_of(grad, sizes), dim, index, grad);
}

// Elements of src beyond the index are unused: their gradient is zero.
Tensor scatter_src_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntRef sizes) {
  Tensor g = rl::gather(grad, dim, index, false);
  if (index.numel() == 0) return zeros_of(grad, sizes);
  if (g.dim() != int64_t(sizes.size())) g = rl::reshape(g, Dims(sizes.size(), 1));
  Dims now(g.sizes());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t n = now[d];
    if (n == sizes[d]) continue;
    now[d] = sizes[d];
    g = rl::slice_backward(g, now, int64_t(d), int64_t(0), n, 1);
  }
  return g;
}

namespace {

// How index_reduce and scatter_reduce read and write: the formulas are the same for both.
struct Places {
  int64_t dim;
  const Tensor& index;
  bool slices;  // index_reduce: whole slices

  Tensor read(const Tensor& t, IntRef source_sizes) const {
    return slices ? index_source_grad(t, dim, index, source_sizes)
                  : scatter_src_grad(t, dim, index, source_sizes);
  }
  Tensor clear(const Tensor& t) const {
    return slices ? rl::index_fill(t, dim, index, Scalar(0)) : rl::scatter(t, dim, index,
        Scalar(0));
  }
  Tensor add(const Tensor& to, const Tensor& source) const {
    return slices ? rl::index_add(to, dim, index, source, Scalar(1))
                  : rl::scatter_add(to, dim, index, source);
  }
  Tensor product(const Tensor& to, const Tensor& source, bool include_self) const {
    return slices ? rl::index_reduce(to, dim, index, source, "prod", include_self)
                  : rl::scatter_reduce(to, dim, index, source, "prod", include_self);
  }
};

using Pair = std::tuple<Tensor, Tensor>;

Tensor as_grad_dtype(const Tensor& mask, const Tensor& like) { return rl::to(mask, like.dtype()); }

Pair mean_grads(const Places& p, const Tensor& grad, const Tensor& source, bool include_self) {
  Tensor ones = rl::full(grad.sizes(), Scalar(include_self ? 1.0 : 0.0), grad.dtype(),
      grad.device());
  Tensor counts = p.add(ones, rl::full(source.sizes(), Scalar(1.0), grad.dtype(), grad.device()));
  Tensor share = grad / rl::masked_fill(counts, rl::eq(counts, wrapped_number(0)), Scalar(1.0));
  return {share, p.read(share, source.sizes())};
}

// The other factors of each factor; where the factor itself is zero they cannot be had by division.
Pair prod_grads(const Places& p, const Tensor& grad, const Tensor& self, const Tensor& source,
                bool include_self, const Tensor& result) {
  const Tensor zero = wrapped_number(0);
  const Tensor self_is_zero = rl::eq(self, zero);
  Tensor one_self = rl::masked_fill(self, self_is_zero, Scalar(1));
  Tensor self_grad = grad * conj_if(p.product(one_self, source, include_self) / one_self);
  const Tensor source_is_zero = rl::eq(source, zero);
  Tensor zeros = p.read(p.add(zeros_of(grad, self.sizes()), as_grad_dtype(source_is_zero, grad)),
                        source.sizes());
  const Tensor only_zero = rl::logical_and(source_is_zero, rl::eq(zeros, wrapped_number(1)));
  Tensor others = p.product(self, rl::masked_fill(source, only_zero, Scalar(1)), include_self);
  Tensor plain = p.read(grad * conj_if(result), source.sizes()) /
                 conj_if(rl::masked_fill(source, source_is_zero, Scalar(1)));
  Tensor without = p.read(grad * conj_if(others), source.sizes());
  Tensor source_grad = rl::_where(only_zero, without, plain);
  return {self_grad, source_grad};
}

// All elements equal to the extremum share evenly.
Pair extremum_grads(const Places& p, const Tensor& grad, const Tensor& self, const Tensor& source,
                    const Tensor& result) {
  const Tensor best = p.read(result, source.sizes());
  const Tensor self_best = as_grad_dtype(rl::eq(self, result), grad);
  const Tensor source_best = as_grad_dtype(rl::eq(source, best), grad);
  Tensor share = grad / p.add(self_best, source_best);
  return {self_best * share, source_best * p.read(share, source.sizes())};
}

Pair reduce_grads(const Places& p, const Tensor& grad, const Tensor& self, const Tensor& source,
                  std::string_view reduce, bool include_self, const Tensor& result) {
  Pair out;
  if (reduce == "sum") out = {grad, p.read(grad, source.sizes())};
  else if (reduce == "mean") out = mean_grads(p, grad, source, include_self);
  else if (reduce == "prod") out = prod_grads(p, grad, self, source, include_self, result);
  else out = extremum_grads(p, grad, self, source, result);
  if (!include_self) std::get<0>(out) = p.clear(std::get<0>(out));
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> scatter_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim,
                                               const Tensor& index, const Tensor& src,
                                               std::string_view reduce, bool include_self,
                                               const Tensor& result) {
  return reduce_grads({dim, index, false}, grad, self, src, reduce, include_self, result);
}

std::tuple<Tensor, Tensor> index_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim,
                                             const Tensor& index, const Tensor& source,
                                             std::string_view reduce, bool include_self,
                                             const Tensor& result) {
  return reduce_grads({dim, index, true}, grad, self, source, reduce, include_self, result);
}

}  // namespace rl
