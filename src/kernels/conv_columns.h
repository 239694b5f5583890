// Convolution by column matrices and GEMM, for the types that oneDNN does not have. Private to
// kernels/conv.cpp. All three compute an ordinary (not transposed) convolution.
#pragma once
#include "core/dtype.h"
#include "kernels/cpu/onednn/provider.h"

namespace rl::columns {

void forward(DType dtype, const onednn::Conv& p, const void* src, const void* weight, void* dst);
void backward_data(DType dtype, const onednn::Conv& p, const void* diff_dst, const void* weight,
                   void* diff_src);
void backward_weights(DType dtype, const onednn::Conv& p, const void* src, const void* diff_dst,
                      void* diff_weight);

}  // namespace rl::columns
