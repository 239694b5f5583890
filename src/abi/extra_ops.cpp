// Overloads that PyTorch has and the core does not need: added to the registry for callers by name.
#include "core/file_storage.h"
#include "core/op.h"
#include "gen/ops/create.h"

namespace rl::abi {
namespace {

Tensor convert(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
               bool non_blocking, bool copy, std::optional<MemoryFormat> format) {
  bool same = (!dtype || *dtype == self.dtype()) &&
              (!device || device->type == self.device().type);
  if (same && !copy &&
      (!format || *format == MemoryFormat::Preserve || self.is_contiguous(*format)))
    return self;
  return _to_copy(self, dtype, device, non_blocking, format);
}

Tensor to_dtype_layout(const Tensor& self, std::optional<DType> dtype,
                       std::optional<Device> device, bool non_blocking, bool copy,
                       std::optional<MemoryFormat> format) {
  return convert(self, dtype, device, non_blocking, copy, format);
}
Tensor to_device_dtype(const Tensor& self, Device device, DType dtype, bool non_blocking,
                       bool copy, std::optional<MemoryFormat> format) {
  return convert(self, dtype, device, non_blocking, copy, format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                std::optional<MemoryFormat> format) {
  return convert(self, other.dtype(), other.device(), non_blocking, copy, format);
}

Tensor from_file(std::string_view name, std::optional<bool> shared, std::optional<int64_t> size,
                 std::optional<DType> dtype, std::optional<Device> device) {
  check(!device || device->is_cpu(), "from_file: only for the CPU");
  DType type = dtype.value_or(default_dtype());
  int64_t n = size.value_or(0);
  check(n >= 0, "from_file: negative size ", n);
  auto storage = n == 0 ? make_intrusive<Storage>(0)
                        : storage_of_file(std::string(name), shared.value_or(false),
                                          size_t(n * itemsize(type)));
  auto impl = make_intrusive<TensorImpl>(std::move(storage), type, Device{});
  impl->sizes = Dims{n};
  impl->strides = Dims{1};
  impl->refresh();
  return Tensor(std::move(impl));
}

constexpr OpInfo composite(const char* name, const char* overload, const char* schema,
                           void (*boxed)(Stack&), uint8_t arguments) {
  return {name, overload, schema, boxed, arguments, 1, true, false, false, false, false,
          AutocastRule::None};
}

const OpInfo kOps[] = {
    composite("to", "dtype_layout",
              "to.dtype_layout(Tensor(a) self, *, dtype? dtype=None, device? device=None, bool "
              "non_blocking=False, bool copy=False, memory_format? memory_format=None) -> "
              "Tensor(a)",
              Boxed<&to_dtype_layout>::call, 6),
    composite("to", "device",
              "to.device(Tensor(a) self, device device, dtype dtype, bool non_blocking=False, "
              "bool copy=False, memory_format? memory_format=None) -> Tensor(a)",
              Boxed<&to_device_dtype>::call, 6),
    composite("to", "other",
              "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
              "memory_format? memory_format=None) -> Tensor(a)",
              Boxed<&to_other>::call, 5),
    composite("from_file", "",
              "from_file(str filename, bool? shared=None, int? size=0, *, dtype? dtype=None, "
              "device? device=None) -> Tensor",
              Boxed<&from_file>::call, 5),
};

const bool registered = [] {
  const OpInfo* ops[std::size(kOps)];
  for (size_t i = 0; i < std::size(kOps); ++i) ops[i] = &kOps[i];
  register_ops(ops, std::size(kOps));
  return true;
}();

}  // namespace
}  // namespace rl::abi
