// Matrix products for every element type: the one entrance for operators. An ordered list, first
// taker wins: our small kernel, oneDNN, OpenBLAS, plain loops (integers). Operands may have any
// strides; those that a library cannot take are copied first. Half types accumulate in float.
#pragma once
#include "core/dtype.h"
#include "kernels/cpu/small_gemm.h"

namespace rl {

using cpu::GemmOperand;
using cpu::GemmProblem;

// C[b] = alpha * A[b] @ B[b] + beta * C[b] + bias, see small_gemm.h. Sizes may be zero. C must not
// overlap A or B. With beta = 0, C is not read.
void gemm(DType dtype, const GemmProblem& p);

// The same with A (m, k) and B (k, n) conjugated first, for the gradients of complex products.
void gemm_conj(DType dtype, const GemmProblem& p, bool conj_a, bool conj_b);

}  // namespace rl
