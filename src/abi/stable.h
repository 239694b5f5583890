// What the C functions of PyTorch's stable ABI share: handles, stable values, errors as codes.
// Types and encodings are the published interface (docs/ABI.md lists what is here).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "abi/schema.h"

#define RL_ABI extern "C" __attribute__((visibility("default")))

namespace rl::abi {

// One argument or result in 64 bits: a number's bytes, an owning handle, or a pointer to another.
using StableValue = uint64_t;
using Status = int32_t;              // 0: success, 1: failure (torch_exception_get_what)
using TensorHandle = Tensor*;        // owned by the caller
using StringHandle = std::string*;
using BoxedKernel = void (*)(StableValue* stack, uint64_t num_inputs, uint64_t num_outputs);

struct StableList {
  std::vector<StableValue> items;
};

// A value in stable form; handles inside are new and belong to the receiver.
StableValue to_stable(const IValue& value, const Type& type);
// The other way; takes the handles.
IValue from_stable(StableValue value, const Type& type);

inline TensorHandle new_handle(Tensor t) { return new Tensor(std::move(t)); }
inline Device make_device(int32_t type, int32_t index) {
  // the ABI numbers the meta device 14, as we do; what we have no name for is refused on use
  return Device{DeviceType(type), int8_t(index)};
}
DType make_dtype(int32_t code);      // fails for codes that no element type here has

// The message of the exception being handled, kept for torch_exception_get_what of this thread.
void remember_exception() noexcept;

// Runs f; no exception leaves.
template <class F>
Status guarded(F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (...) {
    remember_exception();
    return 1;
  }
}

}  // namespace rl::abi
