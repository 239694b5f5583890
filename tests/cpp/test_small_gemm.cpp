// The small matrix products at every built instruction set against plain loops, for shapes around
// the register width, all operand layouts, and alpha/beta/bias.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/small_gemm.h"

using namespace rl::cpu;

namespace {

template <class T>
std::vector<T> numbers(int64_t n, unsigned seed) {
  std::vector<T> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = T(seed >> 8) / T(1 << 24) - T(0.5);
  }
  return v;
}

template <class T>
bool call(const GemmProblem& p) {
  if constexpr (sizeof(T) == 4) return small_gemm_f32(p);
  else return small_gemm_f64(p);
}

struct Shape {
  int64_t batch, m, n, k;
};

template <class T>
void try_product(Shape s, bool ta, bool tb, double alpha, double beta, bool with_bias) {
  GemmProblem p;
  p.batch = s.batch, p.m = s.m, p.n = s.n, p.k = s.k;
  auto a = numbers<T>(s.batch * s.m * s.k, 1), b = numbers<T>(s.batch * s.k * s.n, 2);
  auto c = numbers<T>(s.batch * s.m * s.n, 3), bias = numbers<T>(s.n, 4);
  if (beta == 0) c.assign(c.size(), std::numeric_limits<T>::quiet_NaN());
  p.a = ta ? GemmOperand{a.data(), 1, s.m, s.m * s.k} : GemmOperand{a.data(), s.k, 1, s.m * s.k};
  p.b = tb ? GemmOperand{b.data(), 1, s.k, s.n * s.k} : GemmOperand{b.data(), s.n, 1, s.n * s.k};
  p.c = {c.data(), s.n, 1, s.m * s.n};
  p.alpha = alpha, p.beta = beta;
  p.bias = with_bias ? bias.data() : nullptr;
  std::vector<T> want(c.size());
  for (int64_t e = 0; e < s.batch; ++e)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        T sum = 0;
        for (int64_t l = 0; l < s.k; ++l)
          sum += a[e * p.a.batch + i * p.a.row + l * p.a.col] *
                 b[e * p.b.batch + l * p.b.row + j * p.b.col];
        const int64_t at = e * p.c.batch + i * s.n + j;
        want[at] = T(alpha) * sum + (beta != 0 ? T(beta) * c[at] : 0) + (with_bias ? bias[j] : 0);
      }
  if (!call<T>(p)) return;
  for (size_t i = 0; i < c.size(); ++i) {
    ASSERT_NEAR(c[i], want[i], 1e-4) << "at " << i << " of " << s.m << "x" << s.n << "x" << s.k
                                     << " ta " << ta << " tb " << tb;
  }
}

template <class T>
void try_all() {
  const int64_t sizes[] = {1, 2, 3, 5, 8, 15, 16, 17, 33};
  for (Isa isa : {Isa::V2, Isa::V3, Isa::V4}) {
    const bool built = isa == Isa::V2 ? RL_HAVE_V2 : isa == Isa::V3 ? RL_HAVE_V3 : RL_HAVE_V4;
    if (!built) continue;
    limit_isa(isa);
    for (int64_t m : sizes)
      for (int64_t n : sizes)
        for (int64_t k : sizes)
          for (int t = 0; t < 4; ++t) try_product<T>({1, m, n, k}, t & 1, t & 2, 1, 0, n % 2);
    try_product<T>({3, 5, 7, 9}, false, true, 0.5, 2, true);
    try_product<T>({1, 1, 700, 300}, false, false, 0.5, 2, true);
    try_product<T>({1, 1, 700, 300}, false, true, 0.5, 2, true);
    try_product<T>({1, 700, 1, 300}, false, false, 0.5, 2, true);
    try_product<T>({1, 4, 4, 0}, false, false, 1, 1, true);
  }
  limit_isa(Isa::V4);
}

TEST(SmallGemm, Float) { try_all<float>(); }
TEST(SmallGemm, Double) { try_all<double>(); }

}  // namespace
