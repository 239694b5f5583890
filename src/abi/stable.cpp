// Stable values, lists, strings and the last error of the C ABI.
#include "abi/stable.h"

#include <cstring>
#include <exception>

#include "base/warn.h"
#include "core/generator.h"

namespace rl::abi {
namespace {

using Kind = Type::Kind;
using Tag = IValue::Tag;

thread_local std::string last_error;

template <class T>
StableValue bits(T v) {
  StableValue out = 0;
  std::memcpy(&out, &v, sizeof v);
  return out;
}
template <class T>
T from_bits(StableValue v) {
  T out;
  std::memcpy(&out, &v, sizeof out);
  return out;
}
template <class T>
StableValue handle(T* p) {
  return bits(p);
}

std::vector<IValue> items_of(const IValue& v) {
  std::vector<IValue> out;
  auto copy = [&](const auto& list) {
    for (auto&& x : list) {
      if constexpr (std::is_same_v<std::decay_t<decltype(list)>, std::vector<bool>>)
        out.push_back(IValue(bool(x)));
      else
        out.push_back(IValue(x));
    }
  };
  switch (v.tag()) {
    case Tag::IntList: copy(std::get<std::vector<int64_t>>(v.v)); break;
    case Tag::FloatList: copy(std::get<std::vector<double>>(v.v)); break;
    case Tag::BoolList: copy(std::get<std::vector<bool>>(v.v)); break;
    case Tag::TensorList: copy(std::get<std::vector<Tensor>>(v.v)); break;
    case Tag::ScalarList: copy(std::get<std::vector<Scalar>>(v.v)); break;
    case Tag::List: return std::get<std::vector<IValue>>(v.v);
    default: fail_as(ErrorKind::Type, "expected a list in a boxed call");
  }
  return out;
}

[[noreturn]] void unsupported(const char* from, const char* to, const Type& type) {
  fail("Not yet supported conversion from ", from, " to ", to, " for schema type: ", type);
}

DType dtype_in(const IValue& v) {
  if (auto* d = std::get_if<DType>(&v.v)) return *d;
  return make_dtype(int32_t(Unboxer<int64_t>(v).get()));
}
Device device_in(const IValue& v) {
  if (auto* s = std::get_if<std::string>(&v.v)) return parse_device(*s);
  return std::get<Device>(v.v);
}
template <class E>
int32_t code_in(const IValue& v) {
  if (auto* e = std::get_if<E>(&v.v)) return int32_t(*e);
  return int32_t(Unboxer<int64_t>(v).get());
}
bool bool_in(const IValue& v) {
  if (auto* b = std::get_if<bool>(&v.v)) return *b;
  return Unboxer<int64_t>(v).get() != 0;
}

StableValue list_to_stable(const IValue& value, const Type& type) {
  auto list = std::make_unique<StableList>();
  for (const IValue& x : items_of(value)) list->items.push_back(to_stable(x, type.element()));
  return handle(list.release());
}

// Lists of one kind in the form that operators take them.
IValue list_from_stable(StableValue value, const Type& type) {
  std::unique_ptr<StableList> list(from_bits<StableList*>(value));
  auto gather = [&](auto convert) {
    std::vector<decltype(convert(IValue()))> out;
    for (StableValue x : list->items) out.push_back(convert(from_stable(x, type.element())));
    return IValue(std::move(out));
  };
  switch (type.element().kind) {
    case Kind::Int: case Kind::SymInt:
      return gather([](const IValue& v) { return std::get<int64_t>(v.v); });
    case Kind::Float: return gather([](const IValue& v) { return std::get<double>(v.v); });
    case Kind::Bool: return gather([](const IValue& v) { return std::get<bool>(v.v); });
    case Kind::Tensor: return gather([](const IValue& v) { return Unboxer<Tensor>(v).value; });
    default: return gather([](const IValue& v) { return v; });
  }
}

}  // namespace

DType make_dtype(int32_t code) {
  check(code >= 0 && code < kNumDTypes && itemsize(DType(code)) > 0,
        "the element type with code ", code, " is not implemented");
  return DType(code);
}

StableValue to_stable(const IValue& value, const Type& type) {
  switch (type.kind) {
    case Kind::Tensor: return handle(new_handle(Unboxer<Tensor>(value).value));
    case Kind::Int: case Kind::SymInt: return bits(Unboxer<int64_t>(value).get());
    case Kind::Float: return bits(Unboxer<double>(value).get());
    case Kind::Bool: case Kind::SymBool: return bits(bool_in(value));
    case Kind::Str: return handle(new std::string(std::get<std::string>(value.v)));
    case Kind::ScalarType: return bits(int32_t(dtype_in(value)));
    case Kind::Layout: return bits(code_in<Layout>(value));
    case Kind::MemoryFormat: return bits(code_in<MemoryFormat>(value));
    case Kind::Device: {
      Device d = device_in(value);
      return uint64_t(uint32_t(int32_t(d.index))) | uint64_t(d.type) << 32;
    }
    case Kind::Generator: return handle(new Generator*(std::get<Generator*>(value.v)));
    case Kind::Optional:
      return value.is_none() ? 0 : handle(new StableValue(to_stable(value, type.element())));
    case Kind::List: return list_to_stable(value, type);
    default: unsupported("IValue", "StableIValue", type);
  }
}

IValue from_stable(StableValue value, const Type& type) {
  switch (type.kind) {
    case Kind::Tensor: {
      std::unique_ptr<Tensor> t(from_bits<TensorHandle>(value));
      return box(*t);
    }
    case Kind::Int: case Kind::SymInt: return IValue(from_bits<int64_t>(value));
    case Kind::Float: return IValue(from_bits<double>(value));
    case Kind::Bool: case Kind::SymBool: return IValue((value & 0xff) != 0);
    case Kind::Str: {
      std::unique_ptr<std::string> s(from_bits<StringHandle>(value));
      return IValue(std::move(*s));
    }
    case Kind::ScalarType: return IValue(make_dtype(from_bits<int32_t>(value)));
    case Kind::Layout: return IValue(Layout(from_bits<int32_t>(value)));
    case Kind::MemoryFormat: return IValue(MemoryFormat(from_bits<int32_t>(value)));
    case Kind::Device:
      return IValue(make_device(int32_t(value >> 32), int32_t(uint32_t(value))));
    case Kind::Generator: {
      std::unique_ptr<Generator*> g(from_bits<Generator**>(value));
      return IValue(*g);
    }
    case Kind::Optional: {
      if (!value) return IValue();
      std::unique_ptr<StableValue> inner(from_bits<StableValue*>(value));
      return from_stable(*inner, type.element());
    }
    case Kind::List: return list_from_stable(value, type);
    default: unsupported("StableIValue", "IValue", type);
  }
}

void remember_exception() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    last_error = e.what();
  } catch (...) {
    last_error = "unknown exception";
  }
}

}  // namespace rl::abi

using namespace rl;
using namespace rl::abi;

// ---- errors
RL_ABI const char* torch_exception_get_what() { return last_error.c_str(); }
RL_ABI const char* torch_exception_get_what_without_backtrace() { return last_error.c_str(); }

RL_ABI void aoti_torch_warn(const char*, const char*, uint32_t, const char* message) {
  guarded([&] { warn(message); });
}
RL_ABI void aoti_torch_check(bool ok, const char* function, const char* file, uint32_t line,
                             const char* message) {
  check(ok, message);
}

// ---- values on the heap, for optionals
RL_ABI Status torch_new_stable_ivalue(StableValue** out) {
  return guarded([&] { *out = new StableValue(0); });
}
RL_ABI Status torch_delete_stable_ivalue(StableValue* value) {
  delete value;
  return 0;
}

// ---- generators
RL_ABI Status torch_new_generator_handle(Generator** g, Generator*** out) {
  return guarded([&] { *out = new Generator*(*g); });
}
RL_ABI Status torch_delete_generator(Generator** g) {
  delete g;
  return 0;
}
RL_ABI Status torch_generator_get_device(Generator**, int32_t* type, int32_t* index) {
  *type = int32_t(DeviceType::CPU);
  *index = -1;
  return 0;
}

// ---- strings
RL_ABI Status torch_new_string_handle(const char* data, size_t length, StringHandle* out) {
  return guarded([&] { *out = new std::string(data, length); });
}
RL_ABI Status torch_delete_string(StringHandle s) {
  delete s;
  return 0;
}
RL_ABI Status torch_string_length(StringHandle s, size_t* out) {
  *out = s->size();
  return 0;
}
RL_ABI Status torch_string_c_str(StringHandle s, const char** out) {
  *out = s->c_str();
  return 0;
}

// ---- lists
namespace {
StableValue& item_at(StableList* list, size_t i) {
  check_index(i < list->items.size(), "list index ", int64_t(i), " out of range for ",
              int64_t(list->items.size()), " elements");
  return list->items[i];
}
}  // namespace

RL_ABI Status torch_new_list_reserve_size(size_t n, StableList** out) {
  return guarded([&] {
    auto list = std::make_unique<StableList>();
    list->items.reserve(n);
    *out = list.release();
  });
}
RL_ABI Status torch_delete_list(StableList* list) {
  delete list;
  return 0;
}
RL_ABI Status torch_list_size(StableList* list, size_t* out) {
  *out = list->items.size();
  return 0;
}
RL_ABI Status torch_list_get_item(StableList* list, size_t i, StableValue* out) {
  return guarded([&] { *out = item_at(list, i); });
}
RL_ABI Status torch_list_set_item(StableList* list, size_t i, StableValue value) {
  return guarded([&] { item_at(list, i) = value; });
}
RL_ABI Status torch_list_push_back(StableList* list, StableValue value) {
  return guarded([&] { list->items.push_back(value); });
}
