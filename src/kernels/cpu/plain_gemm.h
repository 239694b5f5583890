// Matrix products by plain loops, for element types that no library multiplies: integers, bool.
#pragma once
#include "core/dtype.h"
#include "kernels/cpu/small_gemm.h"

namespace rl::cpu {

// Any strides. Integers wrap around; bool is "any of the products".
RL_KERNEL(void, plain_gemm, (DType dtype, const GemmProblem& p));

}  // namespace rl::cpu
