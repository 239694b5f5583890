// What generated wrappers use to record an operator: stored copies of borrowed arguments, tensor
// facts, and the helpers of Node::apply. Nothing here knows an operator.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autograd/node.h"
#include "core/tensor_info.h"

namespace rl {

// store(x): a copy that outlives the call; load(x): the argument again.
struct StoredInts {
  bool has = false;
  Dims values;
  operator std::optional<IntRef>() const {
    return has ? std::optional<IntRef>(IntRef(values)) : std::nullopt;
  }
  explicit operator bool() const { return has; }
  IntRef operator*() const { return values; }
};
struct StoredFloats {
  bool has = false;
  std::vector<double> values;
  operator std::optional<ArrayRef<double>>() const {
    return has ? std::optional<ArrayRef<double>>(ArrayRef<double>(values)) : std::nullopt;
  }
};
template <class T>
const T& store(const T& v) {
  return v;
}
inline Dims store(IntRef v) { return v; }
inline std::string store(std::string_view v) { return std::string(v); }
inline std::vector<double> store(ArrayRef<double> v) { return v.vec(); }
inline std::vector<Scalar> store(ArrayRef<Scalar> v) { return v.vec(); }
inline std::vector<Tensor> store(TensorList v) { return v.vec(); }
inline StoredInts store(const std::optional<IntRef>& v) {
  return v ? StoredInts{true, Dims(*v)} : StoredInts{};
}
inline StoredFloats store(const std::optional<ArrayRef<double>>& v) {
  return v ? StoredFloats{true, v->vec()} : StoredFloats{};
}
inline std::optional<std::string> store(const std::optional<std::string_view>& v) {
  return v ? std::optional<std::string>(*v) : std::nullopt;
}
template <class T>
const T& load(const T& v) {
  return v;
}
inline IntRef load(const Dims& v) { return v; }

// For grad_fn._saved_<name>.
template <class T>
IValue box_stored(const T& v) {
  return box(v);
}
inline IValue box_stored(const Dims& v) { return box(IntRef(v)); }
inline IValue box_stored(const std::string& v) { return box(std::string_view(v)); }
inline IValue box_stored(const StoredInts& v) { return v.has ? box(IntRef(v.values)) : IValue(); }
inline IValue box_stored(const StoredFloats& v) {
  return v.has ? box(ArrayRef<double>(v.values)) : IValue();
}
inline IValue box_stored(const std::vector<double>& v) { return box(ArrayRef<double>(v)); }
inline IValue box_stored(const std::vector<Scalar>& v) { return box(ArrayRef<Scalar>(v)); }
inline IValue box_stored(const std::optional<std::string>& v) {
  return v ? box(std::string_view(*v)) : IValue();
}

// ---- inside Node::apply
inline bool none_defined(const Grads& g) {
  for (const Tensor& t : g)
    if (t.defined()) return false;
  return true;
}
Tensor grad_or_zeros(const Node& n, const Grads& g, size_t i);
inline bool any_edge(const std::vector<Edge>& edges, size_t from, size_t n) {
  for (size_t i = from; i < from + n; ++i)
    if (edges[i].node) return true;
  return false;
}
inline void put_list(Grads& out, size_t at, std::vector<Tensor>&& list) {
  for (size_t i = 0; i < list.size() && at + i < out.size(); ++i) out[at + i] = std::move(list[i]);
}
template <size_t N>
bool any_of(const std::array<bool, N>& mask) {
  for (bool b : mask)
    if (b) return true;
  return false;
}

// ---- sparse arguments (core/sparse.h)
template <class... T>
bool any_sparse(const T&... t) {
  auto one = [](const auto& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Tensor>) {
      return x.defined() && x->kind != ImplKind::Strided;
    } else {
      for (const Tensor& y : x)
        if (y.defined() && y->kind != ImplKind::Strided) return true;
      return false;
    }
  };
  return (one(t) || ...);
}
// Throws NotImplementedError: this operator has no form for such arguments.
[[noreturn]] void refuse_sparse(const OpInfo& op, TensorList args);
inline TensorList as_list(const Tensor& t) { return {&t, 1}; }
inline TensorList as_list(TensorList l) { return l; }
template <class... T>
void check_strided(const OpInfo& op, const T&... t) {
  if (any_sparse(t...)) [[unlikely]]
    ((any_sparse(t) ? refuse_sparse(op, as_list(t)) : void()), ...);
}
namespace sparse {
// The same places with f(values): for functions that keep zero.
Tensor map_values(const Tensor& self, const std::function<Tensor(const Tensor&)>& f);
// `self` (in place, out=) becomes or takes over `value`; either may be sparse.
void assign(const Tensor& self, const Tensor& value, const char* name);
}  // namespace sparse

// ---- inside wrappers
[[noreturn]] void refuse_devices(const char* name, const Tensor& first, const Tensor& other);
// Numbers and 0-dim CPU tensors go with every device; a meta tensor in the first place makes the
// call one about geometry only, which never looks at the others' memory.
struct SameDevice {
  const Tensor *first = nullptr, *other = nullptr;
  void see(const Tensor& t) {
    if (!t.defined() || (t.dim() == 0 && t.device().is_cpu())) return;
    if (!first) first = &t;
    else if (!(t.device() == first->device()) && !first->is_meta()) other = &t;
  }
  void see(TensorList l) {
    for (const Tensor& t : l) see(t);
  }
};
[[noreturn]] void refuse_out_device(Device out, Device result);
template <class... T>
void check_out_device(const Tensor& out, const T&... args) {
  SameDevice s;
  (s.see(args), ...);
  const Device result = s.first ? s.first->device() : Device{};
  if (!(out.device() == result)) [[unlikely]] refuse_out_device(out.device(), result);
}
template <class... T>
void check_same_device(const char* name, const T&... args) {
  SameDevice s;
  (s.see(args), ...);
  if (s.other) [[unlikely]] refuse_devices(name, *s.first, *s.other);
}
Tensor native_clone(
    const Tensor& t);  // before an in-place operator whose gradient needs the old value
// Results of operators that are not written in place by their kernel: checked, then copied.
void check_inplace_result(const Tensor& self, const Tensor& value, const char* name);
void write_inplace(const Tensor& self, const Tensor& value, const char* name);
void adopt_geometry(const Tensor& self, const Tensor& view);  // transpose_, squeeze_ ...
// `cast`: out may have another dtype that the result can be cast to.
void write_out(const Tensor& out, const Tensor& value, const char* name, bool cast);
void check_out(const char* name, bool any_requires_grad);
// What an operator does not support: a dtype, a gradient by an argument, complex gradients.
void refuse_gradient(const Tensor& t, const char* op, const char* argument);
[[noreturn]] void refuse_complex_gradient(const char* op);
inline void check_takes(DType d, uint32_t mask, const char* name) {
  if (unsigned(d) >= 32 || !(mask >> unsigned(d) & 1)) [[unlikely]] dtype_not_implemented(name, d);
}

}  // namespace rl
