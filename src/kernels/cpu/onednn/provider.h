// GEMM and convolution by oneDNN, on raw pointers. Plain C++ without oneDNN's or the tensor's
// headers, so kernels of any instruction set may call it. Each function returns false where
// oneDNN has nothing good (an unsupported layout or type on this CPU): the caller goes on to the
// next kernel of its list. Nothing is written in that case.
#pragma once
#include <cstdint>

namespace rl::onednn {

enum class Type : uint8_t { f32, bf16, f16, s32, s8, u8 };
enum class Post : uint8_t { none, relu };

// C[b] = post(alpha * A[b] @ B[b] + bias + beta * C[b]) with A (m, k), B (k, n), C (m, n). Strides
// are in elements; each matrix needs a stride of 1 in one direction. Batch stride 0 broadcasts.
struct Matrix {
  const void* data;
  int64_t row, col, batch;
};
struct MatMul {
  Type type = Type::f32;      // of A and B (A u8 and B s8 is allowed: see b_type)
  Type b_type = Type::f32;
  Type c_type = Type::f32;
  Post post = Post::none;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Matrix a{}, b{}, c{};       // c.data is written
  const void* bias = nullptr; // n elements of bias_type, or none
  Type bias_type = Type::f32;
  float alpha = 1, beta = 0;
};
bool matmul(const MatMul& p);

// Row-major shorthand: op(A) is (m, k), op(B) is (k, n), C is (m, n).
bool gemm(Type type, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
          const void* a, int64_t lda, const void* b, int64_t ldb, float beta, void* c, int64_t ldc,
          const void* bias = nullptr);

// Convolution over 1 to 3 spatial dimensions. Tensors are dense in one of two layouts: channels
// first (N, C, spatial) or channels last in memory (N, spatial, C). The weight is (out, in/groups,
// spatial) in the same two layouts; for a transposed convolution PyTorch's (in, out/groups, ...).
struct Conv {
  Type type = Type::f32;
  int spatial = 2;
  bool src_last = false, weight_last = false, dst_last = false;
  bool transposed = false;
  int64_t n = 0, groups = 1, in_channels = 0, out_channels = 0;
  int64_t in[3] = {}, kernel[3] = {}, out[3] = {};
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, padding[3] = {};
};
bool conv_forward(const Conv& p, const void* src, const void* weight, const void* bias, void* dst,
                  Post post = Post::none);
bool conv_backward_data(const Conv& p, const void* diff_dst, const void* weight, void* diff_src);
// diff_bias may be null. Gradients are written, not accumulated.
bool conv_backward_weights(const Conv& p, const void* src, const void* diff_dst, void* diff_weight,
                           void* diff_bias);

}  // namespace rl::onednn
