// Copies and fills of whole tensors, below autograd and operators.
#pragma once
#include "core/tensor.h"

namespace rl {

// dst[...] = src[...], broadcast and converted; any strides on both sides. Memory that dst and src
// share must be disjoint or identical. Meta destinations only check shapes.
void copy_tensor(const Tensor& dst, const Tensor& src);
// A copy in another dtype, memory order kept (always a new tensor).
Tensor cast_tensor(const Tensor& t, DType dtype);
inline Tensor to_dtype(const Tensor& t, DType dtype) {  // itself if it has the dtype
  return t.dtype() == dtype ? t : cast_tensor(t, dtype);
}
Tensor clone_tensor(const Tensor& t, MemoryFormat f = MemoryFormat::Preserve);
// Itself if it is row-major, else a row-major copy.
Tensor contiguous_tensor(const Tensor& t);

void fill_tensor(const Tensor& dst, const Scalar& value);
Tensor full_tensor(IntRef sizes, const Scalar& value, DType dtype, Device device = {});
inline void zero_tensor(const Tensor& dst) { fill_tensor(dst, Scalar(0)); }

// Sequences into a tensor that has its final size (any strides).
void arange_into(const Tensor& out, const Scalar& start, const Scalar& step);
void linspace_into(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps);
void logspace_into(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps,
                   double base);
void eye_into(const Tensor& out);  // a matrix: ones on the diagonal
// Lower/upper triangles of the last two dimensions; the other elements become zero.
void tril_into(const Tensor& out, const Tensor& self, int64_t diagonal);
void triu_into(const Tensor& out, const Tensor& self, int64_t diagonal);

// out (already shaped) = the tensors one after another along dim; empty 1-d tensors are skipped.
void cat_into(const Tensor& out, TensorList tensors, int64_t dim);

}  // namespace rl
