// What the files of matrix products and linear algebra share below autograd.
#pragma once
#include "core/tensor.h"

namespace rl {

const char* typeid_name(DType d);            // "float", "long int": in some error messages
void product_dtype(const char* name, DType d); // throws for dtypes that products do not take
// out = beta * out + alpha * a @ b (+ bias, a row); matrices, or batches of them. `a` and `b` must
// not share memory with `out`.
void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta,
                   const Scalar& alpha, const void* bias = nullptr);

}  // namespace rl
