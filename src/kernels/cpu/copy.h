// Moving elements without looking at them: block transposes and streaming copies; and the values
// of sequences (arange, linspace).
#pragma once
#include "core/dtype.h"
#include "core/scalar.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// dst[j * dst_stride + i * item] = src[i * src_stride + j * item] for i < rows, j < columns.
RL_KERNEL(void, transpose, (char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                            int item, int64_t rows, int64_t columns));
// memcpy that goes past the caches: for blocks much larger than them.
RL_KERNEL(void, copy_streaming, (void* dst, const void* src, int64_t bytes));
// out[i] = start + (first + i) * step, i < n, in the arithmetic of PyTorch's arange.
RL_KERNEL(void, arange_run,
          (void* out, DType d, const Scalar& start, const Scalar& step, int64_t first, int64_t n));
// out[i] = element first + i of `steps` values from start to end (from both ends inwards).
RL_KERNEL(void, linspace_run, (void* out, DType d, const Scalar& start, const Scalar& end,
                               int64_t steps, int64_t first, int64_t n));

}  // namespace rl::cpu
