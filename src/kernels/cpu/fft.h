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

// After the transform of length m over even (re) and odd (im) elements of real lines of length 2 m:
// rows 0..m of re and im become the transform of the lines. `half`: exp(-2 pi i k / (2 m)).
RL_KERNEL(void, fft_join_halves, (DType real, const FftTable& half, void* re, void* im, int64_t m,
                                  int64_t batch));

}  // namespace rl::cpu
