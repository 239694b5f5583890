// Operators and kernels that compiled libraries register through the stable C ABI, and calls to
// operators by name. torch.library takes over what it finds here (src/python/abi_bind.cpp).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "abi/stable.h"

namespace rl::abi {

struct Definition {
  std::string schema;        // with its namespace, as it was written
  std::string qualified;     // "ns::name.overload"
  bool alive = true;         // its library is still loaded
  std::vector<int32_t> tags = {};  // torch.Tag codes
};
struct Kernel {
  std::string qualified, key;  // key: a dispatch key such as "CPU"; "" stands for all
  BoxedKernel run = nullptr;
  bool alive = true;
};

// Grows whenever a library registers or takes back something.
uint64_t registry_generation();
std::vector<Definition> definitions();
std::vector<Kernel> kernels();
BoxedKernel kernel_at(size_t number);  // of kernels(); null if its library is gone

// Runs a kernel: arguments in schema order, then its results.
void run_kernel(const Schema& schema, BoxedKernel kernel, Stack& stack);

// Operators that the front end knows (torch.library), for calls from compiled code.
struct FrontEnd {
  bool (*schema)(const std::string& qualified, std::string& text) = nullptr;
  void (*call)(const std::string& qualified, Stack& stack) = nullptr;
};
// Python objects as void*, for extensions that handle them; null without Python in the process.
struct Objects {
  bool (*is_tensor)(void* object) = nullptr;
  Tensor (*tensor)(void* object) = nullptr;
  void* (*of_tensor)(const Tensor& t) = nullptr;    // new reference
  bool (*is_instance)(void* object, void* type) = nullptr;
  DType (*dtype)(void* object) = nullptr;
  void* (*of_dtype)(DType d) = nullptr;
  Device (*device)(void* object) = nullptr;
  void* (*of_device)(Device d) = nullptr;
};
extern Objects objects;
extern FrontEnd front_end;

}  // namespace rl::abi
