// Element-wise functors: integer division and shifts, floating-point corner cases, bool results,
// and the rule that a scalar and a vector lane give the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/cpu/vec_convert.h"
#include "kernels/functors/activation.h"
#include "kernels/functors/arith.h"
#include "kernels/functors/bitwise.h"
#include "kernels/functors/compare.h"
#include "kernels/functors/loss.h"
#include "kernels/functors/math.h"
#include "kernels/functors/round.h"
#include "kernels/functors/special.h"

namespace rv = rl::cpu::RL_ISA;
namespace fn = rl::cpu::RL_ISA::functor;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(rl::half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(rl::half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(rl::half(0x1.002p0f).bits, 0x3c00);  // a tie goes to even
  EXPECT_EQ(rl::half(0x1.006p0f).bits, 0x3c02);
  EXPECT_EQ(rl::half(0x1p-25f).bits, 0);
  EXPECT_EQ(rl::half(0x1.8p-25f).bits, 1);
  EXPECT_EQ(rl::bfloat16(0x1.01p0f).bits, 0x3f80);
  EXPECT_EQ(rl::bfloat16(kNaN).bits, 0x7fc0);
  EXPECT_EQ(rl::float8_e4m3fn(1e9f).bits, 0x7e);  // saturates at 448
  EXPECT_EQ(rl::float8_e4m3fn(kNaN).bits, 0x7f);
  EXPECT_EQ(rl::float8_e5m2(1e9f).bits, 0x7c);
}

TEST(Half, EveryCodeSurvivesARoundTrip) {
  for (int i = 0; i < 65536; ++i) {
    auto h = rl::half::from_bits(static_cast<uint16_t>(i));
    auto b = rl::bfloat16::from_bits(static_cast<uint16_t>(i));
    ASSERT_TRUE(float(h) != float(h) || rl::half(float(h)).bits == i) << i;
    ASSERT_TRUE(float(b) != float(b) || rl::bfloat16(float(b)).bits == i) << i;
  }
}

TEST(Half, VectorConversionsAgreeWithScalarOnes) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 65521) {
    float f;
    uint32_t u = static_cast<uint32_t>(bits);
    std::memcpy(&f, &u, 4);
    if (f == f) x.push_back(f);
  }
  auto n = static_cast<int64_t>(x.size());
  std::vector<rl::half> h(x.size());
  std::vector<rl::bfloat16> b(x.size());
  std::vector<float> back(x.size());
  rv::convert_tile(h.data(), x.data(), n);
  rv::convert_tile(b.data(), x.data(), n);
  rv::convert_tile(back.data(), h.data(), n);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(h[i].bits, rl::half(x[i]).bits) << x[i];
    ASSERT_EQ(b[i].bits, rl::bfloat16(x[i]).bits) << x[i];
    ASSERT_TRUE(same_bits(back[i], float(h[i])));
  }
}

TEST(Vec, PartialLoadAndStoreTouchNothingElse) {
  using V = rv::Vec<float>;
  float in[V::size], out[V::size];
  for (int n = 0; n <= V::size; ++n) {
    for (int i = 0; i < V::size; ++i) in[i] = static_cast<float>(i + 1), out[i] = -1;
    V v = V::load_partial(in, n, 7.0f);
    for (int i = 0; i < V::size; ++i) EXPECT_EQ(v[i], i < n ? in[i] : 7.0f);
    v.store_partial(out, n);
    for (int i = 0; i < V::size; ++i) EXPECT_EQ(out[i], i < n ? in[i] : -1.0f);
  }
}

TEST(Vec, BlockSumOrderDoesNotDependOnTheRegisterWidth) {
  using V = rv::Vec<float>;
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = 1.0f / static_cast<float>(i + 3);
  V parts[rv::kBlockParts<float>];
  for (int i = 0; i < rv::kBlockParts<float>; ++i) parts[i] = V::load(x + i * V::size);
  EXPECT_EQ(rv::sum_block(parts), 0x1.febf6cp+0f);
}

TEST(Integers, DivisionFollowsPython) {
  EXPECT_EQ(fn::div_floor_<int>()(-7, 3), -3);
  EXPECT_EQ(fn::div_floor_<int>()(7, -3), -3);
  EXPECT_EQ(fn::div_trunc_<int>()(-7, 3), -2);
  EXPECT_EQ(fn::remainder_<int>()(-7, 3), 2);
  EXPECT_EQ(fn::remainder_<int>()(7, -3), -2);
  EXPECT_EQ(fn::fmod_<int>()(-7, 3), -1);
  EXPECT_EQ(fn::div_floor_<int8_t>()(-128, -1), -128);  // wraps, does not trap
  EXPECT_EQ(fn::remainder_<int64_t>()(INT64_MIN, int64_t(-1)), 0);
  EXPECT_EQ(fn::pow_<int64_t>()(int64_t(2), int64_t(63)), INT64_MIN);  // overflow wraps
  EXPECT_EQ(fn::pow_<int>()(-1, -3), -1);
  EXPECT_EQ(fn::pow_<int>()(2, -3), 0);
  EXPECT_EQ(fn::gcd_<int>()(-12, 18), 6);
  EXPECT_EQ(fn::lcm_<int>()(4, -6), 12);
  EXPECT_EQ(fn::lcm_<int>()(0, 0), 0);
  EXPECT_EQ(fn::add_<int8_t>{2}(int8_t(100), int8_t(100)), int8_t(44));
}

TEST(Integers, ShiftsOutsideTheWidthAreDefined) {
  EXPECT_EQ(fn::bitwise_left_shift_<int>()(1, 32), 0);
  EXPECT_EQ(fn::bitwise_left_shift_<int>()(1, -1), 0);
  EXPECT_EQ(fn::bitwise_right_shift_<int>()(-5, 40), -1);
  EXPECT_EQ(fn::bitwise_right_shift_<int>()(5, 40), 0);
  EXPECT_EQ(fn::bitwise_left_shift_<uint8_t>()(200, 1), 144);
}

TEST(Floats, DivisionCorners) {
  fn::div_floor_<float> floor_div;
  EXPECT_EQ(floor_div(5.5f, -3.0f), -2.0f);
  EXPECT_TRUE(std::isnan(floor_div(kInf, 2.0f)));
  EXPECT_EQ(floor_div(1.0f, 0.0f), kInf);
  EXPECT_TRUE(std::signbit(floor_div(0.0f, -3.0f)));
  fn::remainder_<float> rem;
  EXPECT_NEAR(rem(5.5f, -3.0f), -0.5f, 1e-6);
  EXPECT_TRUE(std::isnan(rem(1.0f, 0.0f)));
  EXPECT_EQ(fn::fmod_<float>()(1e30f, 7.0f), std::fmod(1e30f, 7.0f));
}

TEST(Floats, NaNAndBounds) {
  EXPECT_TRUE(std::isnan(fn::maximum_<float>()(kNaN, 1.0f)));
  EXPECT_TRUE(std::isnan(fn::maximum_<float>()(1.0f, kNaN)));
  EXPECT_EQ(fn::fmax_<float>()(kNaN, 1.0f), 1.0f);
  EXPECT_EQ(fn::fmin_<float>()(1.0f, kNaN), 1.0f);
  EXPECT_EQ((fn::clamp_<float>{3, 2}(0.0f)), 2.0f);
  EXPECT_TRUE(std::isnan(fn::relu_<float>()(kNaN)));
  EXPECT_TRUE(std::signbit(fn::relu_<float>()(-0.0f)));
  EXPECT_EQ(fn::sign_<float>()(kNaN), 0.0f);
  EXPECT_EQ(fn::xlogy_<float>()(0.0f, -1.0f), 0.0f);
  EXPECT_EQ(fn::logaddexp_<float>()(kInf, kInf), kInf);
  EXPECT_EQ(fn::heaviside_<float>()(0.0f, 0.5f), 0.5f);
  EXPECT_EQ(fn::round_<float>()(2.5f), 2.0f);
}

TEST(Floats, PowCorners) {
  fn::pow_<float> p;
  EXPECT_EQ(p(kNaN, 0.0f), 1.0f);
  EXPECT_EQ(p(1.0f, kNaN), 1.0f);
  EXPECT_EQ(p(-0.0f, -3.0f), -kInf);
  EXPECT_EQ(p(-2.0f, 3.0f), -8.0f);
  EXPECT_TRUE(std::isnan(p(-2.0f, 0.5f)));
  EXPECT_EQ(p(-1.0f, kInf), 1.0f);
}

TEST(Complex, QuotientsAndModuli) {
  using C = std::complex<double>;
  C q = fn::div_<C>()(C(1, 2), C(3, -4));
  EXPECT_NEAR(q.real(), -0.2, 1e-15);
  EXPECT_NEAR(q.imag(), 0.4, 1e-15);
  C huge = fn::div_<C>()(C(1e300, 1e300), C(1e300, 1e300));
  EXPECT_EQ(huge, C(1, 0));
  EXPECT_EQ(fn::abs_<C>()(C(3, 4)), 5.0);
  EXPECT_EQ(fn::sgn_<C>()(C(0, 0)), C(0, 0));
}

TEST(Special, KnownValues) {
  EXPECT_NEAR(fn::digamma_<double>()(1.0), -0.57721566490153286, 1e-15);
  EXPECT_NEAR(fn::erfinv_<double>()(0.9), 1.1630871536766743, 1e-14);
  EXPECT_NEAR(fn::ndtri_<double>()(1e-10), -6.3613409024040557, 1e-13);
  EXPECT_NEAR(fn::i0_<double>()(3.0), 4.8807925858650245, 1e-14);
  EXPECT_NEAR(fn::modified_bessel_k1_<double>()(0.5), 1.6564411200033009, 1e-14);
  EXPECT_NEAR(fn::zeta_<double>()(2.0, 1.0), 1.6449340668482264, 1e-15);
  EXPECT_NEAR(fn::igamma_<double>()(2.0, 1.5), 0.44217459962892547, 1e-14);
  EXPECT_NEAR(fn::igammac_<double>()(1000.0, 990.0), 0.62047862146203606, 1e-13);
  EXPECT_NEAR(fn::airy_ai_<double>()(-2.0), 0.22740742820168557, 1e-14);
  EXPECT_EQ(fn::legendre_polynomial_p_<double>()(0.5, 2.0), -0.125);
}

// The scalar call and every lane of the vector call agree to the bit.
template <class F> void check_lanes(const char* name, F f) {
  using V = rv::Vec<float>;
  float x[V::size];
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < V::size; ++i) {
      x[i] = static_cast<float>((round * V::size + i) % 977 - 488) * 0.0137f;
    }
    V r = f(V::load(x));
    for (int i = 0; i < V::size; ++i) {
      float s = f(x[i]);
      ASSERT_TRUE(same_bits(s, r[i]) || (s != s && r[i] != r[i])) << name << " " << x[i];
    }
  }
}
TEST(Lanes, ScalarAndVectorAgree) {
  check_lanes("exp", fn::exp_<float>());
  check_lanes("log", fn::log_<float>());
  check_lanes("sin", fn::sin_<float>());
  check_lanes("tan", fn::tan_<float>());
  check_lanes("tanh", fn::tanh_<float>());
  check_lanes("erf", fn::erf_<float>());
  check_lanes("gelu", fn::gelu_<float>());
  check_lanes("silu", fn::silu_<float>());
  check_lanes("mish", fn::mish_<float>());
  check_lanes("softplus", fn::softplus_<float>());
  check_lanes("pow", fn::pow_scalar_<float>{1.7f});
  check_lanes("sinc", fn::sinc_<float>());
}

TEST(Compare, MasksAreBytes) {
  using V = rv::Vec<double>;
  double a[V::size], b[V::size];
  bool r[V::size];
  for (int i = 0; i < V::size; ++i) a[i] = i, b[i] = 1;
  fn::lt_<double>()(V::load(a), V::load(b)).store(r);
  for (int i = 0; i < V::size; ++i) EXPECT_EQ(r[i], i < 1);
  EXPECT_TRUE(fn::signbit_<float>()(-0.0f));
  EXPECT_TRUE(fn::isneginf_<float>()(-kInf));
  EXPECT_TRUE(fn::logical_not_<std::complex<float>>()(std::complex<float>(0, 0)));
  EXPECT_TRUE((fn::isclose_<float>{1e-3, 1e-3, true}(kNaN, kNaN)));
}

}  // namespace
