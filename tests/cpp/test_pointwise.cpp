// Element-wise operators by hand: loops, descriptors, and what run_pointwise does with layouts,
// dtypes and outputs. Generated operators look the same (see kernels/iter/pointwise.h).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/functors/activation.h"
#include "kernels/functors/arith.h"
#include "kernels/functors/compare.h"
#include "kernels/functors/math.h"
#include "kernels/functors/select.h"
#include "kernels/iter/pointwise.h"
#include "kernels/iter/pointwise_loops.h"

// What a generated file in kernels/cpu would hold, once per instruction set.
namespace rl::cpu::RL_ISA {
#define MODEL_REAL RL_TYPES(float, double, uint8_t, int8_t, int16_t, int32_t, int64_t)
RL_POINTWISE(t_add, functor::add_, RL_TYPES(float, double, int32_t, int64_t, cfloat), alpha)
RL_POINTWISE(t_relu, functor::relu_, MODEL_REAL)
RL_POINTWISE(t_eq, functor::eq_, RL_TYPES(float, double, int64_t, bool, cfloat))
RL_POINTWISE(t_where, functor::where_, RL_TYPES(float, double, int64_t, bool))
RL_POINTWISE(t_exp, functor::exp_, RL_TYPES(float, double))
}  // namespace rl::cpu::RL_ISA

namespace rl {
namespace {

using Table = cpu::KernelTable<InnerLoop(DType)>;
#define MODEL_TABLE(name)                                                  \
  constexpr Table name##_table{{cpu::RL_ISA::name##_loop, cpu::RL_ISA::name##_loop, \
                                cpu::RL_ISA::name##_loop}};
MODEL_TABLE(t_add)
MODEL_TABLE(t_relu)
MODEL_TABLE(t_eq)
MODEL_TABLE(t_where)
MODEL_TABLE(t_exp)

constexpr PointwiseOp add_op = {.name = "add", .error_name = "add_stub", .inputs = 2,
                                .loop = &t_add_table, .check_attrs = check_alpha};
constexpr PointwiseOp relu_op = {.name = "relu", .dtypes = kRealDTypes, .loop = &t_relu_table};
constexpr PointwiseOp eq_op = {.name = "eq", .inputs = 2, .results = {Result::Bool},
                               .loop = &t_eq_table};
constexpr PointwiseOp where_op = {.name = "where", .inputs = 3, .fixed = {DType::Bool},
                                  .loop = &t_where_table};
constexpr PointwiseOp exp_op = {.name = "exp", .promote = Promote::ToFloat, .loop = &t_exp_table,
                                .cost = 8};

Tensor add(const Tensor& a, const Tensor& b, Scalar alpha = 1, const Tensor* out = nullptr) {
  return run_pointwise(add_op, {&a, &b}, &alpha, out);
}

template <class T>
Tensor make(IntRef sizes, DType d = dtype_of<T>) {
  Tensor t = empty_tensor(sizes, d);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<T>()[i] = T(float(i));
  return t;
}

template <class T>
T at(const Tensor& t, std::initializer_list<int64_t> index) {
  int64_t offset = 0;
  size_t d = 0;
  for (int64_t i : index) offset += i * t.strides()[d++];
  return t.data<T>()[offset];
}

std::string message(auto f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Pointwise, PlainAndTails) {
  for (int64_t n : {0, 1, 3, 8, 16, 17, 100, 1000, 70001}) {
    Tensor a = make<float>({n}), r = add(a, a, 2);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(r.data<float>()[i], 3 * float(i));
  }
}

TEST(Pointwise, BroadcastsAndPromotes) {
  Tensor a = make<float>({3, 1, 5}), b = make<int64_t>({4, 1});
  Tensor r = add(a, b);
  EXPECT_EQ(r.dtype(), DType::Float);
  EXPECT_EQ(r.sizes(), IntRef({3, 4, 5}));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t k = 0; k < 5; ++k)
        ASSERT_EQ(at<float>(r, {i, j, k}), float(i * 5 + k + j));
  EXPECT_EQ(add(make<int32_t>({2}), wrapped_number(Scalar(2))).dtype(), DType::Int32);
  EXPECT_EQ(add(make<int32_t>({2}), wrapped_number(Scalar(2.5))).dtype(), DType::Float);
  EXPECT_EQ(add(make<half>({2}), wrapped_number(Scalar(2.5))).dtype(), DType::Half);
  EXPECT_EQ(add(make<half>({2}), make<float>({})).dtype(), DType::Half);
}

TEST(Pointwise, LongRowsWithBroadcast) {
  Tensor a = make<float>({7, 1000}), b = make<float>({1000}), c = make<float>({7, 1});
  Tensor r = add(a, b), q = add(a, c);
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t k = 0; k < 1000; ++k) {
      ASSERT_EQ(at<float>(r, {i, k}), float(i * 1000 + 2 * k));
      ASSERT_EQ(at<float>(q, {i, k}), float(i * 1000 + k + i));
    }
}

TEST(Pointwise, KeepsMemoryOrder) {
  Tensor x = empty_format({2, 3, 4, 5}, DType::Float, {}, MemoryFormat::ChannelsLast);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = float(i);
  EXPECT_TRUE(add(x, x).is_contiguous(MemoryFormat::ChannelsLast));
  Tensor bias = make<float>({3, 1, 1});
  Tensor r = add(x, bias);
  EXPECT_TRUE(r.is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_EQ(at<float>(r, {1, 2, 3, 4}), at<float>(x, {1, 2, 3, 4}) + 2);
  Tensor t = alias(make<float>({3, 4}), {4, 3}, {1, 4}, 0);
  EXPECT_EQ(add(t, t).strides(), IntRef({1, 4}));
  EXPECT_EQ(add(t, wrapped_number(Scalar(1.0))).strides(), IntRef({1, 4}));
}

TEST(Pointwise, HalfThroughFloat) {
  Tensor a = make<half>({1500}), r = add(a, a);
  EXPECT_EQ(r.dtype(), DType::Half);
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(float(r.data<half>()[i]), float(2 * i));
  Tensor e = run_pointwise(exp_op, {&a});
  EXPECT_EQ(e.dtype(), DType::Half);
  EXPECT_EQ(float(e.data<half>()[0]), 1.0f);
}

TEST(Pointwise, IntToFloat) {
  Tensor a = make<int64_t>({20}), r = run_pointwise(exp_op, {&a});
  EXPECT_EQ(r.dtype(), DType::Float);
  for (int i = 0; i < 20; ++i)
    EXPECT_NEAR(r.data<float>()[i] / std::exp(double(i)), 1.0, 1e-6);
}

TEST(Pointwise, CompareAndWhere) {
  Tensor a = make<float>({100}), b = add(a, wrapped_number(Scalar(0)));
  b.data<float>()[7] = -1;
  Tensor m = run_pointwise(eq_op, {&a, &b});
  ASSERT_EQ(m.dtype(), DType::Bool);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(m.data<bool>()[i], i != 7);
  Tensor two = wrapped_number(Scalar(2));
  Tensor w = run_pointwise(where_op, {&m, &a, &two});
  EXPECT_EQ(w.dtype(), DType::Float);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(w.data<float>()[i], i == 7 ? 2.0f : float(i));
}

TEST(Pointwise, InPlaceAndOut) {
  Tensor a = make<float>({2, 3}), b = make<float>({3});
  Scalar one(1);
  Tensor r = add(a, b, 1, &a);
  EXPECT_TRUE(r.is_same(a));
  EXPECT_EQ(at<float>(a, {1, 2}), 7.0f);
  EXPECT_EQ(message([&] { add(b, a, 1, &b); }),
            "output with shape [3] doesn't match the broadcast shape [2, 3]");
  Tensor i = make<int32_t>({3});
  EXPECT_EQ(message([&] { add(i, b, 1, &i); }),
            "result type Float can't be cast to the desired output type Int");
  Tensor d = empty_tensor({0}, DType::Double);
  add(a, b, 1, &d);
  EXPECT_EQ(d.sizes(), IntRef({2, 3}));
  EXPECT_EQ(at<double>(d, {1, 2}), 9.0);
  EXPECT_EQ(message([&] { add(i, i, 1.5); }),
            "For integral input tensors, argument alpha must not be a floating point number.");
  Tensor flag = make<bool>({3});
  EXPECT_EQ(message([&] { run_pointwise(relu_op, {&flag}); }),
            "\"relu\" not implemented for 'Bool'");
  EXPECT_EQ(message([&] { add(make<float>({3}), make<float>({4})); }),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
            "dimension 0");
}

TEST(Pointwise, Meta) {
  Tensor a = empty_tensor({2, 3}, DType::Half, Device{DeviceType::Meta, -1});
  Tensor r = add(a, a);
  EXPECT_TRUE(r.is_meta());
  EXPECT_EQ(r.dtype(), DType::Half);
}

}  // namespace
}  // namespace rl
