// copy_tensor, fills, sequences and cat against element-by-element loops.
#include <gtest/gtest.h>

#include "kernels/iter/copy.h"

namespace rl {
namespace {

double get(const Tensor& t, int64_t flat) {  // element in row-major order
  int64_t offset = t.offset();
  for (int64_t d = t.dim() - 1; d >= 0; --d) {
    offset += flat % t.size(d) * t.stride(d);
    flat /= t.size(d);
  }
  return item(alias(t, {}, {}, offset)).to_double();
}

Tensor counted(IntRef sizes, DType d) {
  Tensor t = empty_tensor(sizes, d);
  arange_into(alias(t, {t.numel()}, {1}, 0), Scalar(0), Scalar(1));
  return t;
}

TEST(Copy, TransposesOfEveryItemSize) {
  for (DType d : {DType::UInt8, DType::Int16, DType::Float, DType::Double}) {
    for (auto [m, n] : {std::pair<int64_t, int64_t>{5, 7}, {16, 16}, {33, 100}, {300, 17}}) {
      Tensor a = counted({m, n}, d), t = alias(a, {n, m}, {1, n}, 0);
      Tensor c = contiguous_tensor(t);
      for (int64_t i = 0; i < n * m; ++i) ASSERT_EQ(get(c, i), get(t, i)) << m << " " << n;
    }
  }
}

TEST(Copy, PermutedBatches) {
  Tensor a = counted({3, 4, 5, 6}, DType::Float);
  const int64_t perms[][4] = {{0, 2, 3, 1}, {3, 2, 1, 0}, {1, 0, 3, 2}, {0, 1, 3, 2}};
  for (auto& p : perms) {
    Dims sizes, strides;
    for (int64_t d : p) sizes.push_back(a.size(d)), strides.push_back(a.stride(d));
    Tensor t = alias(a, sizes, strides, 0);
    Tensor c = contiguous_tensor(t), h = empty_tensor(sizes, DType::Half);
    copy_tensor(h, t);
    for (int64_t i = 0; i < a.numel(); ++i) {
      ASSERT_EQ(get(c, i), get(t, i));
      ASSERT_EQ(get(h, i), get(t, i));
    }
    Tensor back = empty_strided_tensor(sizes, strides, DType::Int32);
    copy_tensor(back, h);
    for (int64_t i = 0; i < a.numel(); ++i) ASSERT_EQ(get(back, i), get(t, i));
  }
}

TEST(Copy, ConvertsBetweenAllDTypes) {
  const DType all[] = {DType::Float, DType::Double, DType::Half, DType::BFloat16, DType::Int64,
                       DType::Int32, DType::Int16, DType::Int8, DType::UInt8, DType::ComplexFloat,
                       DType::ComplexDouble, DType::ComplexHalf, DType::UInt16, DType::UInt32,
                       DType::UInt64, DType::Float8_e4m3fn, DType::Float8_e5m2fnuz};
  Tensor ints = counted({9}, DType::Int64);
  for (DType from : all)
    for (DType to : all) {
      Tensor t = cast_tensor(cast_tensor(cast_tensor(ints, from), to), DType::Double);
      for (int i = 0; i < 7; ++i)
        ASSERT_EQ(get(t, i), i) << scalar_type_name(from) << " " << scalar_type_name(to);
    }
  Tensor b = cast_tensor(ints, DType::Bool);
  EXPECT_EQ(get(b, 0), 0);
  EXPECT_EQ(get(b, 5), 1);
}

TEST(Copy, BroadcastsAndLarge) {
  Tensor out = empty_tensor({4, 3}, DType::Float), row = counted({3}, DType::Int64);
  copy_tensor(out, row);
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(get(out, i), i % 3);
  Tensor big = counted({5000000}, DType::Float), copy = clone_tensor(big);
  for (int64_t i = 0; i < big.numel(); ++i)
    ASSERT_EQ(big.data<float>()[i], copy.data<float>()[i]);
}

TEST(Copy, FillsAndTriangles) {
  Tensor t = empty_tensor({6, 8}, DType::Half);
  fill_tensor(t, Scalar(2.5));
  Tensor every_other = alias(t, {6, 4}, {8, 2}, 0);
  fill_tensor(every_other, Scalar(1));
  for (int64_t i = 0; i < 48; ++i) EXPECT_EQ(get(t, i), i % 2 ? 2.5 : 1.0);
  Tensor e = empty_tensor({3, 4}, DType::Float);
  eye_into(e);
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(get(e, i), i / 4 == i % 4);
  Tensor a = counted({2, 4, 5}, DType::Int32), l = empty_tensor(a.sizes(), DType::Int32);
  tril_into(l, a, 1);
  for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(get(l, i), i % 5 <= i / 5 % 4 + 1 ? get(a, i) : 0);
  triu_into(l, a, -1);
  for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(get(l, i), i % 5 >= i / 5 % 4 - 1 ? get(a, i) : 0);
}

TEST(Copy, SequencesAndCat) {
  Tensor s = empty_tensor({5}, DType::Float);
  linspace_into(s, Scalar(0), Scalar(1), 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(get(s, i), i * 0.25);
  logspace_into(s, Scalar(0), Scalar(4), 5, 2.0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(get(s, i), double(1 << i));
  Tensor a = counted({2, 3}, DType::Float), b = counted({2, 1}, DType::Int32);
  Tensor out = empty_tensor({2, 4}, DType::Float);
  cat_into(out, std::vector<Tensor>{a, b}, 1);
  const double want[] = {0, 1, 2, 0, 3, 4, 5, 1};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(get(out, i), want[i]);
}

}  // namespace
}  // namespace rl
