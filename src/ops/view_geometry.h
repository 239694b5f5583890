// Shape arithmetic of reshape and view.
#pragma once
#include "core/tensor.h"

namespace rl {

Dims infer_size(IntRef shape, int64_t numel);   // fills in the -1
// Strides with which `sizes` addresses the same memory; false if there are none.
bool view_strides(IntRef old_sizes, IntRef old_strides, int64_t numel, IntRef sizes, Dims& out);
Dims inverse_permutation(IntRef dims);

}  // namespace rl
