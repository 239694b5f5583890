// TensorImpl and Tensor, the handle. Neither has operator methods: kernels that see a Tensor never
// rebuild because an operator was declared. The public torch::Tensor (include/torch) adds the
// methods.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/intrusive_ptr.h"
#include "base/small_vec.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/scalar.h"
#include "core/storage.h"
#include "core/tls.h"

namespace rl {

struct TensorImpl;
class Tensor;

// Counts in-place writes to one memory. Shared by views and detach(); a fresh tensor has none until
// somebody needs one.
struct VersionCounter : RefCounted {
  std::atomic<uint32_t> value{0};
};

// What autograd attaches to a tensor (autograd/meta.h defines it). Here only its life time.
struct AutogradMeta;
void destroy(AutogradMeta* m) noexcept;
struct AutogradMetaDeleter {
  void operator()(AutogradMeta* m) const noexcept { destroy(m); }
};

// Called when the last C++ reference goes while a Python object is attached
// (python/tensor_object.cpp).
extern bool (*python_last_release)(TensorImpl*);

enum class ImplKind : uint8_t { Strided, Sparse, SparseCsr, Batched, Dual, Python };

struct TensorImpl : RefCounted {
  TensorImpl(StoragePtr storage, DType dtype, Device device)
      : storage(std::move(storage)), dtype(dtype), device(device) {}
  ~TensorImpl() override = default;
  void* operator new(size_t n);
  void operator delete(void* p, size_t n);

  StoragePtr storage;           // null for kinds without memory of their own
  int64_t offset = 0;           // in elements
  int64_t numel = 0;
  Dims sizes, strides;          // in elements
  DType dtype;
  Device device;
  ImplKind kind = ImplKind::Strided;
  bool contiguous = true;       // row-major; kept by refresh()
  bool wrapped_number = false;  // made from a Python number: weaker in type promotion
  bool inference = false;       // made inside inference_mode
  bool requires_grad = false;   // leaf flag, or has a grad_fn: one byte tested by every operator
  bool has_forward_grad = false;
  bool python_subclass = false; // its Python type is not plain torch.Tensor
  bool dispatches = false;      // its Python type defines __torch_dispatch__
  intrusive_ptr<VersionCounter> version;
  std::unique_ptr<AutogradMeta, AutogradMetaDeleter> autograd;
  void* python = nullptr;       // PyObject*, owned by it or owning it (python/tensor_object.cpp)

  void refresh();               // recompute numel and contiguous after sizes/strides changed
  void set_contiguous(IntRef sizes);

 protected:
  void last_release() override {
    if (python && python_last_release(this)) return;
    delete this;
  }
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl> p) : p_(std::move(p)) {}
  explicit Tensor(TensorImpl* p) : p_(p) {}

  bool defined() const { return bool(p_); }
  explicit operator bool() const = delete;
  TensorImpl* impl() const { return p_.get(); }
  TensorImpl* operator->() const { return p_.get(); }
  TensorImpl* release() { return p_.detach(); }
  bool is_same(const Tensor& o) const { return p_.get() == o.p_.get(); }
  uint32_t use_count() const { return p_ ? p_->use_count() : 0; }
  void reset() { p_.reset(); }

  DType dtype() const { return p_->dtype; }
  Device device() const { return p_->device; }
  bool is_meta() const { return p_->device.is_meta(); }
  int64_t dim() const { return int64_t(p_->sizes.size()); }
  int64_t numel() const { return p_->numel; }
  IntRef sizes() const { return p_->sizes; }
  IntRef strides() const { return p_->strides; }
  int64_t size(int64_t d) const;    // negative dims allowed; IndexError out of range
  int64_t stride(int64_t d) const;
  int64_t itemsize() const { return rl::itemsize(p_->dtype); }
  int64_t nbytes() const { return p_->numel * itemsize(); }
  int64_t offset() const { return p_->offset; }
  bool is_contiguous() const { return p_->contiguous; }
  bool is_contiguous(MemoryFormat f) const;
  bool is_sparse() const { return p_->kind == ImplKind::Sparse; }
  bool is_sparse_csr() const { return p_->kind == ImplKind::SparseCsr; }
  Layout layout() const;
  bool is_complex() const { return rl::is_complex(p_->dtype); }
  bool is_floating() const { return rl::is_floating(p_->dtype); }
  bool requires_grad() const { return p_->requires_grad; }
  bool is_wrapped_number() const { return p_->wrapped_number; }
  const StoragePtr& storage() const { return p_->storage; }
  // The first element. A tensor without memory (meta, sparse, a freed storage) is refused unless
  // it is empty: then null.
  void* data() const {
    const Storage* s = p_->storage.get();
    char* base = s ? static_cast<char*>(s->data()) : nullptr;
    if (!base) [[unlikely]] return data_of_none();
    return base + p_->offset * itemsize();
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(data());
  }
  uint32_t version() const { return p_->version ? p_->version->value.load() : 0; }

 private:
  void* data_of_none() const;
  intrusive_ptr<TensorImpl> p_;
};

using TensorList = ArrayRef<Tensor>;

struct Options {  // of a tensor about to be made
  DType dtype = default_dtype();
  Device device = {};
};
inline Options options_of(const Tensor& t) { return {t.dtype(), t.device()}; }

// ---- making tensors without operators (no autograd, no modes)
Tensor empty_tensor(IntRef sizes, DType dtype, Device device = {});
Tensor empty_strided_tensor(IntRef sizes, IntRef strides, DType dtype, Device device = {});
Tensor empty_format(IntRef sizes, DType dtype, Device device, MemoryFormat f);
// Same sizes; strides as `like` where it is dense and does not overlap (PyTorch's preserve_format).
Tensor empty_like_tensor(const Tensor& like, DType dtype);
Tensor wrapped_number(const Scalar& s);            // 0-dim, weak in promotion
Tensor scalar_tensor(const Scalar& s, DType dtype);
Tensor tensor_from_ints(ArrayRef<int64_t> v);
// A new impl over the same storage, sharing the version counter; no autograd.
Tensor alias(const Tensor& t);
Tensor alias(const Tensor& t, IntRef sizes, IntRef strides, int64_t offset);
// Same storage but a version counter of its own (x.data).
Tensor shallow_copy(const Tensor& t);
Scalar item(const Tensor& t);  // of a one-element CPU tensor; no autograd

// ---- versions
VersionCounter& version_counter(const Tensor& t);  // made on demand
void share_version(const Tensor& of, const Tensor& with);
inline void bump_version(const Tensor& t) {
  version_counter(t).value.fetch_add(1, std::memory_order_relaxed);
}

// ---- geometry
int64_t wrap_dim(int64_t dim, int64_t ndim);       // IndexError; a 0-dim tensor counts as 1-dim
Dims contiguous_strides(IntRef sizes);
Dims channels_last_strides(IntRef sizes);          // 4-d or 5-d
int64_t numel_of(IntRef sizes);                    // checks negative sizes and overflow
Dims broadcast_shapes(IntRef a, IntRef b);         // Runtime error with PyTorch's words
bool is_non_overlapping_and_dense(IntRef sizes, IntRef strides);
MemoryFormat suggest_memory_format(const Tensor& t);
// Bytes of storage that sizes/strides/offset reach into.
int64_t storage_bytes_needed(IntRef sizes, IntRef strides, int64_t offset, int64_t itemsize);
// Resize in place (out= and resize_): grows the storage when needed; contiguous afterwards.
void resize_impl(const Tensor& t, IntRef sizes);
bool has_internal_overlap(const Tensor& t);        // some stride 0 with size > 1 and similar
void check_no_internal_overlap(const Tensor& t);
void check_no_partial_overlap(const Tensor& a, const Tensor& b);

}  // namespace rl
