// kernels/conv.h: every element type must agree with float, which test_onednn.cpp checks against
// plain loops. Small integers as values make float, bfloat16 inputs and double exact or close.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/parallel.h"
#include "kernels/conv.h"

using namespace rl;

namespace {

struct Data {
  std::vector<float> src, weight, bias, dst;
};

std::vector<float> numbers(int64_t n, unsigned seed) {
  std::vector<float> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = float(int(seed >> 28) - 8) / 8;
  }
  return v;
}

template <class T>
std::vector<T> as(const std::vector<float>& v) {
  return std::vector<T>(v.begin(), v.end());
}
template <class T>
double real(T x) {
  if constexpr (std::is_same_v<T, cfloat> || std::is_same_v<T, cdouble>) return double(x.real());
  else return double(float(x));
}

template <class T>
void expect_equal(const std::vector<float>& want, const std::vector<T>& got, double tolerance) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(want[i], real(got[i]), tolerance * (1 + std::abs(want[i]))) << "at " << i;
  }
}

template <class T>
void compare(const Conv& p, int64_t src, int64_t weight, int64_t dst, double tolerance) {
  const Data f{numbers(src, 1), numbers(weight, 2), numbers(p.out_channels, 3), numbers(dst, 4)};
  std::vector<float> y(dst), dx(src), dw(weight), db(p.out_channels);
  const DType F = DType::Float, D = dtype_of<T>;
  conv_forward(F, p, f.src.data(), f.weight.data(), f.bias.data(), y.data());
  conv_backward_data(F, p, f.dst.data(), f.weight.data(), dx.data());
  conv_backward_weights(F, p, f.src.data(), f.dst.data(), dw.data());
  conv_backward_bias(F, p, f.dst.data(), db.data());
  const auto a = as<T>(f.src), w = as<T>(f.weight), b = as<T>(f.bias), g = as<T>(f.dst);
  std::vector<T> y2(dst), dx2(src), dw2(weight), db2(p.out_channels);
  conv_forward(D, p, a.data(), w.data(), b.data(), y2.data());
  conv_backward_data(D, p, g.data(), w.data(), dx2.data());
  conv_backward_weights(D, p, a.data(), g.data(), dw2.data());
  conv_backward_bias(D, p, g.data(), db2.data());
  expect_equal(y, y2, tolerance);
  expect_equal(dx, dx2, tolerance);
  expect_equal(dw, dw2, tolerance);
  expect_equal(db, db2, tolerance);
}

// groups, stride, dilation
constexpr std::array<int64_t, 3> kCases[] = {{1, 1, 1}, {2, 2, 1}, {4, 1, 2}};

template <class T>
void try_type(double tolerance) {
  set_num_threads(1);
  for (int spatial = 1; spatial <= 3; ++spatial)
    for (bool transposed : {false, true})
      for (int layout = 0; layout < 8; ++layout)
        for (auto [groups, stride, dilation] : kCases) {
          SCOPED_TRACE(testing::Message() << spatial << "d transposed " << transposed << " layout "
                                          << layout << " groups " << groups);
          Conv p;
          p.spatial = spatial, p.transposed = transposed, p.groups = groups;
          p.src_last = layout & 1, p.dst_last = layout & 2, p.weight_last = layout & 4;
          p.n = 2, p.in_channels = 8, p.out_channels = 4;
          int64_t src = 16, dst = 8, weight = 32 / groups;
          for (int i = 0; i < spatial; ++i) {
            p.in[i] = 6 - i, p.kernel[i] = i == 1 ? 2 : 3, p.padding[i] = 1;
            p.stride[i] = stride, p.dilation[i] = dilation;
            const int64_t span = (p.kernel[i] - 1) * dilation + 1;
            p.out[i] = transposed ? (p.in[i] - 1) * stride - 2 + span
                                  : (p.in[i] + 2 - span) / stride + 1;
            src *= p.in[i], dst *= p.out[i], weight *= p.kernel[i];
          }
          compare<T>(p, src, weight, dst, tolerance);
        }
}

TEST(Conv, Double) { try_type<double>(1e-5); }
TEST(Conv, ComplexFloat) { try_type<cfloat>(1e-5); }
TEST(Conv, BFloat16) { try_type<bfloat16>(1e-2); }
TEST(Conv, Half) { try_type<half>(1e-3); }

}  // namespace
