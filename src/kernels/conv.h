// Convolution for every number type: the one entrance for operators. An ordered
// list: oneDNN; for half types that it declines, the same in float; else column matrices and GEMM.
// Raw pointers; the layouts and sizes are those of `Conv` in kernels/cpu/onednn/provider.h.
#pragma once
#include "core/dtype.h"
#include "kernels/cpu/onednn/provider.h"

namespace rl {

using onednn::Conv;

// bias may be null. Outputs are written, not accumulated, and nothing is conjugated. `type` of Conv
// is set from dtype.
void conv_forward(DType dtype, Conv p, const void* src, const void* weight, const void* bias,
                  void* dst);
void conv_backward_data(DType dtype, Conv p, const void* diff_dst, const void* weight,
                        void* diff_src);
void conv_backward_weights(DType dtype, Conv p, const void* src, const void* diff_dst,
                           void* diff_weight);
// Sums over all but the channels.
void conv_backward_bias(DType dtype, const Conv& p, const void* diff_dst, void* diff_bias);

}  // namespace rl
