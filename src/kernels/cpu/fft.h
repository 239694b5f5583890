// Discrete Fourier transforms of interleaved columns.
#pragma once
#include "core/dtype.h"
#include "kernels/fft_plan.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// The forward transform, without scale, of `batch` columns. buffers: real parts [n][batch],
// imaginary parts, and two work buffers; each has plan.extent() rows. On return buffers[0] and
// buffers[1] are the result (the pointers may have been exchanged with the work buffers).
RL_KERNEL(void, fft_columns, (DType real, const FftPlan& plan, void** buffers, int64_t batch));

}  // namespace rl::cpu
