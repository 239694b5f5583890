// TensorImpl, and making tensors without operators. Geometry lives in geometry.cpp.
#include "core/tensor.h"

#include <algorithm>
#include <cstring>

#include "core/sparse.h"

namespace rl {

bool (*python_last_release)(TensorImpl*) = [](TensorImpl*) { return false; };

namespace {

// Impl-sized blocks are recycled per thread: making a small tensor must not reach malloc.
constexpr int kKeep = 36;
struct ImplPool {
  void* slots[kKeep];
  int count = 0;
  ~ImplPool() {
    while (count) ::operator delete(slots[--count]);
    count = -1;
  }
};
thread_local ImplPool pool;

Tensor make(IntRef sizes, DType dtype, Device device, int64_t numel) {
  auto storage = make_intrusive<Storage>(size_t(numel * itemsize(dtype)), device);
  Tensor t(new TensorImpl(std::move(storage), dtype, device));
  t->inference = tls.inference_mode;
  return t;
}

template <class T>
void put(const Tensor& t, const Scalar& s) {
  *t.data<T>() = s.to<T>();
}

}  // namespace

void* TensorImpl::operator new(size_t n) {
  if (n == sizeof(TensorImpl) && pool.count > 0) return pool.slots[--pool.count];
  return ::operator new(n < sizeof(TensorImpl) ? sizeof(TensorImpl) : n);
}

void TensorImpl::operator delete(void* p, size_t n) {
  if (n == sizeof(TensorImpl) && pool.count >= 0 && pool.count < kKeep) {
    pool.slots[pool.count++] = p;
    return;
  }
  ::operator delete(p);
}

[[gnu::cold]] void* Tensor::data_of_none() const {
  if (numel() == 0) return nullptr;
  check_implemented(!is_meta(), "Cannot access the data of a meta tensor: it has none");
  check_implemented(p_->kind == ImplKind::Strided, "Cannot access the data of a tensor of layout ",
                    layout_name(layout()), " as strided memory");
  fail("The tensor has a non-zero number of elements, but its data is not allocated yet");
}

Tensor empty_tensor(IntRef sizes, DType dtype, Device device) {
  const int64_t n = numel_of(sizes);
  int64_t bytes;
  check(!__builtin_mul_overflow(n, itemsize(dtype), &bytes),
        "Storage size calculation overflowed with sizes=", sizes);
  Tensor t = make(sizes, dtype, device, n);
  t->set_contiguous(sizes);
  return t;
}

Tensor empty_strided_tensor(IntRef sizes, IntRef strides, DType dtype, Device device) {
  check(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  for (int64_t s : strides)
    check(s >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ",
          strides);
  numel_of(sizes);
  const int64_t bytes = storage_bytes_needed(sizes, strides, 0, rl::itemsize(dtype));
  auto storage = make_intrusive<Storage>(size_t(bytes), device);
  Tensor t(new TensorImpl(std::move(storage), dtype, device));
  t->inference = tls.inference_mode;
  t->sizes = sizes;
  t->strides = strides;
  t->refresh();
  return t;
}

Tensor empty_format(IntRef sizes, DType dtype, Device device, MemoryFormat f) {
  if (f == MemoryFormat::Contiguous || f == MemoryFormat::Preserve)
    return empty_tensor(sizes, dtype, device);
  const size_t want = f == MemoryFormat::ChannelsLast ? 4 : 5;
  check(sizes.size() == want, "required rank ", want, " tensor to use channels_last",
        want == 5 ? "_3d" : "", " format");
  return empty_strided_tensor(sizes, channels_last_strides(sizes), dtype, device);
}

namespace {

// Should dimension a (now faster) change places with b? 1: yes, -1: no, 0: strides of 0 do not
// tell.
int compare_dims(const Tensor& t, int64_t a, int64_t b) {
  const int64_t x = t.strides()[size_t(a)], y = t.strides()[size_t(b)];
  if (x == 0 || y == 0) return 0;
  if (x != y) return x < y ? -1 : 1;
  return t.sizes()[size_t(a)] > t.sizes()[size_t(b)] ? 1 : 0;
}

// Dimensions from fastest to slowest by their strides; those that do not tell stay where they are.
Dims memory_order(const Tensor& t) {
  Dims order;
  for (int64_t d = t.dim(); d-- > 0;) order.push_back(d);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t at = i;
    for (size_t j = i; j-- > 0;) {
      const int c = compare_dims(t, order[j], order[at]);
      if (c < 0) break;
      if (c == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

}  // namespace

Tensor empty_like_tensor(const Tensor& like, DType dtype) {
  if (like.is_contiguous()) return empty_tensor(like.sizes(), dtype, like.device());
  if (is_non_overlapping_and_dense(like.sizes(), like.strides()))
    return empty_strided_tensor(like.sizes(), like.strides(), dtype, like.device());
  Dims strides(size_t(like.dim()));
  int64_t step = 1;
  for (int64_t d : memory_order(like)) {
    strides[size_t(d)] = step;
    step *= std::max<int64_t>(like.sizes()[size_t(d)], 1);
  }
  return empty_strided_tensor(like.sizes(), strides, dtype, like.device());
}

Tensor scalar_tensor(const Scalar& s, DType dtype) {
  Tensor t = empty_tensor({}, dtype);
  visit(AllTypesAndUInts{}, dtype, "scalar_tensor", [&]<class T>() { put<T>(t, s); });
  return t;
}

Tensor wrapped_number(const Scalar& s) {
  DType d = DType::Double;
  if (s.is_bool()) d = DType::Bool;
  else if (s.is_int()) d = DType::Int64;
  else if (s.is_complex()) d = DType::ComplexDouble;
  Tensor t = scalar_tensor(s, d);
  t->wrapped_number = true;
  return t;
}

Tensor tensor_from_ints(ArrayRef<int64_t> v) {
  Tensor t = empty_tensor({int64_t(v.size())}, DType::Int64);
  if (!v.empty()) std::memcpy(t.data(), v.data(), v.size() * sizeof(int64_t));
  return t;
}

Tensor alias(const Tensor& t, IntRef sizes, IntRef strides, int64_t offset) {
  check_implemented(!is_sparse_kind(t), "Cannot access storage of a tensor of layout ",
                    layout_name(t.layout()));
  Tensor out(new TensorImpl(t.storage(), t.dtype(), t.device()));
  out->sizes = sizes;
  out->strides = strides;
  out->offset = offset;
  out->refresh();
  out->inference = t->inference;
  // Without memory no kernel may ever take it for an ordinary tensor.
  if (t->dispatches) [[unlikely]] out->dispatches = !t.storage() || !t.storage()->data();
  share_version(t, out);
  return out;
}

Tensor alias(const Tensor& t) {
  if (is_sparse_kind(t)) return sparse_alias(t);
  return alias(t, t.sizes(), t.strides(), t.offset());
}

Tensor shallow_copy(const Tensor& t) {
  Tensor out = alias(t);
  out->version.reset();
  return out;
}

static float float8_value(const Tensor& t) {
  const uint8_t bits = *static_cast<const uint8_t*>(t.data());
  switch (t.dtype()) {
    case DType::Float8_e5m2: return float8_e5m2::from_bits(bits);
    case DType::Float8_e4m3fn: return float8_e4m3fn::from_bits(bits);
    case DType::Float8_e5m2fnuz: return float8_e5m2fnuz::from_bits(bits);
    case DType::Float8_e4m3fnuz: return float8_e4m3fnuz::from_bits(bits);
    default: return float8_e8m0fnu::from_bits(bits);
  }
}

Scalar item(const Tensor& t) {
  check(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  check(!t.is_meta(), "Tensor.item() cannot be called on meta tensors");
  check_implemented(t->kind != ImplKind::Batched, "vmap: It looks like you're calling .item() on a "
                    "Tensor. We don't support vmap over calling .item() on a Tensor");
  if (is_sparse_kind(t)) {
    const Tensor& values = sparse_impl(t).values;
    check(values.numel() < 2, "item(): coalesce a sparse tensor with repeated places first");
    return values.numel() ? item(alias(values, {}, {}, values.offset()))
                          : item(scalar_tensor(Scalar(0), t.dtype()));
  }
  check(t.storage() && t.storage()->data(),
        "Cannot access data pointer of Tensor that doesn't have storage");
  if (is_float8(t.dtype())) return Scalar(double(float8_value(t)));
  Scalar s;
  visit(AllTypesAndUInts{}, t.dtype(), "item", [&]<class T>() {
    if constexpr (!std::is_same_v<T, float8_e5m2> && !std::is_same_v<T, float8_e4m3fn>)
      s = Scalar(*t.data<T>());
  });
  return s;
}

VersionCounter& version_counter(const Tensor& t) {
  if (!t->version) t->version = make_intrusive<VersionCounter>();
  return *t->version;
}

void share_version(const Tensor& of, const Tensor& with) {
  version_counter(of);
  with->version = of->version;
}

}  // namespace rl
