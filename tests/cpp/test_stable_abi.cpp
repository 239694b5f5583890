// The stable C ABI without Python: an extension is opened, its operators are found and called, and
// errors come back as codes. tests/python/test_stable_abi.py has the rest.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

#include "abi/library.h"

using namespace rl;
using namespace rl::abi;

RL_ABI Status torch_call_dispatcher(const char*, const char*, StableValue*, uint64_t);
RL_ABI const char* torch_exception_get_what();
RL_ABI Status aoti_torch_library_init_def(const char*, const char*, uint32_t, void**);
RL_ABI Status torch_parse_device_string(const char*, uint32_t*, int32_t*);

namespace rl {
void register_generated_ops();  // gen/registry.cpp
}

namespace {

struct Extension : testing::Test {
  static void SetUpTestSuite() {
    register_generated_ops();
    ASSERT_TRUE(dlopen(RL_STANDINS "/libtorch_cpu.so", RTLD_NOW | RTLD_GLOBAL)) << dlerror();
    handle = dlopen(RL_EXTENSION, RTLD_NOW);
    ASSERT_TRUE(handle) << dlerror();
  }
  static void TearDownTestSuite() {
    dlclose(handle);
    for (const Definition& d : definitions()) EXPECT_FALSE(d.alive) << d.qualified;
  }
  static inline void* handle = nullptr;
};

Tensor numbers() { return tensor_from_ints(std::vector<int64_t>{1, 2, 3, 4}); }

TEST_F(Extension, IsRegistered) {
  std::vector<Definition> all = definitions();
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[0].qualified, "rlabi::scale");
  EXPECT_EQ(kernels()[0].key, "CPU");
}

TEST_F(Extension, CallsBack) {
  Tensor x = empty_tensor(std::vector<int64_t>{3}, DType::Float);
  for (int i = 0; i < 3; ++i) x.data<float>()[i] = float(i);
  StableValue stack[1] = {to_stable(IValue(x), Type{})};
  ASSERT_EQ(torch_call_dispatcher("rlabi::twice", "", stack, 0), 0) << torch_exception_get_what();
  Tensor y = from_stable(stack[0], Type{}).tensor();
  EXPECT_EQ(y.data<float>()[2], 4.0f);
  EXPECT_EQ(x.use_count(), 1u);  // every handle was given back
  EXPECT_EQ(y.use_count(), 1u);
}

TEST_F(Extension, ErrorsAreCodes) {
  StableValue stack[3] = {to_stable(IValue(numbers()), Type{}), 0, 0};
  EXPECT_EQ(torch_call_dispatcher("rlabi::scale", "", stack, 0), 1);
  EXPECT_STREQ(torch_exception_get_what(), "scale: expected float32");
  EXPECT_EQ(torch_call_dispatcher("aten::nope", "", stack, 0), 1);
  EXPECT_STREQ(torch_exception_get_what(), "Could not find schema for aten::nope.");
  void* library;
  EXPECT_EQ(aoti_torch_library_init_def("rlabi", "here.cpp", 1, &library), 1);
  EXPECT_TRUE(std::strstr(torch_exception_get_what(), "Only a single TORCH_LIBRARY"));
  uint32_t type;
  int32_t index;
  EXPECT_EQ(torch_parse_device_string("cuda:3", &type, &index), 0);
  EXPECT_EQ(type, 1u);
  EXPECT_EQ(index, 3);
  EXPECT_EQ(torch_parse_device_string("foo", &type, &index), 1);
}

TEST(Schema, IsPrintedAsRead) {
  for (const char* text : {
           "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
           "a::b(Tensor(a!)[] x, int[2] k=1, int[] p=[0, 1], str s=\"x y\") -> (Tensor[], int)",
           "a::c(Tensor(a -> *) x, float[]? f=None, bool b=True, float e=1.5) -> Tensor(a)[]",
           "a::d(Dict(str, Tensor) d, Device? dev=None, ...) -> ()",
           "a::e((int, float)[] pairs, Future(t) f, __torch__.torch.classes.x.Y q) -> t",
           "a::f(float x=1., float y=-0.5, Tensor?[] l, complex c) -> Tensor?"})
    EXPECT_EQ(str(parse_schema(text)), text);
}

TEST(Schema, MistakesAreErrors) {
  for (const char* text : {"f", "f(", "f(Tensor x", "f(Tensor x -> Tensor", "f(Tenso x) -> Tensor",
                           "f(Tensor x)", "f(Tensor) -> Tensor", "f(Tensor x) -> Tensor y z",
                           "f(int x=) -> int", "f(str s=\"abc) -> int", "f(int[2 x) -> int"})
    EXPECT_THROW(parse_schema(text), Error) << text;
}

}  // namespace
