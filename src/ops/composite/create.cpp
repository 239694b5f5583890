// Factories and conversions made of `empty`, `full` and `_to_copy`.
#include "gen/ops/create.h"
#include "ops/backward.h"
#include "ops/native.h"

namespace rl {

Tensor to_copy_grad(const Tensor& grad, const TensorInfo& self) {
  Tensor g = grad.is_complex() && !self.is_complex() ? native::to_dtype(grad, grad.dtype()) : grad;
  return rl::to(g, self.dtype());
}

namespace composite {

Tensor to(const Tensor& self, DType dtype, bool non_blocking, bool copy,
          std::optional<MemoryFormat> format) {
  return rl::to_device(self, self.device(), dtype, non_blocking, copy, format);
}

Tensor to_device(const Tensor& self, Device device, std::optional<DType> dtype, bool non_blocking,
                 bool copy, std::optional<MemoryFormat> format) {
  const DType d = dtype.value_or(self.dtype());
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  const bool same_device = device.type == self.device().type;
  if (device.is_cuda()) fail_as(ErrorKind::Assertion, "Torch not compiled with CUDA enabled");
  check(device.is_cpu() || device.is_meta(), "to(): this build has no ",
        device_type_name(device.type), " support");
  if (!copy && d == self.dtype() && same_device &&
      (f == MemoryFormat::Preserve || self.is_contiguous(f)))
    return self;
  return rl::_to_copy(self, d, device, non_blocking, f);
}

Tensor zeros(IntRef size, std::optional<DType> dtype, std::optional<Device> device) {
  return rl::full(size, Scalar(0), dtype.value_or(default_dtype()), device);
}
Tensor ones(IntRef size, std::optional<DType> dtype, std::optional<Device> device) {
  return rl::full(size, Scalar(1), dtype.value_or(default_dtype()), device);
}

static Tensor filled_like(const Tensor& self, const Scalar& value, std::optional<DType> dtype,
                          std::optional<Device> device, std::optional<MemoryFormat> format) {
  Tensor out = rl::empty_like(self, dtype, device, format);
  if (tls.modes) [[unlikely]] return rl::fill_(out, value);
  native::fill(out, value);
  return out;
}
Tensor zeros_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  std::optional<MemoryFormat> format) {
  return filled_like(self, Scalar(0), dtype, device, format);
}
Tensor ones_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                 std::optional<MemoryFormat> format) {
  return filled_like(self, Scalar(1), dtype, device, format);
}
Tensor full_like(const Tensor& self, const Scalar& value, std::optional<DType> dtype,
                 std::optional<Device> device, std::optional<MemoryFormat> format) {
  return filled_like(self, value, dtype, device, format);
}

static DType or_of(const Tensor& self, std::optional<DType> d) { return d.value_or(self.dtype()); }
static Device or_of(const Tensor& self, std::optional<Device> d) {
  return d.value_or(self.device());
}
Tensor new_empty(const Tensor& self, IntRef size, std::optional<DType> dtype,
                 std::optional<Device> device) {
  return rl::empty(size, or_of(self, dtype), or_of(self, device));
}
Tensor new_empty_strided(const Tensor& self, IntRef size, IntRef stride, std::optional<DType> dtype,
                         std::optional<Device> device) {
  return rl::empty_strided(size, stride, or_of(self, dtype), or_of(self, device));
}
Tensor new_zeros(const Tensor& self, IntRef size, std::optional<DType> dtype,
                 std::optional<Device> device) {
  return rl::full(size, Scalar(0), or_of(self, dtype), or_of(self, device));
}
Tensor new_ones(const Tensor& self, IntRef size, std::optional<DType> dtype,
                std::optional<Device> device) {
  return rl::full(size, Scalar(1), or_of(self, dtype), or_of(self, device));
}
Tensor new_full(const Tensor& self, IntRef size, const Scalar& value, std::optional<DType> dtype,
                std::optional<Device> device) {
  return rl::full(size, value, or_of(self, dtype), or_of(self, device));
}

Tensor arange_end(const Scalar& end, std::optional<DType> dtype, std::optional<Device> device) {
  return rl::arange(end.is_integral() ? Scalar(0) : Scalar(0.0), end, Scalar(1), dtype, device);
}
Tensor eye(int64_t n, std::optional<DType> dtype, std::optional<Device> device) {
  return rl::eye(n, n, dtype, device);
}

// ---- sequences with bounds in tensors
static Scalar bound(const char* name, const char* which, const Tensor& t) {
  check(t.dim() == 0, name, " only supports 0-dimensional start and end tensors, but got ", which,
        " with ", t.dim(), " dimension(s).");
  return item(t);
}

Tensor linspace_tensor_tensor(const Tensor& start, const Tensor& end, int64_t steps,
                              std::optional<DType> dtype, std::optional<Device> device) {
  return rl::linspace(bound("linspace", "start", start), bound("linspace", "end", end), steps,
                      dtype, device);
}
Tensor linspace_tensor_scalar(const Tensor& start, const Scalar& end, int64_t steps,
                              std::optional<DType> dtype, std::optional<Device> device) {
  return rl::linspace(bound("linspace", "start", start), end, steps, dtype, device);
}
Tensor linspace_scalar_tensor(const Scalar& start, const Tensor& end, int64_t steps,
                              std::optional<DType> dtype, std::optional<Device> device) {
  return rl::linspace(start, bound("linspace", "end", end), steps, dtype, device);
}
Tensor logspace_tensor_tensor(const Tensor& start, const Tensor& end, int64_t steps, double base,
                              std::optional<DType> dtype, std::optional<Device> device) {
  return rl::logspace(bound("logspace", "start", start), bound("logspace", "end", end), steps, base,
                      dtype, device);
}
Tensor logspace_tensor_scalar(const Tensor& start, const Scalar& end, int64_t steps, double base,
                              std::optional<DType> dtype, std::optional<Device> device) {
  return rl::logspace(bound("logspace", "start", start), end, steps, base, dtype, device);
}
Tensor logspace_scalar_tensor(const Scalar& start, const Tensor& end, int64_t steps, double base,
                              std::optional<DType> dtype, std::optional<Device> device) {
  return rl::logspace(start, bound("logspace", "end", end), steps, base, dtype, device);
}

}  // namespace composite
}  // namespace rl
