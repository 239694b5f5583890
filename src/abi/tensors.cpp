// Tensors through the stable C ABI: facts, memory, new tensors, and the operators that it names.
#include <algorithm>
#include <array>
#include <cstring>

#include "abi/stable.h"
#include "autograd/node.h"
#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/matmul.h"
#include "gen/ops/pad.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"

using namespace rl;
using namespace rl::abi;

namespace {
void give(TensorHandle* out, Tensor t) { *out = new_handle(std::move(t)); }
template <class T>
std::optional<T> code(const int32_t* p) {
  return p ? std::optional<T>(T(*p)) : std::nullopt;
}
std::optional<DType> dtype_code(const int32_t* p) {
  return p ? std::optional<DType>(make_dtype(*p)) : std::nullopt;
}
std::optional<Device> device_code(const int32_t* type, int32_t index) {
  return type ? std::optional<Device>(make_device(*type, index)) : std::nullopt;
}
void check_plain(const int32_t* layout, const int32_t* pin_memory) {
  check_implemented(!layout || Layout(*layout) == Layout::Strided, "layout ",
                    layout_name(code<Layout>(layout).value_or(Layout::Strided)),
                    " is not implemented");
  check(!pin_memory || !*pin_memory, "Cannot access accelerator device when none is available.");
}
}  // namespace

// ---- handles
RL_ABI Status aoti_torch_new_uninitialized_tensor(TensorHandle* out) {
  return guarded([&] { give(out, Tensor()); });
}
RL_ABI Status aoti_torch_new_tensor_handle(TensorHandle t, TensorHandle* out) {
  return guarded([&] { give(out, *t); });
}
RL_ABI Status aoti_torch_delete_tensor_object(TensorHandle t) {
  return guarded([&] { delete t; });
}
RL_ABI Status aoti_torch_assign_tensors(TensorHandle source, TensorHandle target) {
  return guarded([&] { *target = *source; });
}
RL_ABI Status aoti_torch_is_defined(TensorHandle t, bool* out) {
  *out = t->defined();
  return 0;
}

// ---- facts
namespace {
template <class T, class F>
Status fact(TensorHandle t, T* out, F&& f) {
  return guarded([&] {
    check(t->defined(), "a tensor without a value has no properties");
    *out = f(*t);
  });
}
}  // namespace

RL_ABI Status aoti_torch_get_dim(TensorHandle t, int64_t* out) {
  return fact(t, out, [](const Tensor& x) { return x.dim(); });
}
RL_ABI Status aoti_torch_get_numel(TensorHandle t, int64_t* out) {
  return fact(t, out, [](const Tensor& x) { return x.numel(); });
}
RL_ABI Status aoti_torch_get_sizes(TensorHandle t, int64_t** out) {
  return fact(t, out, [](const Tensor& x) { return const_cast<int64_t*>(x.sizes().data()); });
}
RL_ABI Status aoti_torch_get_size(TensorHandle t, int64_t d, int64_t* out) {
  return fact(t, out, [&](const Tensor& x) { return x.size(d); });
}
RL_ABI Status aoti_torch_get_strides(TensorHandle t, int64_t** out) {
  return fact(t, out, [](const Tensor& x) { return const_cast<int64_t*>(x.strides().data()); });
}
RL_ABI Status aoti_torch_get_stride(TensorHandle t, int64_t d, int64_t* out) {
  return fact(t, out, [&](const Tensor& x) { return x.stride(d); });
}
RL_ABI Status aoti_torch_get_storage_offset(TensorHandle t, int64_t* out) {
  return fact(t, out, [](const Tensor& x) { return x.offset(); });
}
RL_ABI Status aoti_torch_get_storage_size(TensorHandle t, int64_t* out) {
  return fact(t, out, [](const Tensor& x) { return int64_t(x.storage()->nbytes()); });
}
RL_ABI Status aoti_torch_get_storage_numel(TensorHandle t, int64_t* out) {
  return fact(t, out, [](const Tensor& x) {
    return int64_t(x.storage()->nbytes()) / x.itemsize();
  });
}
RL_ABI Status torch_has_storage(TensorHandle t, bool* out) {
  return fact(t, out, [](const Tensor& x) { return x.storage().get() != nullptr; });
}
RL_ABI Status aoti_torch_get_dtype(TensorHandle t, int32_t* out) {
  return fact(t, out, [](const Tensor& x) { return int32_t(x.dtype()); });
}
RL_ABI Status aoti_torch_get_layout(TensorHandle t, int32_t* out) {
  return fact(t, out, [](const Tensor& x) { return int32_t(x.layout()); });
}
RL_ABI Status aoti_torch_get_device_type(TensorHandle t, int32_t* out) {
  return fact(t, out, [](const Tensor& x) { return int32_t(x.device().type); });
}
RL_ABI Status aoti_torch_get_device_index(TensorHandle t, int32_t* out) {
  return fact(t, out, [](const Tensor& x) { return int32_t(x.device().index); });
}
RL_ABI Status aoti_torch_is_contiguous(TensorHandle t, bool* out) {
  return fact(t, out, [](const Tensor& x) { return x.is_contiguous(); });
}

// ---- memory
namespace {
template <class P>
Status data_of(TensorHandle t, P** out) {
  return fact(t, out, [](const Tensor& x) -> void* {
    check(x.storage().get() != nullptr,
          "Cannot access data pointer of Tensor that doesn't have storage");
    return x.is_meta() || x.numel() == 0 ? nullptr : x.data();
  });
}
}  // namespace

RL_ABI Status aoti_torch_get_data_ptr(TensorHandle t, void** out) { return data_of(t, out); }
RL_ABI Status torch_get_mutable_data_ptr(TensorHandle t, void** out) { return data_of(t, out); }
RL_ABI Status torch_get_const_data_ptr(TensorHandle t, const void** out) {
  return data_of(t, out);
}

namespace {
struct Blob {  // memory that the caller of torch_from_blob lends
  void (*release)(void* data, void* context);
  void* context;
};
void release_blob(void* ctx, void* data, size_t) {
  auto* blob = static_cast<Blob*>(ctx);
  if (blob->release) blob->release(data, blob->context);
  delete blob;
}

Tensor from_blob(void* data, IntRef sizes, IntRef strides, int64_t offset, DType dtype,
                 Device device, Blob blob) {
  check(device.is_cpu(), "from_blob: no memory of device ", device, " here");
  check(offset >= 0, "from_blob: negative storage offset ", offset);
  int64_t bytes = storage_bytes_needed(sizes, strides, offset, itemsize(dtype));
  auto storage = make_intrusive<Storage>(data, size_t(bytes), release_blob, new Blob(blob));
  auto impl = make_intrusive<TensorImpl>(std::move(storage), dtype, device);
  impl->offset = offset;
  impl->sizes = sizes;
  impl->strides = strides;
  impl->refresh();
  return Tensor(std::move(impl));
}
}  // namespace

RL_ABI Status torch_from_blob(void* data, int64_t ndim, const int64_t* sizes,
                              const int64_t* strides, int64_t offset, int32_t dtype,
                              int32_t device_type, int32_t device_index, TensorHandle* out,
                              int32_t layout, const uint8_t*, int64_t,
                              void (*release)(void*, void*), void* context) {
  return guarded([&] {
    check_plain(&layout, nullptr);
    give(out, from_blob(data, IntRef(sizes, size_t(ndim)), IntRef(strides, size_t(ndim)), offset,
                        make_dtype(dtype), make_device(device_type, device_index),
                        Blob{release, context}));
  });
}
RL_ABI Status aoti_torch_create_tensor_from_blob_v2(
    void* data, int64_t ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
    int32_t dtype, int32_t device_type, int32_t device_index, TensorHandle* out, int32_t layout,
    const uint8_t* opaque, int64_t opaque_size) {
  return torch_from_blob(data, ndim, sizes, strides, offset, dtype, device_type, device_index,
                         out, layout, opaque, opaque_size, nullptr, nullptr);
}
RL_ABI Status aoti_torch_create_tensor_from_blob(void* data, int64_t ndim, const int64_t* sizes,
                                                 const int64_t* strides, int64_t offset,
                                                 int32_t dtype, int32_t device_type,
                                                 int32_t device_index, TensorHandle* out) {
  return torch_from_blob(data, ndim, sizes, strides, offset, dtype, device_type, device_index,
                         out, 0, nullptr, 0, nullptr, nullptr);
}

// ---- new tensors
RL_ABI Status aoti_torch_empty_strided(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                                       int32_t dtype, int32_t device_type, int32_t device_index,
                                       TensorHandle* out) {
  return guarded([&] {
    give(out, empty_strided(IntRef(sizes, size_t(ndim)), IntRef(strides, size_t(ndim)),
                            make_dtype(dtype), make_device(device_type, device_index)));
  });
}
RL_ABI Status aoti_torch_aten_full(const int64_t* size, int64_t ndim, double value,
                                   int32_t* dtype, int32_t* layout, int32_t* device,
                                   int32_t device_index, int32_t* pin_memory, TensorHandle* out) {
  return guarded([&] {
    check_plain(layout, pin_memory);
    give(out, full(IntRef(size, size_t(ndim)), Scalar(value), dtype_code(dtype),
                   device_code(device, device_index)));
  });
}
RL_ABI Status aoti_torch_aten_new_empty(TensorHandle self, const int64_t* size, int64_t ndim,
                                        int32_t* dtype, int32_t* layout, int32_t* device,
                                        int32_t device_index, int32_t* pin_memory,
                                        TensorHandle* out) {
  return guarded([&] {
    check_plain(layout, pin_memory);
    give(out, new_empty(*self, IntRef(size, size_t(ndim)), dtype_code(dtype),
                        device_code(device, device_index)));
  });
}
RL_ABI Status aoti_torch_aten_new_zeros(TensorHandle self, const int64_t* size, int64_t ndim,
                                        int32_t* dtype, int32_t* layout, int32_t* device,
                                        int32_t device_index, int32_t* pin_memory,
                                        TensorHandle* out) {
  return guarded([&] {
    check_plain(layout, pin_memory);
    give(out, new_zeros(*self, IntRef(size, size_t(ndim)), dtype_code(dtype),
                        device_code(device, device_index)));
  });
}
RL_ABI Status aoti_torch_clone(TensorHandle self, TensorHandle* out) {
  return guarded([&] { give(out, clone(*self)); });
}

// ---- operators
RL_ABI Status aoti_torch_aten_narrow(TensorHandle self, int64_t dim, int64_t start,
                                     int64_t length, TensorHandle* out) {
  return guarded([&] { give(out, narrow(*self, dim, start, length)); });
}
RL_ABI Status aoti_torch_aten_subtract_Tensor(TensorHandle self, TensorHandle other, double alpha,
                                              TensorHandle* out) {
  return guarded([&] { give(out, sub(*self, *other, Scalar(alpha))); });
}
RL_ABI Status aoti_torch_aten_amax(TensorHandle self, const int64_t* dim, int64_t n,
                                   int32_t keepdim, TensorHandle* out) {
  return guarded([&] { give(out, amax(*self, IntRef(dim, size_t(n)), keepdim != 0)); });
}
RL_ABI Status aoti_torch_aten_fill__Scalar(TensorHandle self, double value) {
  return guarded([&] { fill_(*self, Scalar(value)); });
}
RL_ABI Status aoti_torch_aten_pad(TensorHandle self, const int64_t* pad, int64_t n,
                                  const char* mode, double* value, TensorHandle* out) {
  return guarded([&] {
    give(out, rl::pad(*self, IntRef(pad, size_t(n)), mode,
                      value ? std::optional<double>(*value) : std::nullopt));
  });
}
RL_ABI Status aoti_torch_mm_out(TensorHandle out, TensorHandle self, TensorHandle other) {
  return guarded([&] { mm_out(*self, *other, *out); });
}
RL_ABI Status aoti_torch_bmm_out(TensorHandle out, TensorHandle self, TensorHandle other) {
  return guarded([&] { bmm_out(*self, *other, *out); });
}
RL_ABI Status aoti_torch_view_as_real(TensorHandle self, TensorHandle* out) {
  return guarded([&] { give(out, view_as_real(*self)); });
}
RL_ABI Status aoti_torch_view_dtype(TensorHandle self, int32_t dtype, TensorHandle* out) {
  return guarded([&] { give(out, view(*self, make_dtype(dtype))); });
}
RL_ABI Status aoti_torch_zero_(TensorHandle self) {
  return guarded([&] { zero_(*self); });
}
RL_ABI Status aoti_torch_copy_(TensorHandle self, TensorHandle source, int32_t non_blocking) {
  return guarded([&] { copy_(*self, *source, non_blocking != 0); });
}
RL_ABI Status aoti_torch_as_strided(TensorHandle self, const int64_t* sizes,
                                    const int64_t* strides, TensorHandle* out) {
  return guarded([&] {
    size_t n = size_t(self->dim());
    give(out, as_strided(*self, IntRef(sizes, n), IntRef(strides, n)));
  });
}
RL_ABI Status aoti_torch__reinterpret_tensor(TensorHandle self, int64_t ndim,
                                             const int64_t* sizes, const int64_t* strides,
                                             int64_t offset_increment, TensorHandle* out) {
  return guarded([&] {
    size_t n = size_t(ndim);
    give(out, alias(*self, IntRef(sizes, n), IntRef(strides, n),
                    self->offset() + offset_increment));
  });
}
RL_ABI Status torch_set_requires_grad(TensorHandle self, bool on) {
  return guarded([&] { set_requires_grad(*self, on); });
}

#define RL_ITEM(name, T, get)                                         \
  RL_ABI Status aoti_torch_item_##name(TensorHandle t, T* out) {      \
    return fact(t, out, [](const Tensor& x) { return T(item(x).get()); }); \
  }
RL_ITEM(float32, float, to_double)
RL_ITEM(float64, double, to_double)
RL_ITEM(uint8, uint8_t, to_int)
RL_ITEM(uint16, uint16_t, to_int)
RL_ITEM(uint32, uint32_t, to_int)
RL_ITEM(uint64, uint64_t, to_int)
RL_ITEM(int8, int8_t, to_int)
RL_ITEM(int16, int16_t, to_int)
RL_ITEM(int32, int32_t, to_int)
RL_ITEM(int64, int64_t, to_int)
RL_ITEM(bool, bool, to_int)

#define RL_SCALAR_TENSOR(name, T, W, dtype)                                           \
  RL_ABI Status aoti_torch_scalar_to_tensor_##name(T value, TensorHandle* out) {      \
    return guarded([&] { give(out, scalar_tensor(Scalar(W(value)), dtype)); });       \
  }
RL_SCALAR_TENSOR(float32, float, double, DType::Float)
RL_SCALAR_TENSOR(float64, double, double, DType::Double)
RL_SCALAR_TENSOR(uint8, uint8_t, int64_t, DType::UInt8)
RL_SCALAR_TENSOR(uint16, uint16_t, int64_t, DType::UInt16)
RL_SCALAR_TENSOR(uint32, uint32_t, int64_t, DType::UInt32)
RL_SCALAR_TENSOR(uint64, uint64_t, int64_t, DType::UInt64)
RL_SCALAR_TENSOR(int8, int8_t, int64_t, DType::Int8)
RL_SCALAR_TENSOR(int16, int16_t, int64_t, DType::Int16)
RL_SCALAR_TENSOR(int32, int32_t, int64_t, DType::Int32)
RL_SCALAR_TENSOR(int64, int64_t, int64_t, DType::Int64)
RL_SCALAR_TENSOR(bool, bool, bool, DType::Bool)
