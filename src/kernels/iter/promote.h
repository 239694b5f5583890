// Type promotion over several operands: tensors with dimensions are stronger than 0-dim tensors,
// those are stronger than Python numbers, and a weaker one counts only by its category
// (bool < integer < floating < complex).
#pragma once
#include "core/tensor.h"

namespace rl {

struct Promotion {  // collects operands in any order
  DType dimensioned = DType::Undefined;
  DType zero_dim = DType::Undefined;
  DType number = DType::Undefined;

  void add(const Tensor& t);
  DType result() const;
};

DType result_type(const Tensor* const* tensors, int n);
DType result_type(TensorList tensors);
// Python numbers take the default dtype of their category.
DType dtype_in_promotion(const Tensor& t);

}  // namespace rl
