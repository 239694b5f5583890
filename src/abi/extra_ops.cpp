// Overloads that PyTorch has and the core does not need: added to the registry for callers by name.
#include "core/file_storage.h"
#include "core/op.h"
#include "gen/ops/create.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"

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

Tensor alias_of(const Tensor& self) { return rl::_alias(self); }
Tensor lift(const Tensor& self) { return self; }
Tensor pinned(const Tensor&, std::optional<Device>) {
  fail("Cannot access accelerator device when none is available.");
}
Tensor is_all_true(const Tensor& self) {
  check(self.dtype() == DType::Bool, "_is_all_true: expected a tensor of bool");
  return rl::all(self);
}
Tensor is_any_true(const Tensor& self) {
  check(self.dtype() == DType::Bool, "_is_any_true: expected a tensor of bool");
  return rl::any(self);
}
Tensor all_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return rl::all(self, IntRef(&dim, 1), keepdim);
}
Tensor any_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return rl::any(self, IntRef(&dim, 1), keepdim);
}

constexpr OpInfo composite(const char* name, const char* overload, const char* schema,
                           void (*boxed)(Stack&), uint8_t arguments) {
  return {name, overload, schema, boxed, arguments, 1, true, false, false, false, false,
          AutocastRule::None};
}

const OpInfo kOps[] = {
    composite("alias", "", "alias(Tensor(a) self) -> Tensor(a)", Boxed<&alias_of>::call, 1),
    composite("lift", "", "lift(Tensor self) -> Tensor", Boxed<&lift>::call, 1),
    composite("lift_fresh", "", "lift_fresh(Tensor(a) self) -> Tensor(a)", Boxed<&lift>::call, 1),
    composite("_pin_memory", "", "_pin_memory(Tensor self, device? device=None) -> Tensor",
              Boxed<&pinned>::call, 2),
    composite("_is_all_true", "", "_is_all_true(Tensor self) -> Tensor",
              Boxed<&is_all_true>::call, 1),
    composite("_is_any_true", "", "_is_any_true(Tensor self) -> Tensor",
              Boxed<&is_any_true>::call, 1),
    composite("all", "dim", "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
              Boxed<&all_dim>::call, 3),
    composite("any", "dim", "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
              Boxed<&any_dim>::call, 3),
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
