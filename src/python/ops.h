// Operators that the glue itself needs. Those without a generated declaration go through the
// registry by name (boxed), so that the glue builds whatever ops/ holds.
#pragma once
#include "python/binder.h"

namespace rl::py::ops {

// Calls an operator of the registry; NotImplementedError naming it when it is not there.
Stack call(const char* name, const char* overload, Stack arguments);
Tensor call_tensor(const char* name, const char* overload, Stack arguments);

Scalar item(const Tensor& t);          // modes see it, too
Tensor numpy_T(const Tensor& t);
Tensor matrix_transpose(const Tensor& t, const char* name, bool conjugate);
Tensor matrix_H(const Tensor& t);
Tensor real(const Tensor& t);
Tensor imag(const Tensor& t);
void copy_into(const Tensor& self, const Tensor& source);
void set_data(const Tensor& t, const Tensor& data);  // t.data = data
// t itself where nothing changes and `copy` is false.
Tensor to(const Tensor& t, std::optional<DType> dtype, std::optional<Device> device, bool copy,
          std::optional<MemoryFormat> format);

Tensor alias_view(const Tensor& t);                  // x[...]
void fill(const Tensor& self, const Tensor& value);  // value: 0-dim
Tensor index(const Tensor& self, const std::vector<Tensor>& indices);
void index_put(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& values);
Tensor on_device(const Tensor& t, Device d);
const char* c_type_name(DType d);                    // "float", "int64_t": of overflow errors

}  // namespace rl::py::ops
