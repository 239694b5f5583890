// New tensors and copies, below autograd.
#include <atomic>
#include <cmath>

#include "base/warn.h"
#include "kernels/iter/copy.h"
#include "kernels/iter/promote.h"
#include "ops/native.h"
#include "ops/new_memory.h"

namespace rl::native {
namespace {

std::atomic<bool> fill_new_memory{false};

Scalar conspicuous(DType d) {
  if (d == DType::Bool) return Scalar(true);
  if (!is_integral(d)) return Scalar(std::nan(""));
  const int bits = int(itemsize(d)) * 8 - (is_unsigned_int(d) ? 0 : 1);
  return Scalar(int64_t(bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1));
}

// New memory, filled where that is asked for.
Tensor marked(Tensor t) {
  if (fill_new_memory.load(std::memory_order_relaxed)) fill(t, conspicuous(t.dtype()));
  return t;
}

}  // namespace

void copy_into(const Tensor& out, const Tensor& src) {
  if (out.numel() == 0 || out.is_meta()) return;
  copy_tensor(out, src);
}

void fill(const Tensor& out, const Scalar& value) {
  if (out.numel() == 0 || out.is_meta()) return;
  fill_tensor(out, value);
}

Tensor contiguous(const Tensor& t) { return contiguous_tensor(t); }
Tensor to_dtype(const Tensor& t, DType dtype) { return rl::to_dtype(t, dtype); }

void set_fill_new_memory(bool on) { fill_new_memory.store(on, std::memory_order_relaxed); }

Tensor empty(IntRef size, std::optional<DType> dtype, std::optional<Device> device,
             std::optional<MemoryFormat> format) {
  return marked(empty_format(size, dtype.value_or(default_dtype()), device.value_or(Device{}),
                             format.value_or(MemoryFormat::Contiguous)));
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
  check_implemented(!src.is_meta() || self.is_meta(), "Cannot copy out of meta tensor; no data!");
  Tensor from = src.sizes() == self.sizes() ? src : expand(src, self.sizes());
  check_no_internal_overlap(self);
  copy_into(self, from);
}

Tensor empty_strided(IntRef size, IntRef stride, std::optional<DType> dtype,
                     std::optional<Device> device) {
  return marked(empty_strided_tensor(size, stride, dtype.value_or(default_dtype()),
                                     device.value_or(Device{})));
}

Tensor empty_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  std::optional<MemoryFormat> format) {
  const DType d = dtype.value_or(self.dtype());
  const Device where = device.value_or(self.device());
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  if (f != MemoryFormat::Preserve) return marked(empty_format(self.sizes(), d, where, f));
  if (where == self.device()) return marked(empty_like_tensor(self, d));
  // The order of memory is found without memory, on the meta device.
  Tensor shape(new TensorImpl(nullptr, self.dtype(), Device{DeviceType::Meta}));
  shape->sizes = self.sizes();
  shape->strides = self.strides();
  shape->refresh();
  return marked(
      empty_strided_tensor(self.sizes(), empty_like_tensor(shape, d).strides(), d, where));
}

Tensor _to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device, bool,
                std::optional<MemoryFormat> format) {
  const Device where = device.value_or(self.device());
  check_implemented(!(self.is_meta() && !where.is_meta()),
                    "Cannot copy out of meta tensor; no data! Please use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module "
                    "from meta to a different device.");
  Tensor out = empty_like(self, dtype, where, format);
  copy_into(out, self);
  return out;
}

void fill_scalar_(const Tensor& self, const Scalar& value) { fill(self, value); }
void fill_tensor_(const Tensor& self, const Tensor& value) {
  check(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
        value.dim(), " dimensions.");
  copy_into(self, value);
}
void zero_(const Tensor& self) { fill(self, Scalar(int64_t(0))); }

// ---- sequences
namespace {

bool all_int(std::initializer_list<const Scalar*> l) {
  for (auto* s : l)
    if (!s->is_integral()) return false;
  return true;
}

int64_t count_steps(const Scalar& start, const Scalar& end, const Scalar& step, bool integers) {
  check(!step.equal(0), "step must be nonzero");
  const double a = start.to_double(), b = end.to_double(), d = step.to_double();
  check(std::isfinite(a) && std::isfinite(b), "unsupported range: ", a, " -> ", b);
  check((d > 0 && b >= a) || (d < 0 && b <= a),
        "upper bound and lower bound inconsistent with step sign");
  if (integers) {
    const __int128 span = __int128(end.to_int()) - start.to_int(), s = step.to_int();
    return int64_t((span + s - (s > 0 ? 1 : -1)) / s);
  }
  const double n = std::ceil((b - a) / d);
  check(n >= 0 && n <= 9.2e18, "invalid size, possible overflow");
  return int64_t(n);
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<DType> dtype, std::optional<Device> device) {
  const bool integers = all_int({&start, &end, &step});
  const DType d = dtype.value_or(integers ? DType::Int64 : default_dtype());
  Tensor out =
      empty_tensor({count_steps(start, end, step, integers)}, d, device.value_or(Device{}));
  if (!out.is_meta() && out.numel() > 0) arange_into(out, start, step);
  return out;
}

Tensor range_inclusive(const Scalar& start, const Scalar& end, const Scalar& step,
                       std::optional<DType> dtype, std::optional<Device> device) {
  warn("torch.range is deprecated and will be removed in a future release because its behavior is "
       "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
       "values in [start, end).");
  check(!step.equal(0), "step must be nonzero");
  const double a = start.to_double(), b = end.to_double(), d = step.to_double();
  check(std::isfinite(a) && std::isfinite(b), "unsupported range: ", a, " -> ", b);
  check((d > 0 && b >= a) || (d < 0 && b <= a),
        "upper bound and lower bound inconsistent with step sign");
  Tensor out = empty_tensor({int64_t((b - a) / d) + 1}, dtype.value_or(default_dtype()),
                            device.value_or(Device{}));
  if (!out.is_meta()) arange_into(out, start, step);
  return out;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype,
                std::optional<Device> device) {
  check(steps >= 0, "number of steps must be non-negative");
  const bool complex = start.is_complex() || end.is_complex();
  Tensor out =
      empty_tensor({steps}, dtype.value_or(complex ? default_complex_dtype() : default_dtype()),
                   device.value_or(Device{}));
  if (out.is_meta() || steps == 0) return out;
  if (steps == 1) fill(out, start);
  else linspace_into(out, start, end, steps);
  return out;
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                std::optional<DType> dtype, std::optional<Device> device) {
  check(steps >= 0, "number of steps must be non-negative");
  const bool complex = start.is_complex() || end.is_complex();
  Tensor out =
      empty_tensor({steps}, dtype.value_or(complex ? default_complex_dtype() : default_dtype()),
                   device.value_or(Device{}));
  if (!out.is_meta() && steps > 0) logspace_into(out, start, end, steps, base);
  return out;
}

Tensor eye(int64_t n, int64_t m, std::optional<DType> dtype, std::optional<Device> device) {
  check(n >= 0, "n must be greater or equal to 0, got ", n);
  check(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor out = empty_tensor({n, m}, dtype.value_or(default_dtype()), device.value_or(Device{}));
  if (!out.is_meta()) eye_into(out);
  return out;
}

static void check_matrix(const Tensor& t, const char* name) {
  check(t.dim() >= 2, name, ": input tensor must have at least 2 dimensions");
}
Tensor tril(const Tensor& self, int64_t diagonal) {
  check_matrix(self, "tril");
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  if (!out.is_meta()) tril_into(out, self, diagonal);
  return out;
}
Tensor triu(const Tensor& self, int64_t diagonal) {
  check_matrix(self, "triu");
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  if (!out.is_meta()) triu_into(out, self, diagonal);
  return out;
}

// ---- cat
Tensor cat(TensorList tensors, int64_t dim) {
  check_value(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  auto skipped = [](const Tensor& t) { return t.dim() == 1 && t.numel() == 0; };
  const Tensor* model = nullptr;
  for (const Tensor& t : tensors) {
    if (!t.defined())
      fail_as(ErrorKind::Type, "expected Tensor as element ", &t - tensors.begin(),
              " in argument 0, but got NoneType");
    check(t.device().type == tensors[0].device().type, "Tensor on device ", t.device(),
          " is not on the expected device ", tensors[0].device(), "!");
    check(t.dim() > 0, "zero-dimensional tensor (at position ", &t - tensors.begin(),
          ") cannot be concatenated");
    if (!model || (skipped(*model) && !skipped(t))) model = &t;
  }
  const int64_t d = wrap_dim(dim, model->dim());
  Dims sizes(model->sizes());
  sizes[size_t(d)] = 0;
  bool channels_last = true;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (skipped(t) && model->dim() != 1) continue;
    check(t.dim() == model->dim(), "Tensors must have same number of dimensions: got ",
          model->dim(), " and ", t.dim());
    for (int64_t k = 0; k < t.dim(); ++k)
      check(k == d || t.size(k) == model->size(k),
            "Sizes of tensors must match except in dimension ", d, ". Expected size ",
            model->size(k), " but got size ", t.size(k), " for tensor number ", i, " in the list.");
    sizes[size_t(d)] += t.size(d);
    channels_last = channels_last && suggest_memory_format(t) == MemoryFormat::ChannelsLast;
  }
  const MemoryFormat f = channels_last && model->dim() == 4 ? MemoryFormat::ChannelsLast
                                                           : MemoryFormat::Contiguous;
  Tensor out = empty_format(sizes, result_type(tensors), model->device(), f);
  if (!out.is_meta()) cat_into(out, tensors, d);
  return out;
}

}  // namespace rl::native
