// Arguments of pooling operators: checked with PyTorch's words and made into a geometry.
#pragma once
#include "core/tensor.h"
#include "kernels/cpu/pool.h"

namespace rl {

struct PoolArgs {
  const char* name;
  int dims;  // 2 or 3
  IntRef kernel, stride, padding, dilation;
  bool ceil_mode;
};

// The geometry and the sizes of the result. `avg` chooses words and checks of averages.
cpu::Pool pool_shape(const PoolArgs& args, IntRef sizes, bool avg, Dims& out);

bool pool_channels_last(const Tensor& t, int dims);       // batched and channels last in memory
Tensor pool_dense(const Tensor& t, bool last);
Tensor pool_empty(IntRef sizes, DType dtype, Device device, bool last);

}  // namespace rl
