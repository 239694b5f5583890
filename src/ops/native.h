// Native functions that other layers call by hand: below autograd, no recording, no modes.
// The generated wrappers declare what they call themselves.
#pragma once
#include <optional>

#include "core/tensor.h"

namespace rl::native {

// out[...] = src, broadcast and converted; both on one device, no checks beyond broadcasting.
void copy_into(const Tensor& out, const Tensor& src);
void fill(const Tensor& out, const Scalar& value);
Tensor full(IntRef size, const Scalar& fill_value, std::optional<DType> dtype,
            std::optional<Device> device);
Tensor contiguous(const Tensor& t);                  // t itself when it is
Tensor to_dtype(const Tensor& t, DType dtype);       // t itself when it has it
Tensor expand(const Tensor& self, IntRef size, bool implicit = false);
Tensor view(const Tensor& self, IntRef size);
Tensor reshape(const Tensor& self, IntRef size);     // view or copy
Tensor permute(const Tensor& self, IntRef dims);
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step);
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor squeeze_dims(const Tensor& self, IntRef dims);
Tensor unsqueeze(const Tensor& self, int64_t dim);

}  // namespace rl::native
