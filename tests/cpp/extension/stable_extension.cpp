// An extension as others build them: it knows only the C functions of the stable ABI and the name
// libtorch_cpu.so. Registers the operators rlabi::*, most of which call back. Used by
// tests/cpp/test_stable_abi.cpp and tests/python/test_stable_abi.py.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

using Value = uint64_t;
using Tensor = void*;
using Kernel = void (*)(Value*, uint64_t, uint64_t);

extern "C" {
int32_t aoti_torch_library_init_def(const char*, const char*, uint32_t, void**);
int32_t aoti_torch_library_init_impl(const char*, const char*, const char*, uint32_t, void**);
int32_t aoti_torch_library_def(void*, const char*);
int32_t aoti_torch_delete_library_object(void*);
int32_t torch_library_impl(void*, const char*, Kernel, uint64_t);
int32_t torch_call_dispatcher(const char*, const char*, Value*, uint64_t);
uint64_t aoti_torch_abi_version();
int32_t aoti_torch_delete_tensor_object(Tensor);
int32_t aoti_torch_new_tensor_handle(Tensor, Tensor*);
int32_t aoti_torch_get_numel(Tensor, int64_t*);
int32_t aoti_torch_get_dtype(Tensor, int32_t*);
int32_t aoti_torch_dtype_float32();
int32_t torch_get_mutable_data_ptr(Tensor, void**);
int32_t torch_get_const_data_ptr(Tensor, const void**);
int32_t torch_from_blob(void*, int64_t, const int64_t*, const int64_t*, int64_t, int32_t, int32_t,
                        int32_t, Tensor*, int32_t, const uint8_t*, int64_t,
                        void (*)(void*, void*), void*);
int32_t torch_new_list_reserve_size(size_t, void**);
int32_t torch_list_push_back(void*, Value);
int32_t torch_list_size(void*, size_t*);
int32_t torch_list_get_item(void*, size_t, Value*);
int32_t torch_delete_list(void*);
int32_t torch_new_stable_ivalue(Value**);
int32_t torch_new_string_handle(const char*, size_t, void**);
int32_t torch_string_c_str(void*, const char**);
int32_t torch_library_def_with_tags(void*, const char*, const int32_t*, size_t);
int32_t torch_tag_pointwise();
int32_t torch_generator_get_device(void*, int32_t*, int32_t*);
int32_t torch_delete_generator(void*);
int32_t torch_tensor_from_pyobject(void*, Tensor*);
int32_t torch_tensor_to_pyobject(Tensor, void*, void**);
int32_t torch_parallel_for(int64_t, int64_t, int64_t, void (*)(int64_t, int64_t, void*), void*);
const char* torch_exception_get_what_without_backtrace();
}

namespace {

void check(int32_t status) {
  if (status) throw std::runtime_error(torch_exception_get_what_without_backtrace());
}
template <class T>
Value bits(T v) {
  Value out = 0;
  std::memcpy(&out, &v, sizeof v);
  return out;
}
template <class T>
T from(Value v) {
  T out;
  std::memcpy(&out, &v, sizeof out);
  return out;
}

struct Owned {
  Tensor handle;
  ~Owned() { aoti_torch_delete_tensor_object(handle); }
};

Tensor empty_like(Tensor t) {
  Tensor copy;
  check(aoti_torch_new_tensor_handle(t, &copy));
  Value stack[6] = {bits(copy)};  // dtype, layout, device, pin_memory, memory_format: none
  check(torch_call_dispatcher("aten::empty_like", "", stack, aoti_torch_abi_version()));
  return from<Tensor>(stack[0]);
}

struct Scale {
  const float* in;
  float* out;
  float factor;
};
// rlabi::scale(Tensor x, float factor=2.0, *, int? grain=None) -> Tensor
void scale(Value* stack, uint64_t, uint64_t) {
  Owned x{from<Tensor>(stack[0])};
  int32_t dtype;
  check(aoti_torch_get_dtype(x.handle, &dtype));
  if (dtype != aoti_torch_dtype_float32()) throw std::runtime_error("scale: expected float32");
  int64_t n, grain = 1 << 20;
  if (auto* given = from<Value*>(stack[2])) {
    grain = from<int64_t>(*given);
    delete given;
  }
  check(aoti_torch_get_numel(x.handle, &n));
  Tensor out = empty_like(x.handle);
  Scale work{nullptr, nullptr, float(from<double>(stack[1]))};
  const void* in;
  void* to;
  check(torch_get_const_data_ptr(x.handle, &in));
  check(torch_get_mutable_data_ptr(out, &to));
  work.in = static_cast<const float*>(in);
  work.out = static_cast<float*>(to);
  check(torch_parallel_for(0, n, grain, [](int64_t b, int64_t e, void* p) {
    auto& w = *static_cast<Scale*>(p);
    for (int64_t i = b; i < e; ++i) w.out[i] = w.in[i] * w.factor;
  }, &work));
  stack[0] = bits(out);
}

// rlabi::twice(Tensor x) -> Tensor: through the dispatcher, so with whatever is registered there
void twice(Value* stack, uint64_t, uint64_t) {
  Value call[3] = {stack[0], bits(2.0), 0};
  check(torch_call_dispatcher("rlabi::scale", "", call, aoti_torch_abi_version()));
  stack[0] = call[0];
}

// rlabi::sums(Tensor x, int[] dims) -> (Tensor, Tensor): kept and dropped dimensions
void sums(Value* stack, uint64_t, uint64_t) {
  Tensor x = from<Tensor>(stack[0]), other;
  check(aoti_torch_new_tensor_handle(x, &other));
  void* dims = from<void*>(stack[1]);
  size_t n;
  check(torch_list_size(dims, &n));
  void* lists[2];
  for (void*& list : lists) {
    check(torch_new_list_reserve_size(n, &list));
    for (size_t i = 0; i < n; ++i) {
      Value d;
      check(torch_list_get_item(dims, i, &d));
      check(torch_list_push_back(list, d));
    }
  }
  check(torch_delete_list(dims));
  Tensor inputs[2] = {x, other};
  for (int keep = 0; keep < 2; ++keep) {
    Value* optional;
    check(torch_new_stable_ivalue(&optional));
    *optional = bits(lists[keep]);
    Value call[4] = {bits(inputs[keep]), bits(optional), bits(keep == 1), 0};
    check(torch_call_dispatcher("aten::sum", "dim_IntList", call, aoti_torch_abi_version()));
    stack[keep] = call[0];
  }
}

// rlabi::parts(Tensor x, int n) -> Tensor[]: n handles of the same tensor
void parts(Value* stack, uint64_t, uint64_t) {
  Owned x{from<Tensor>(stack[0])};
  void* list;
  check(torch_new_list_reserve_size(0, &list));
  for (int64_t i = 0; i < from<int64_t>(stack[1]); ++i) {
    Tensor t;
    check(aoti_torch_new_tensor_handle(x.handle, &t));
    check(torch_list_push_back(list, bits(t)));
  }
  stack[0] = bits(list);
}

// rlabi::same(Device d, ScalarType t, bool b, int i, str s, float? f, Layout l, MemoryFormat m)
//   -> (Device, ScalarType, bool, int, str, float?, Layout, MemoryFormat): the encodings
void same(Value*, uint64_t, uint64_t) {}

// rlabi::codes(Device d, ScalarType t, str s) -> (int, int, str): the encodings as numbers
void codes(Value* stack, uint64_t, uint64_t) {
  const char* text;
  check(torch_string_c_str(from<void*>(stack[2]), &text));
  std::string doubled = std::string(text) + text;
  void* out;
  check(torch_new_string_handle(doubled.data(), doubled.size(), &out));
  stack[2] = bits(out);
}

// rlabi::drawn(Tensor x, Generator? g) -> Tensor: hands the generator on
void drawn(Value* stack, uint64_t, uint64_t) {
  if (auto* g = from<Value*>(stack[1])) {
    int32_t type = -1, index;
    check(torch_generator_get_device(from<void*>(*g), &type, &index));
    if (type != 0) throw std::runtime_error("a generator of another device");
  }
  Value call[4] = {stack[0], bits(0.0), bits(1.0), stack[1]};
  check(torch_call_dispatcher("aten::uniform_", "", call, aoti_torch_abi_version()));
  stack[0] = call[0];
}

int deleted = 0;
float memory[4] = {1, 2, 3, 4};
// rlabi::borrowed() -> Tensor: memory of the extension
void borrowed(Value* stack, uint64_t, uint64_t) {
  int64_t sizes[1] = {4}, strides[1] = {1};
  Tensor t;
  check(torch_from_blob(memory, 1, sizes, strides, 0, aoti_torch_dtype_float32(), 0, -1, &t, 0,
                        nullptr, 0, [](void*, void* count) { ++*static_cast<int*>(count); },
                        &deleted));
  stack[0] = bits(t);
}
// rlabi::returned() -> int: how often that memory was given back
void returned(Value* stack, uint64_t, uint64_t) { stack[0] = bits(int64_t(deleted)); }

// rlabi::fails(Tensor x) -> Tensor: an operator that is not there
void fails(Value* stack, uint64_t, uint64_t) {
  check(torch_call_dispatcher("aten::no_such_operator", "", stack, aoti_torch_abi_version()));
}

}  // namespace

// For ctypes: the object again, through a handle.
extern "C" int32_t rlabi_same_object(void* object, void** out) {
  Tensor t;
  if (torch_tensor_from_pyobject(object, &t)) return 1;
  int32_t status = torch_tensor_to_pyobject(t, nullptr, out);
  aoti_torch_delete_tensor_object(t);
  return status;
}

namespace {

struct Libraries {
  void *define, *cpu, *all;
  Libraries() {
    check(aoti_torch_library_init_def("rlabi", __FILE__, __LINE__, &define));
    for (const char* schema : {
             "scale(Tensor x, float factor=2.0, *, int? grain=None) -> Tensor",
             "twice(Tensor x) -> Tensor", "sums(Tensor x, int[] dims) -> (Tensor, Tensor)",
             "parts(Tensor x, int n) -> Tensor[]",
             "same(Device d, ScalarType t, bool b, int i, str s, float? f, Layout l, "
             "MemoryFormat m) -> (Device, ScalarType, bool, int, str, float?, Layout, "
             "MemoryFormat)",
             "codes(Device d, ScalarType t, str s) -> (int, int, str)", "borrowed() -> Tensor",
             "returned() -> int", "fails(Tensor x) -> Tensor"})
      check(aoti_torch_library_def(define, schema));
    int32_t tags[1] = {torch_tag_pointwise()};
    check(torch_library_def_with_tags(define, "drawn(Tensor(a!) x, Generator? g) -> Tensor(a!)",
                                      tags, 1));
    check(aoti_torch_library_init_impl("rlabi", "CPU", __FILE__, __LINE__, &cpu));
    check(aoti_torch_library_init_impl("rlabi", "CompositeExplicitAutograd", __FILE__, __LINE__,
                                       &all));
    auto add = [](void* lib, const char* name, Kernel k) {
      check(torch_library_impl(lib, name, k, aoti_torch_abi_version()));
    };
    add(cpu, "scale", scale);
    add(cpu, "twice", twice);
    add(cpu, "sums", sums);
    add(cpu, "parts", parts);
    add(cpu, "drawn", drawn);
    add(all, "same", same);
    add(all, "codes", codes);
    add(all, "borrowed", borrowed);
    add(all, "returned", returned);
    add(all, "fails", fails);
  }
  ~Libraries() {
    for (void* lib : {all, cpu, define}) aoti_torch_delete_library_object(lib);
  }
} libraries;

}  // namespace
