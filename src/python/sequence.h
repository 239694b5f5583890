// Between tensors and nested Python sequences, NumPy arrays and buffers.
#pragma once
#include "python/binder.h"

namespace rl::py {

// A Python number of an element: uint64 keeps its range.
PyObject* scalar_object(const Scalar& s, DType dtype);
PyObject* nested_list(const Tensor& t);     // x.tolist()

// torch.tensor(data): nested sequences, numbers, tensors, NumPy arrays and scalars. `dtype` absent:
// inferred. Always copies; on the CPU.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype);

}  // namespace rl::py
