// Python objects through the stable C ABI: tensors, dtypes and devices to handles and back.
#include "abi/library.h"

using namespace rl;
using namespace rl::abi;

namespace {
void need_python(const void* function) {
  check(function, "this process has no Python objects");
}
}  // namespace

RL_ABI Status torch_is_tensor_pyobject(void* object, bool* out) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.is_tensor));
    *out = objects.is_tensor(object);
  });
}
RL_ABI Status torch_tensor_from_pyobject(void* object, TensorHandle* out) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.tensor));
    *out = new_handle(objects.tensor(object));
  });
}
// The object of a tensor, a new reference. `type` may name the class that it must be of.
RL_ABI Status torch_tensor_to_pyobject(TensorHandle t, void* type, void** out) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.of_tensor));
    void* object = objects.of_tensor(*t);
    check(!type || objects.is_instance(object, type),
          "torch_tensor_to_pyobject: the tensor is of another class");
    *out = object;
  });
}
RL_ABI Status torch_dtype_from_pyobject(void* object, int32_t* out) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.dtype));
    *out = int32_t(objects.dtype(object));
  });
}
RL_ABI Status torch_dtype_to_pyobject(int32_t dtype, void** out) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.of_dtype));
    *out = objects.of_dtype(make_dtype(dtype));
  });
}
RL_ABI Status torch_device_from_pyobject(void* object, int32_t* type, int32_t* index) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.device));
    Device d = objects.device(object);
    *type = int32_t(d.type);
    *index = d.index;
  });
}
RL_ABI Status torch_device_to_pyobject(int32_t type, int32_t index, void** out) {
  return guarded([&] {
    need_python(reinterpret_cast<void*>(objects.of_device));
    *out = objects.of_device(make_device(type, index));
  });
}
