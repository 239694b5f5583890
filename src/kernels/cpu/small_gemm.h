// Matrix products where a library call costs more than the arithmetic: tiny ones, and products
// with a vector. Our own code, for floating types. Larger ones are for oneDNN and OpenBLAS; the
// order is decided in kernels/gemm.cpp, which is what operators call.
#pragma once
#include <cstdint>

#include "kernels/kernel_table.h"

namespace rl::cpu {

// C[b] = alpha * A[b] @ B[b] + beta * C[b] + bias: A (m, k), B (k, n), C (m, n), strides in
// elements, bias n elements or null. With beta = 0, C is not read.
struct GemmOperand {
  const void* data;
  int64_t row, col, batch;
};
struct GemmProblem {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  GemmOperand a{}, b{}, c{};
  const void* bias = nullptr;
  double alpha = 1, beta = 0;
  double alpha_imag = 0, beta_imag = 0;  // of complex products only
};

// False when the product is not for this kernel; then nothing has been written.
RL_KERNEL(bool, small_gemm_f32, (const GemmProblem& p));
RL_KERNEL(bool, small_gemm_f64, (const GemmProblem& p));
RL_KERNEL(bool, small_gemm_f16, (const GemmProblem& p));
RL_KERNEL(bool, small_gemm_bf16, (const GemmProblem& p));

}  // namespace rl::cpu
