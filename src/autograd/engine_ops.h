// The few operators that autograd itself needs, in one place. They are the public, differentiable
// ones: with create_graph the engine's own additions are part of the new graph.
#pragma once
#include "core/tensor.h"

namespace rl::engine_ops {

Tensor add(const Tensor& a, const Tensor& b);
void add_into(const Tensor& a, const Tensor& b);       // a += b
Tensor mul(const Tensor& a, const Tensor& b);
Tensor clone(const Tensor& t);                         // keeps the strides
Tensor clone_contiguous(const Tensor& t);
Tensor clone_strided(const Tensor& t, IntRef strides);
Tensor sum_to(const Tensor& t, IntRef sizes);          // undoes broadcasting
Tensor to_dtype(const Tensor& t, DType dtype);
Tensor real(const Tensor& t);
Tensor as_strided(const Tensor& t, IntRef sizes, IntRef strides, int64_t offset);
Tensor detach(const Tensor& t);
Tensor view_as_self(const Tensor& t);                  // a differentiable alias of all of t
void copy_into(const Tensor& to, const Tensor& from);  // to.copy_(from)
void zero_into(const Tensor& t);                       // t.zero_()
Tensor ones_like(const Tensor& t);
Tensor zeros_like(const Tensor& t);
Tensor zeros_strided(const Tensor& t);                 // with the strides of t
bool has_nan(const Tensor& t);

}  // namespace rl::engine_ops
