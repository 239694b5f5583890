// Gradient helpers of linear algebra (backward/linalg.cpp) and recurrent steps (composite/rnn.cpp);
// included by backward.h.
#pragma once
#include <array>
#include <string>
#include <tuple>

#include "core/tensor.h"

namespace rl {

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

std::tuple<Tensor, Tensor, Tensor> lstm_step_grad(const Tensor& gh, const Tensor& gc,
                                                  const Tensor& a, const Tensor& b,
                                                  const Tensor& c0, const Tensor& c,
                                                  const Tensor& gates);
std::tuple<Tensor, Tensor, Tensor> gru_step_grad(const Tensor& gh, const Tensor& a, const Tensor& b,
                                                 const Tensor& h0, const Tensor& gates);

}  // namespace rl
