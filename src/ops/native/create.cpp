// New tensors and copies, below autograd.
#include <cstring>

#include "kernels/cpu/copy.h"
#include "ops/native.h"

namespace rl::native {

void copy_into(const Tensor& out, const Tensor& src) {
  if (out.numel() == 0 || out.is_meta()) return;
  Tensor from = src.sizes() == out.sizes() ? src : expand(src, out.sizes());
  cpu::copy(out, from);
}

void fill(const Tensor& out, const Scalar& value) {
  if (out.numel() == 0 || out.is_meta()) return;
  cpu::fill(out, value);
}

Tensor contiguous(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor out = empty_tensor(t.sizes(), t.dtype(), t.device());
  copy_into(out, t);
  return out;
}

Tensor to_dtype(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  Tensor out = empty_like_tensor(t, dtype);
  copy_into(out, t);
  return out;
}

Tensor empty(IntRef size, std::optional<DType> dtype, std::optional<Device> device,
             std::optional<MemoryFormat> format) {
  return empty_format(size, dtype.value_or(default_dtype()), device.value_or(Device{}),
                      format.value_or(MemoryFormat::Contiguous));
}

Tensor full(IntRef size, const Scalar& fill_value, std::optional<DType> dtype,
            std::optional<Device> device) {
  Tensor out = empty_tensor(size, dtype.value_or(fill_value.dtype()), device.value_or(Device{}));
  fill(out, fill_value);
  return out;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format) {
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  Tensor out = f == MemoryFormat::Preserve
                   ? empty_like_tensor(self, self.dtype())
                   : empty_format(self.sizes(), self.dtype(), self.device(), f);
  copy_into(out, self);
  return out;
}

void copy_(const Tensor& self, const Tensor& src, bool) {
  check(!self.is_meta() || src.defined(), "copy_: source is undefined");
  if (self.is_same(src)) return;
  Tensor from = src.sizes() == self.sizes() ? src : expand(src, self.sizes());
  check_no_internal_overlap(self);
  copy_into(self, from);
}

}  // namespace rl::native
