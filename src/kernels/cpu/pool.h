// Pooling over windows of up to three dimensions, in float, double or int64.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// Tensors are dense: (batch, channels, in...) or, with `last`, (batch, in..., channels).
struct Pool {
  int64_t batch = 0, channels = 0;
  bool last = false;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1};
  int64_t padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  bool count_padding = true;  // of averages
  int64_t divisor = 0;        // of averages; 0: the size of the window
  // Units of work: rows of the output; all channels of a row belong together with `last`.
  int64_t rows() const { return batch * (last ? 1 : channels) * out[0] * out[1]; }
};

// Rows begin..end. `index`: where in its plane each maximum was found.
RL_KERNEL(void, max_pool_rows, (DType dtype, const Pool& p, const void* src, void* dst,
                                int64_t* index, int64_t begin, int64_t end));
RL_KERNEL(void, avg_pool_rows, (DType dtype, const Pool& p, const void* src, void* dst,
                                int64_t begin, int64_t end));
// Images (or with channels first: planes) begin..end; dx is written.
RL_KERNEL(void, avg_pool_backward, (DType dtype, const Pool& p, const void* dy, void* dx,
                                    int64_t begin, int64_t end));

}  // namespace rl::cpu
