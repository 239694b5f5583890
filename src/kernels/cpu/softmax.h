// Softmax and its relatives along one dimension, in float or double.
// Blocks are [n][inner] with `inner` contiguous; `lines` <= inner neighbouring columns are done.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// y = softmax(x), or its logarithm. x and y may be the same memory.
RL_KERNEL(void, softmax_lines, (DType compute, bool log, const void* x, void* y, int64_t n,
                                int64_t lines, int64_t stride));
// dx from dy and y = softmax(x) (or log_softmax).
RL_KERNEL(void, softmax_backward_lines, (DType compute, bool log, const void* dy, const void* y,
                                         void* dx, int64_t n, int64_t lines, int64_t stride));
// out[r] = log(sum(exp(x[r * n .. r * n + n)))) for contiguous rows.
RL_KERNEL(void, logsumexp_rows, (DType compute, const void* x, void* out, int64_t rows, int64_t n));

}  // namespace rl::cpu
