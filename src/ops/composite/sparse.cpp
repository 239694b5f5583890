// Functions of sparse tensors made of others, and the gradients of conversions.
#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/sparse.h"
#include "gen/ops/views.h"
#include "core/sparse.h"
#include "ops/backward.h"
#include "ops/formula.h"
#include "ops/sparse/parts.h"

namespace rl::composite {

Tensor coalesce(const Tensor& self) {
  check(self.is_sparse(), "coalesce expected sparse coordinate tensor layout but got ",
        sparse::short_layout(self));
  return sparse_impl(self).coalesced ? self : rl::_coalesce(self);
}

Tensor to_dense(const Tensor& self, std::optional<DType> dtype, std::optional<bool> masked_grad) {
  if (is_sparse_kind(self)) return rl::_to_dense(self, dtype, masked_grad);
  return dtype ? rl::to(self, *dtype) : self;
}

// ---- gradients
Tensor _sparse_values_grad(const Tensor& grad, const Tensor& indices, IntRef size) {
  const int64_t sparse_dim = indices.size(0);
  if (is_sparse_kind(grad) && grad->requires_grad)  // reading values would lose its history
    return rl::_sparse_values_grad(rl::to_dense(grad), indices, size);
  if (is_sparse_kind(grad)) {
    Dims shape{indices.size(1)};
    for (size_t d = size_t(sparse_dim); d < size.size(); ++d) shape.push_back(size[d]);
    const Tensor zero = rl::full(shape, Scalar(0), grad.dtype(), grad.device());
    const Tensor mask = rl::_sparse_coo_tensor_with_dims_and_tensors(
        sparse_dim, int64_t(size.size()) - sparse_dim, size, indices, zero, false);
    return rl::_values(rl::sparse_mask(rl::coalesce(grad), mask));
  }
  int64_t rows = 1;
  Dims shape{-1};
  for (size_t d = 0; d < size.size(); ++d) {
    if (int64_t(d) < sparse_dim) rows *= size[d];
    else shape.push_back(size[d]);
  }
  shape[0] = rows;
  const sparse::Numbers at = sparse::flat_places(rl::to(indices, DType::Int64), size);
  return rl::index_select(rl::reshape(grad, shape), 0, tensor_from_ints(at));
}

// A gradient in the layout of `like`: at its places, or wherever it is not zero.
Tensor _sparse_gradient(const Tensor& grad, const Tensor& like, std::optional<bool> masked) {
  const sparse::Target to = sparse::target_of(like);
  if (masked.value_or(true)) {
    const bool same = grad.is_sparse_csr() && like.is_sparse_csr() &&
                      sparse_impl(grad).plain.is_same(sparse_impl(like).plain);
    if (same) return grad;
    const Tensor g = grad.is_sparse() ? rl::coalesce(grad) : grad;
    return rl::sparse_mask(g, like.is_sparse() ? rl::coalesce(like) : like);
  }
  if (is_sparse_kind(grad)) return grad;
  if (like.is_sparse()) return rl::to_sparse(grad, sparse_impl(like).sparse_dim);
  const Dims block{to.rows, to.cols};
  return rl::to_sparse(grad, to.layout,
                       is_block(to.layout) ? std::optional<IntRef>(block) : std::nullopt,
                       std::nullopt);
}

Tensor _sparse_gradient_values(const Tensor& grad, const Tensor& like) {
  const Tensor g = rl::_sparse_gradient(grad, like, true);
  return g.is_sparse() && !sparse_impl(g).coalesced ? rl::_values(g) : rl::values(g);
}

Tensor _sparse_layout_grad(const Tensor& grad, const Tensor& like, std::optional<Layout> layout) {
  if (*layout == Layout::Strided) return rl::to_dense(grad);
  if (grad.layout() == *layout) return grad;
  return rl::_sparse_gradient(rl::to_dense(grad), like, true);
}

Tensor _sparse_left_grad(const Tensor& grad, const Tensor& mat1, const Tensor& mat2,
                         const Scalar& alpha) {
  const Tensor right = conj_if(rl::t(mat2));
  if (mat1.layout() == Layout::SparseCsr && !is_sparse_kind(right) && !is_sparse_kind(grad)) {
    const Tensor none = rl::_sparse_with_values(
        mat1, rl::full(sparse_impl(mat1).values.sizes(), Scalar(0), mat1.dtype(), mat1.device()));
    return rl::sparse_sampled_addmm(none, grad, right, Scalar(0), alpha);
  }
  const Tensor full = scale(rl::mm(grad, right), alpha);
  return is_sparse_kind(mat1) ? rl::_sparse_gradient(full, mat1, true) : full;
}

// ---- products
Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense) {
  if (is_sparse_kind(sparse) && is_sparse_kind(dense))
    return rl::_sparse_sparse_matmul(sparse, dense);
  check(is_sparse_kind(sparse) || is_sparse_kind(dense),
        "torch.sparse.mm: expected a sparse argument");
  const Tensor none = rl::full({sparse.size(0), dense.size(1)}, Scalar(0), sparse.dtype(),
                               sparse.device());
  return rl::_sparse_addmm(none, sparse, dense, Scalar(0), Scalar(1));
}

Tensor _sparse_mm_reduce(const Tensor& sparse, const Tensor& dense, std::string_view reduce) {
  return std::get<0>(rl::_sparse_mm_reduce_impl(sparse, dense, reduce));
}

Tensor sparse_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor right = rl::t(weight);
  if (!bias.defined()) return rl::matmul(input, right);
  if (input.dim() == 2) return rl::addmm(bias, input, right, Scalar(1), Scalar(1));
  return rl::add(rl::matmul(input, right), bias, Scalar(1));
}

Tensor sparse_square(const Tensor& self) { return rl::pow(self, wrapped_number(Scalar(2))); }

Tensor sparse_new_zeros(const Tensor& self, IntRef size, std::optional<DType> dtype,
                        std::optional<Device> device) {
  check_implemented(!device || device->is_cpu(), "sparse tensors are not implemented on ",
                    device.value_or(Device()));
  return rl::_sparse_empty(size, dtype.value_or(self.dtype()), self.layout());
}
Tensor sparse_new_empty(const Tensor& self, IntRef size, std::optional<DType> dtype,
                        std::optional<Device> device) {
  return sparse_new_zeros(self, size, dtype, device);
}

Tensor smm(const Tensor& self, const Tensor& mat2) {
  const Tensor none = sparse::empty_coo({self.size(0), mat2.size(1)}, 2, self.dtype(),
                                        self.device());
  return rl::sspaddmm(none, self, mat2, Scalar(0), Scalar(1));
}

Tensor _spsolve(const Tensor& A, const Tensor& B, bool) {
  fail_as(ErrorKind::NotImplemented, "Could not run 'aten::_spsolve' with arguments from the '",
          A.is_sparse() ? "SparseCPU" : A.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
}

// ---- reductions
Tensor _sparse_sum(const Tensor& input) { return rl::sum(rl::values(rl::coalesce(input))); }
Tensor _sparse_sum_dtype(const Tensor& input, DType dtype) {
  return rl::sum(rl::values(rl::coalesce(input)), dtype);
}
Tensor _sparse_sum_dim_dtype(const Tensor& input, IntRef dim, DType dtype) {
  return rl::_sparse_sum(rl::to(input, dtype), dim);
}

// The gradient of a sum at the places of its input: looked up along the dimensions that stayed.
Tensor _sparse_sum_grad(const Tensor& grad, const Tensor& input, IntRef dim) {
  const Tensor places = rl::coalesce(input);
  Tensor g = rl::to_dense(grad);
  std::vector<bool> gone(size_t(input.dim()), false);
  for (int64_t d : dim) gone[size_t(wrap_dim(d, input.dim()))] = true;
  for (size_t d = 0; d < gone.size(); ++d)
    if (gone[d]) g = rl::unsqueeze(g, int64_t(d));
  return rl::sparse_mask(rl::expand(g, input.sizes(), false), places);
}

static Tensor in_dtype(const Tensor& self, std::optional<DType> dtype) {
  return dtype ? rl::to(self, *dtype) : self;
}
Tensor _sparse_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return rl::_sparse_softmax_data(in_dtype(self, dtype), dim);
}
Tensor _sparse_log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return rl::_sparse_log_softmax_data(in_dtype(self, dtype), dim);
}

}  // namespace rl::composite
