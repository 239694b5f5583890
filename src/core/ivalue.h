// IValue: a boxed argument or result. Only modes (trace, vmap, autocast, profiler, Python
// overrides), the interpreter and custom operators box; the ordinary path never does.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// Generator is only passed through here
#include "core/tensor.h"

namespace rl {

class Generator;

struct IValue;
using Stack = std::vector<IValue>;

// Front-end objects (Python callables, opaque values) carried through unchanged.
struct Opaque : RefCounted {};

struct IValue {
  // The order of alternatives is the order of Tag.
  enum class Tag : uint8_t {
    None, Tensor, Scalar, Int, Float, Bool, Str, DType, Device, Layout, MemoryFormat,
    IntList, FloatList, BoolList, TensorList, ScalarList, List, Generator, Opaque
  };
  using Value = std::variant<std::monostate, rl::Tensor, rl::Scalar, int64_t, double, bool,
                             std::string, rl::DType, rl::Device, rl::Layout, rl::MemoryFormat,
                             std::vector<int64_t>, std::vector<double>, std::vector<bool>,
                             std::vector<rl::Tensor>, std::vector<rl::Scalar>, std::vector<IValue>,
                             rl::Generator*, intrusive_ptr<rl::Opaque>>;
  Value v;

  IValue() = default;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, IValue>)
  IValue(T&& x) : v(std::forward<T>(x)) {}
  Tag tag() const { return Tag(v.index()); }
  bool is_none() const { return tag() == Tag::None; }
  bool is_tensor() const { return tag() == Tag::Tensor; }
  bool is_tensor_list() const { return tag() == Tag::TensorList; }
  const rl::Tensor& tensor() const { return std::get<rl::Tensor>(v); }
  rl::Tensor& tensor() { return std::get<rl::Tensor>(v); }
};

// ---- box / unbox by C++ parameter type (generated code uses nothing else)
inline IValue box(const Tensor& t) { return t.defined() ? IValue(t) : IValue(); }
inline IValue box(const Scalar& s) { return IValue(s); }
inline IValue box(int64_t v) { return IValue(v); }
inline IValue box(double v) { return IValue(v); }
inline IValue box(bool v) { return IValue(v); }
inline IValue box(std::string_view v) { return IValue(std::string(v)); }
inline IValue box(DType v) { return IValue(v); }
inline IValue box(Device v) { return IValue(v); }
inline IValue box(Layout v) { return IValue(v); }
inline IValue box(MemoryFormat v) { return IValue(v); }
inline IValue box(IntRef v) { return IValue(v.vec()); }
inline IValue box(ArrayRef<double> v) { return IValue(v.vec()); }
inline IValue box(TensorList v) { return IValue(v.vec()); }
inline IValue box(ArrayRef<Scalar> v) { return IValue(v.vec()); }
inline IValue box(const std::vector<Tensor>& v) { return IValue(v); }
inline IValue box(Generator* g) { return g ? IValue(g) : IValue(); }
template <class T>
IValue box(const std::optional<T>& v) {
  return v ? box(*v) : IValue();
}

[[noreturn]] void unbox_failed(const IValue& v, const char* want);

// Unboxer<T>: owns what T borrows for the length of a call. get() gives T.
template <class T>
struct Unboxer {
  const T& value;
  explicit Unboxer(const IValue& v) : value(std::get<T>(v.v)) {}
  const T& get() const { return value; }
};
template <>
struct Unboxer<Tensor> {
  Tensor value;
  explicit Unboxer(const IValue& v) {
    if (v.is_tensor()) value = v.tensor();
    else if (!v.is_none()) unbox_failed(v, "Tensor");
  }
  const Tensor& get() const { return value; }
};
template <>
struct Unboxer<Scalar> {
  Scalar value;
  explicit Unboxer(const IValue& v);
  const Scalar& get() const { return value; }
};
template <>
struct Unboxer<int64_t> {
  int64_t value;
  explicit Unboxer(const IValue& v);
  int64_t get() const { return value; }
};
template <>
struct Unboxer<double> {
  double value;
  explicit Unboxer(const IValue& v);
  double get() const { return value; }
};
template <>
struct Unboxer<std::string_view> {
  std::string_view value;
  explicit Unboxer(const IValue& v) : value(std::get<std::string>(v.v)) {}
  std::string_view get() const { return value; }
};
template <>
struct Unboxer<Generator*> {
  Generator* value = nullptr;
  explicit Unboxer(const IValue& v) {
    if (auto* g = std::get_if<Generator*>(&v.v)) value = *g;
  }
  Generator* get() const { return value; }
};
template <>
struct Unboxer<IntRef> {
  std::vector<int64_t> value;
  explicit Unboxer(const IValue& v);
  IntRef get() const { return value; }
};
template <>
struct Unboxer<ArrayRef<double>> {
  std::vector<double> value;
  explicit Unboxer(const IValue& v);
  ArrayRef<double> get() const { return value; }
};
template <>
struct Unboxer<TensorList> {
  std::vector<Tensor> value;
  explicit Unboxer(const IValue& v);
  TensorList get() const { return value; }
};
template <>
struct Unboxer<ArrayRef<Scalar>> {
  std::vector<Scalar> value;
  explicit Unboxer(const IValue& v);
  ArrayRef<Scalar> get() const { return value; }
};
template <class T>
struct Unboxer<std::optional<T>> {
  std::optional<Unboxer<T>> inner;
  explicit Unboxer(const IValue& v) {
    if (!v.is_none()) inner.emplace(v);
  }
  std::optional<T> get() const {
    return inner ? std::optional<T>(inner->get()) : std::nullopt;
  }
};

}  // namespace rl
