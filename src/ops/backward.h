// Gradient helpers that are too long for a line of ops/*.yaml. They call public functions, hence
// are differentiable themselves. Definitions in ops/backward/*.cpp.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/tensor_info.h"

namespace rl {

// ---- elementwise (backward/pointwise.cpp)
Tensor scale(const Tensor& grad, const Scalar& by);          // grad * conj(by); by == 1: grad
Tensor conj_if(const Tensor& t);                             // conj for complex, t otherwise
Tensor real_if(const Tensor& grad, DType like);              // real part when `like` is real
Tensor real_if(const Tensor& grad, const Tensor& like);
Scalar one_minus(const Scalar& s);
Tensor pow_grad_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_grad_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                         const Tensor& result);
Tensor zeros_like_grad(const Tensor& grad);
Tensor masked_grad(const Tensor& grad, const Tensor& mask);  // grad where mask, 0 elsewhere
Tensor frexp_grad(const Tensor& grad, const Tensor& exponent);
Tensor where_grad(const Tensor& grad, const Tensor& condition, bool first);
Tensor minmax_grad(const Tensor& grad, const Tensor& self, const Tensor& other, bool max);
Tensor fminmax_grad(const Tensor& grad, const Tensor& self, const Tensor& other, bool max,
                    bool first);
Tensor zero_where_equal_grad(const Tensor& grad, const Tensor& self, const Tensor& other,
                             bool first);
Tensor real_part(const Tensor& grad);
Tensor imag_part(const Tensor& grad);
Tensor angle_grad(const Tensor& grad, const Tensor& self);
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
Tensor index_backward(const Tensor& grad, const TensorInfo& self,
                      const std::vector<Tensor>& indices);
Tensor index_put_self_grad(const Tensor& grad, const std::vector<Tensor>& indices, bool accumulate);
Tensor index_select_grad(const Tensor& grad, IntRef sizes, int64_t dim, const Tensor& index);
Tensor index_source_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntRef sizes);
Tensor index_fill_value_grad(const Tensor& grad, int64_t dim, const Tensor& index);
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
// ---- activations and softmax (backward/activation.cpp)
Tensor silu_grad(const Tensor& grad, const Tensor& x);
Tensor mish_grad(const Tensor& grad, const Tensor& x);
Tensor hardswish_grad(const Tensor& grad, const Tensor& x);
Tensor hardsigmoid_grad(const Tensor& grad, const Tensor& x);
Tensor log_sigmoid_grad(const Tensor& grad, const Tensor& x);
Tensor softplus_grad(const Tensor& grad, const Tensor& x, const Scalar& beta,
                     const Scalar& threshold);
Tensor elu_grad(const Tensor& grad, const Tensor& x, const Scalar& alpha, const Scalar& scale,
                const Scalar& input_scale);
Tensor gelu_grad(const Tensor& grad, const Tensor& x, std::string_view approximate);
Tensor prelu_self_grad(const Tensor& grad, const Tensor& x, const Tensor& weight);
Tensor prelu_weight_grad(const Tensor& grad, const Tensor& x);
Tensor softmax_grad(const Tensor& grad, const Tensor& y, int64_t dim, DType input_dtype);
Tensor log_softmax_grad(const Tensor& grad, const Tensor& y, int64_t dim, DType input_dtype);
Tensor logsumexp_grad(const Tensor& grad, const Tensor& x, const Tensor& y, IntRef dim,
                      bool keepdim);

// ---- statistics (backward/statistics.cpp)
Tensor prod_grad(const Tensor& grad, const Tensor& x, const Tensor& y, int64_t dim, bool keepdim);
Tensor prod_grad_all(const Tensor& grad, const Tensor& x, const Tensor& y);
Tensor shared_extremum_grad(const Tensor& grad, const Tensor& x, const Tensor& y, IntRef dim,
                            bool keepdim);
Tensor aminmax_grad(const Tensor& grad_min, const Tensor& grad_max, const Tensor& x,
                    std::optional<int64_t> dim, bool keepdim, const Tensor& min, const Tensor& max);
Tensor value_at_grad(const Tensor& grad, IntRef sizes, const Tensor& indices, int64_t dim,
                     bool keepdim);
Tensor cumextremum_grad(const Tensor& grad, IntRef sizes, const Tensor& indices, int64_t dim);
Tensor cumsum_grad(const Tensor& grad, const Tensor& x, int64_t dim);
Tensor cumprod_grad(const Tensor& grad, const Tensor& x, const Tensor& y, int64_t dim);
Tensor logcumsumexp_grad(const Tensor& grad, const Tensor& x, const Tensor& y, int64_t dim);
Tensor var_grad(const Tensor& grad, const Tensor& x, const std::optional<IntRef>& dim,
                const std::optional<Scalar>& correction, bool keepdim);
Tensor std_grad(const Tensor& result, const Tensor& grad, const Tensor& x,
                const std::optional<IntRef>& dim, const std::optional<Scalar>& correction,
                bool keepdim);
Tensor var_mean_grad(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& x,
                     const std::optional<IntRef>& dim, const std::optional<Scalar>& correction,
                     bool keepdim);
Tensor std_mean_grad(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& x,
                     const Tensor& std, const std::optional<IntRef>& dim,
                     const std::optional<Scalar>& correction, bool keepdim);
Tensor vector_norm_grad(const Tensor& grad, const Tensor& x, const Tensor& norm, const Scalar& ord,
                        const std::optional<IntRef>& dim, bool keepdim);

// ---- normalisation (backward/norm.cpp)
using Three = std::tuple<Tensor, Tensor, Tensor>;
Three layer_norm_grad(const Tensor& grad, const Tensor& input, IntRef shape, const Tensor& mean,
                      const Tensor& rstd, const Tensor& weight, const Tensor& bias, double eps,
                      std::array<bool, 3> mask);
std::tuple<Tensor, Tensor> rms_norm_grad(const Tensor& grad, const Tensor& input, IntRef shape,
                                         const Tensor& rstd, const Tensor& weight,
                                         std::optional<double> eps, std::array<bool, 2> mask);
Three group_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& mean,
                      const Tensor& rstd, const Tensor& weight, int64_t N, int64_t C, int64_t HxW,
                      int64_t group, double eps, std::array<bool, 3> mask);
Three batch_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& weight,
                      const Tensor& running_mean, const Tensor& running_var,
                      const Tensor& save_mean, const Tensor& save_invstd, bool training, double eps,
                      std::array<bool, 3> mask);

// ---- losses (backward/loss.cpp)
Tensor mse_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction);
Tensor l1_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction);
Tensor smooth_l1_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction,
                           double beta);
Tensor huber_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction,
                       double delta);
Tensor soft_margin_loss_grad(const Tensor& g, const Tensor& x, const Tensor& y, int64_t reduction);
Tensor bce_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& weight,
                int64_t reduction);
Tensor bce_target_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& weight,
                       int64_t reduction);
Tensor bce_logits_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& weight,
                       const Tensor& pos_weight, int64_t reduction);
Tensor bce_logits_target_grad(const Tensor& g, const Tensor& x, const Tensor& y,
                              const Tensor& weight, const Tensor& pos_weight, int64_t reduction);
Tensor nll_loss_double_backward(const Tensor& g, const Tensor& target, const Tensor& weight,
                                int64_t reduction, int64_t ignore_index,
                                const Tensor& total_weight);
// ---- products (backward/matmul.cpp)
Tensor linear_grad_input(const Tensor& grad, const Tensor& weight);
Tensor linear_grad_weight(const Tensor& grad, const Tensor& input, const TensorInfo& weight);
// Gradient of the distances' first operand.
Tensor cdist_grad(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                  const Tensor& dist);
Tensor pdist_grad(const Tensor& grad, const Tensor& self, double p, const Tensor& dist);
Tensor conv_grad_bias(const Tensor& grad);
Tensor avg_pool_again(const Tensor& grad, int64_t dims, IntRef kernel, IntRef stride,
                      IntRef padding, bool ceil, bool count, std::optional<int64_t> divisor);
Tensor adaptive_avg_again(const Tensor& grad, IntRef output_size);

// ---- checks before an operator (backward/pointwise.cpp)
void no_bool_operands(const Tensor& a, const Tensor& b);  // of a subtraction

// ---- special functions (backward/special.cpp)
Tensor not_differentiable(std::string_view what);  // raises NotImplementedError
Tensor no_second_derivative(std::string_view what);  // RuntimeError
Tensor sinc_grad(const Tensor& grad, const Tensor& x);
Tensor mvlgamma_grad(const Tensor& grad, const Tensor& x, int64_t p);
Tensor igamma_grad(const Tensor& grad, const Tensor& a, const Tensor& x);
Tensor bessel_1_grad(const Tensor& grad, const Tensor& x, const Tensor& order0,
                     const Tensor& order1, bool half_at_zero);
Tensor i1e_grad(const Tensor& grad, const Tensor& x, const Tensor& y);
Tensor logit_double_grad(const Tensor& g, const Tensor& grad, const Tensor& x, double eps);

// ---- Fourier transforms (backward/fft.cpp)
Tensor fft_r2c_grad(const Tensor& grad, IntRef dim, int64_t normalization, bool onesided,
                    bool forward, IntRef sizes);
Tensor fft_c2r_grad(const Tensor& grad, IntRef dim, int64_t normalization);

// ---- padding and resampling (backward/image.cpp)
Dims negated(IntRef pad);
Dims last_two(IntRef sizes);
Dims spatial_sizes(IntRef sizes, ArrayRef<double> scales);  // as many as there are scales
// ---- arrangements (composite/arrange.cpp)
Dims negated_shifts(IntRef v);
Tensor zeros_of_sizes(const Tensor& grad, IntRef sizes);
Tensor repeat_grad(const Tensor& grad, IntRef sizes, IntRef repeats);

// ---- linear algebra (backward/linalg.cpp)
Tensor inv_grad(const Tensor& grad, const Tensor& inverse);
std::tuple<Tensor, Tensor> solve_grad(const Tensor& grad, const Tensor& a, const Tensor& x,
                                      bool left, std::array<bool, 2> mask);
std::tuple<Tensor, Tensor> solve_triangular_grad(const Tensor& grad, const Tensor& a,
                                                 const Tensor& x, bool upper, bool left, bool unit,
                                                 std::array<bool, 2> mask);
Tensor cholesky_grad(const Tensor& grad, const Tensor& factor, bool upper);
std::tuple<Tensor, Tensor> cholesky_solve_grad(const Tensor& grad, const Tensor& factor,
                                               const Tensor& x, bool upper,
                                               std::array<bool, 2> mask);
Tensor cholesky_inverse_grad(const Tensor& grad, const Tensor& factor, bool upper,
                             const Tensor& inverse);
Tensor lu_factor_grad(const Tensor& grad, const Tensor& lu, const Tensor& pivots);
Tensor det_grad(const Tensor& grad, const Tensor& a, const Tensor& det);
Tensor slogdet_grad(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& a,
                    const Tensor& sign);
Tensor qr_grad(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r,
               const std::string& mode);
Tensor eigh_grad(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v);
Tensor eig_grad(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v);
Tensor svd_grad(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u,
                const Tensor& s, const Tensor& vh);
Tensor pinv_grad(const Tensor& grad, const Tensor& a, const Tensor& p);
std::tuple<Tensor, Tensor> lstsq_grad(const Tensor& grad, const Tensor& a, const Tensor& b,
                                      std::array<bool, 2> mask);
Tensor matrix_exp_grad(const Tensor& grad, const Tensor& a);
Tensor matrix_sqrth_grad(const Tensor& grad, const Tensor& a);

// ---- recurrent steps (composite/rnn.cpp)
std::tuple<Tensor, Tensor, Tensor> lstm_step_grad(const Tensor& gh, const Tensor& gc,
                                                  const Tensor& a, const Tensor& b,
                                                  const Tensor& c0, const Tensor& c,
                                                  const Tensor& gates);
std::tuple<Tensor, Tensor, Tensor> gru_step_grad(const Tensor& gh, const Tensor& a, const Tensor& b,
                                                 const Tensor& h0, const Tensor& gates);
// ---- attention (composite/attention.cpp)
std::tuple<Tensor, Tensor, Tensor> flash_attention_grad(
    const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
    const Tensor& logsumexp, bool is_causal, const Tensor& mask, std::optional<double> scale);
// ---- selections (composite/sort.cpp)
Tensor selected_grad(const Tensor& grad, IntRef sizes, const Tensor& indices, int64_t dim,
                     bool keepdim);
Tensor median_grad(const Tensor& grad, const Tensor& self, const Tensor& result);

// ---- embeddings (composite/embedding.cpp)
Tensor embedding_grad(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                      int64_t padding_idx, bool scale_grad_by_freq, bool sparse);
Tensor embedding_dense_grad(const Tensor& grad, const Tensor& indices, int64_t padding_idx);

}  // namespace rl
