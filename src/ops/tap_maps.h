// Maps along dimensions by tables of taps, over whole tensors.
#pragma once
#include "core/tensor.h"
#include "kernels/cpu/resample.h"

namespace rl {

// x, row-major float or double, with dimension `dim` mapped. `n`: the inputs of the table; with
// `transpose`, from outputs back to n inputs.
Tensor apply_taps(const Tensor& x, int64_t dim, const TapTable& table, int64_t n, bool transpose);

}  // namespace rl
