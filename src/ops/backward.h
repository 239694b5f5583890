// Gradient helpers that are too long for a line of ops/*.yaml. They call public functions, hence are
// differentiable themselves. Definitions in ops/backward/*.cpp.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "autograd/recording.h"
#include "core/tensor.h"

namespace rl {

// ---- elementwise (backward/pointwise.cpp)
Tensor scale(const Tensor& grad, const Scalar& by);          // grad * conj(by); by == 1: grad
Tensor conj_if(const Tensor& t);                             // conj for complex, t otherwise
Tensor real_if(const Tensor& grad, const Tensor& like);      // real part when `like` is real
Scalar one_minus(const Scalar& s);
Tensor pow_grad_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_grad_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                         const Tensor& result);
Tensor zeros_like_grad(const Tensor& grad);
Tensor masked_grad(const Tensor& grad, const Tensor& mask);  // grad where mask, 0 elsewhere
Tensor where_grad(const Tensor& grad, const Tensor& condition, bool first);
Tensor minmax_grad(const Tensor& grad, const Tensor& self, const Tensor& other, bool max);
Tensor fminmax_grad(const Tensor& grad, const Tensor& self, const Tensor& other, bool max, bool first);
Tensor sgn_grad(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor copysign_grad(const Tensor& grad, const Tensor& self, const Tensor& result);

// ---- reductions (backward/reduce.cpp)
Tensor expand_reduced(const Tensor& grad, IntRef sizes, const std::optional<IntRef>& dim,
                      bool keepdim);
Tensor unsqueeze_reduced(const Tensor& t, size_t ndim, const std::optional<IntRef>& dim,
                         bool keepdim);
double reduced_numel(IntRef sizes, const std::optional<IntRef>& dim);
Tensor sum_to(const Tensor& grad, IntRef sizes);             // undoes broadcasting

// ---- views (backward/views.cpp)
Tensor split_backward(const Grads& grads, const TensorInfo& self, int64_t split_size, int64_t dim);
Tensor split_with_sizes_backward(const Grads& grads, const TensorInfo& self, IntRef sizes,
                                 int64_t dim);
Tensor unbind_backward(const Grads& grads, const TensorInfo& self, int64_t dim);
std::vector<Tensor> cat_grad(const Tensor& grad, const std::vector<TensorInfo>& tensors,
                             int64_t dim);
Dims inverse_permutation(IntRef dims);
Tensor to_copy_grad(const Tensor& grad, const TensorInfo& self);

// ---- indexing (backward/index.cpp)
Tensor index_backward(const Tensor& grad, const TensorInfo& self, const std::vector<Tensor>& indices);
Tensor index_put_self_grad(const Tensor& grad, const std::vector<Tensor>& indices, bool accumulate);
Tensor index_select_grad(const Tensor& grad, IntRef sizes, int64_t dim, const Tensor& index);
Tensor index_source_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntRef sizes);
Tensor masked_select_grad(const Tensor& grad, IntRef sizes, const Tensor& mask);
Tensor masked_scatter_grad(const Tensor& grad, const Tensor& mask, IntRef sizes);
Tensor take_grad(const Tensor& grad, IntRef sizes, const Tensor& index);
Tensor put_self_grad(const Tensor& grad, const Tensor& index, bool accumulate);
Tensor gather_grad(const Tensor& grad, IntRef sizes, int64_t dim, const Tensor& index);
Tensor scatter_src_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntRef sizes);
std::tuple<Tensor, Tensor> scatter_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim,
                                               const Tensor& index, const Tensor& src,
                                               std::string_view reduce, bool include_self,
                                               const Tensor& result);
std::tuple<Tensor, Tensor> index_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim,
                                             const Tensor& index, const Tensor& source,
                                             std::string_view reduce, bool include_self,
                                             const Tensor& result);

}  // namespace rl
