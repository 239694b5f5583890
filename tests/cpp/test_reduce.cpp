// Reductions against element-by-element loops over odd shapes and strides; the same result for any
// number of threads; softmax and layer norm by their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/parallel.h"
#include "kernels/iter/copy.h"

namespace rl::native {
Tensor sum(const Tensor&, std::optional<IntRef>, bool, std::optional<DType>);
Tensor mean(const Tensor&, std::optional<IntRef>, bool, std::optional<DType>);
Tensor prod(const Tensor&, std::optional<int64_t>, bool, std::optional<DType>);
Tensor amax(const Tensor&, IntRef, bool);
Tensor argmax(const Tensor&, std::optional<int64_t>, bool);
std::tuple<Tensor, Tensor> min(const Tensor&, int64_t, bool);
Tensor var(const Tensor&, std::optional<IntRef>, const std::optional<Scalar>&, bool);
Tensor any(const Tensor&, std::optional<IntRef>, bool);
Tensor count_nonzero(const Tensor&, std::optional<IntRef>);
Tensor linalg_vector_norm(const Tensor&, const Scalar&, std::optional<IntRef>, bool,
                          std::optional<DType>);
Tensor cumsum(const Tensor&, int64_t, std::optional<DType>);
std::tuple<Tensor, Tensor> cummax(const Tensor&, int64_t);
Tensor softmax(const Tensor&, int64_t, std::optional<DType>);
Tensor logsumexp(const Tensor&, IntRef, bool);
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor&, IntRef, const Tensor&,
                                                     const Tensor&, double);
}  // namespace rl::native

namespace rl {
namespace {

std::vector<double> values(const Tensor& t) {
  const Tensor d = contiguous_tensor(to_dtype(t, DType::Double));
  return {d.data<double>(), d.data<double>() + d.numel()};
}

Tensor noise(IntRef sizes, DType dtype = DType::Float) {
  Tensor t = empty_tensor(sizes, DType::Double);
  uint64_t state = 12345;
  for (int64_t i = 0; i < t.numel(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    t.data<double>()[i] = std::round(double(int64_t(state >> 33) % 2001 - 1000)) / 16;
  }
  return cast_tensor(t, dtype);
}

// Calls f(elements of one output in row-major order) for every output.
std::vector<double> by_loop(const Tensor& t, uint64_t mask,
                            const std::function<double(const std::vector<double>&)>& f) {
  Dims sizes, strides;
  int64_t inner = 1, outer = 1;
  for (uint64_t want : {0, 1})
    for (int64_t d = 0; d < t.dim(); ++d)
      if ((mask >> d & 1) == want) {
        sizes.push_back(t.size(d));
        strides.push_back(t.stride(d));
        (want ? inner : outer) *= t.size(d);
      }
  const auto v = values(alias(t, sizes, strides, t.offset()));
  std::vector<double> out;
  for (int64_t i = 0; i < outer; ++i)
    out.push_back(f({v.begin() + i * inner, v.begin() + (i + 1) * inner}));
  return out;
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance) {
  const auto v = values(got);
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i)
    ASSERT_NEAR(v[i], want[i], tolerance * (1 + std::abs(want[i]))) << "at " << i;
}

std::vector<Tensor> layouts(DType d) {
  Tensor a = noise({6, 5, 70}, d), b = noise({300, 40}, d);
  return {a,
          b,
          alias(b, {40, 300}, {1, 40}, 0),
          alias(a, {70, 6, 5}, {1, 350, 70}, 0),
          alias(b, {150, 20}, {80, 2}, 1),
          alias(noise({7, 1}, d), {7, 9}, {1, 0}, 0),
          noise({2, 5000}, d),
          noise({5000, 3}, d)};
}

double total(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}

TEST(Reduce, SumsMeansVariancesNorms) {
  for (DType d : {DType::Float, DType::Double, DType::Half, DType::Int32}) {
    const double tolerance = d == DType::Half ? 2e-3 : 1e-6;
    for (const Tensor& t : layouts(d))
      for (uint64_t mask = 1; mask < (uint64_t(1) << t.dim()); ++mask) {
        Dims dims;
        for (int64_t k = 0; k < t.dim(); ++k)
          if (mask >> k & 1) dims.push_back(k);
        const std::optional<IntRef> over{IntRef(dims)};
        if (d != DType::Half)
          expect_near(native::sum(t, over, false, {}), by_loop(t, mask, total), 1e-6);
        if (d == DType::Int32) continue;
        expect_near(native::mean(t, over, false, {}), by_loop(t, mask, [](auto& v) {
                      return total(v) / double(v.size());
                    }), tolerance);
        expect_near(native::amax(t, dims, true), by_loop(t, mask, [](auto& v) {
                      return *std::max_element(v.begin(), v.end());
                    }), 0);
        expect_near(native::var(t, over, Scalar(0), false), by_loop(t, mask, [](auto& v) {
                      const double m = total(v) / double(v.size());
                      double s = 0;
                      for (double x : v) s += (x - m) * (x - m);
                      return s / double(v.size());
                    }), tolerance);
        expect_near(native::linalg_vector_norm(t, Scalar(2), over, false, {}),
                    by_loop(t, mask, [](auto& v) {
                      double s = 0;
                      for (double x : v) s += x * x;
                      return std::sqrt(s);
                    }), tolerance);
      }
  }
}

TEST(Reduce, PositionsTakeTheFirst) {
  for (const Tensor& t : layouts(DType::Float))
    for (int64_t d = 0; d < t.dim(); ++d) {
      const auto want = by_loop(t, uint64_t(1) << d, [](auto& v) {
        return double(std::max_element(v.begin(), v.end()) - v.begin());
      });
      expect_near(native::argmax(t, d, false), want, 0);
      auto [low, at] = native::min(t, d, false);
      expect_near(at, by_loop(t, uint64_t(1) << d, [](auto& v) {
                    return double(std::min_element(v.begin(), v.end()) - v.begin());
                  }), 0);
    }
  Tensor n = noise({100});
  n.data<float>()[40] = n.data<float>()[60] = NAN;
  EXPECT_EQ(item(native::argmax(n, {}, false)).to_int(), 40);
}

TEST(Reduce, ThreadsDoNotMatter) {
  const int before = num_threads();
  const Tensor a = noise({1500000}), b = noise({2000, 333});
  const int64_t zero[] = {0};
  auto all = [&] {
    std::vector<double> r;
    for (const Tensor& t : {native::sum(a, {}, false, {}), native::var(a, {}, {}, false),
                            native::sum(b, IntRef(zero), false, {}),
                            native::mean(b, {}, false, {})})
      for (double v : values(t)) r.push_back(v);
    return r;
  };
  set_num_threads(1);
  const auto one = all();
  set_num_threads(3);
  EXPECT_EQ(one, all());
  set_num_threads(before);
}

TEST(Reduce, EmptyAndErrors) {
  const Tensor e = noise({0, 3});
  const int64_t zero[] = {0};
  EXPECT_EQ(values(native::sum(e, IntRef(zero), false, {})), std::vector<double>({0, 0, 0}));
  EXPECT_EQ(item(native::prod(e, {}, false, {})).to_double(), 1);
  EXPECT_TRUE(std::isnan(item(native::mean(e, {}, false, {})).to_double()));
  EXPECT_FALSE(item(native::any(e, {}, false)).to_bool());
  EXPECT_EQ(item(native::count_nonzero(noise({10, 10}), {})).kind(), Scalar::Kind::Int);
  try {
    native::amax(e, IntRef(zero), false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Index);
    EXPECT_STREQ(error.what(), "amax(): Expected reduction dim 0 to have non-zero size.");
  }
}

TEST(Reduce, RunningResults) {
  const Tensor t = noise({4, 50, 3}, DType::Int64);
  const auto got = values(native::cumsum(t, 1, {})), v = values(t);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 3; ++k) {
      double s = 0;
      for (int64_t j = 0; j < 50; ++j) {
        const size_t at = size_t((i * 50 + j) * 3 + k);
        s += v[at];
        ASSERT_EQ(got[at], s);
      }
    }
  Tensor x = empty_tensor({5}, DType::Float);
  const float in[] = {1, 1, 0, NAN, 7};
  std::copy(in, in + 5, x.data<float>());
  EXPECT_EQ(values(std::get<1>(native::cummax(x, 0))), std::vector<double>({0, 1, 1, 3, 3}));
}

TEST(Softmax, SumsToOneAlongAnyDimension) {
  for (DType dtype : {DType::Float, DType::Double, DType::BFloat16})
    for (const Tensor& t : layouts(dtype))
      for (int64_t d = 0; d < t.dim(); ++d) {
        const Tensor y = native::softmax(t, d, {});
        EXPECT_TRUE(y.is_contiguous());
        for (double s : values(native::sum(y, IntRef(&d, 1), false, DType::Double)))
          ASSERT_NEAR(s, 1, dtype == DType::BFloat16 ? 2e-2 : 1e-5);
      }
  const int64_t zero[] = {0};
  Tensor low = full_tensor({3}, Scalar(-INFINITY), DType::Float);
  EXPECT_EQ(item(native::logsumexp(low, zero, false)).to_double(), -INFINITY);
}

TEST(LayerNorm, ByDefinition) {
  const Tensor x = noise({9, 77});
  const int64_t shape[] = {77};
  auto [y, mean, rstd] = native::native_layer_norm(x, shape, {}, {}, 1e-5);
  const auto v = values(x), got = values(y);
  for (size_t r = 0; r < 9; ++r) {
    double m = 0, s = 0;
    for (size_t i = 0; i < 77; ++i) m += v[r * 77 + i] / 77;
    for (size_t i = 0; i < 77; ++i) s += (v[r * 77 + i] - m) * (v[r * 77 + i] - m) / 77;
    for (size_t i = 0; i < 77; ++i)
      ASSERT_NEAR(got[r * 77 + i], (v[r * 77 + i] - m) / std::sqrt(s + 1e-5), 1e-5);
  }
  EXPECT_EQ(mean.sizes(), IntRef({9, 1}));
}

}  // namespace
}  // namespace rl
