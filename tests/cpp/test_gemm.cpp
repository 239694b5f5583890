// kernels/gemm.h for every element type, all operand layouts, strided operands and destinations,
// against plain loops in double (complex double) precision.
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "kernels/gemm.h"

using namespace rl;

namespace {

template <class T>
std::complex<double> wide(T x) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) return double(float(x));
  else return std::complex<double>(x);
}
template <class T>
T narrow(std::complex<double> x) {
  if constexpr (std::is_same_v<T, cfloat> || std::is_same_v<T, cdouble>) return T(x);
  else if constexpr (std::is_arithmetic_v<T>) return T(x.real());
  else return T(float(x.real()));
}

template <class T>
std::vector<T> numbers(int64_t n, unsigned seed) {
  std::vector<T> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    const double a = double(seed >> 24) / 128 - 1, b = double(seed >> 16 & 255) / 128 - 1;
    x = std::is_integral_v<T> ? T((seed >> 20) % 7) : narrow<T>({a, b});
  }
  return v;
}

enum Layout { kRows, kColumns, kStrided };

GemmOperand operand(const void* data, Layout layout, int64_t rows, int64_t cols) {
  switch (layout) {
    case kRows: return {data, cols, 1, rows * cols};
    case kColumns: return {data, 1, rows, rows * cols};
    default: return {data, 3 * cols, 2, 3 * rows * cols};
  }
}

template <class T>
void try_product(int64_t batch, int64_t m, int64_t n, int64_t k, Layout la, Layout lb, Layout lc,
                 bool conj, double tolerance) {
  auto a = numbers<T>(batch * m * k * 3 + 9, 1), b = numbers<T>(batch * k * n * 3 + 9, 2);
  auto c = numbers<T>(batch * m * n * 3 + 9, 3), bias = numbers<T>(n, 4);
  GemmProblem p;
  p.batch = batch, p.m = m, p.n = n, p.k = k;
  p.a = operand(a.data(), la, m, k);
  p.b = operand(b.data(), lb, k, n);
  p.c = operand(c.data(), lc, m, n);
  p.beta = (m + n) % 2;
  p.bias = n % 2 ? bias.data() : nullptr;
  auto want = c;
  for (int64_t e = 0; e < batch; ++e)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        std::complex<double> sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          const auto x = wide(a[e * p.a.batch + i * p.a.row + l * p.a.col]);
          const auto y = wide(b[e * p.b.batch + l * p.b.row + j * p.b.col]);
          sum += (conj ? std::conj(x) : x) * y;
        }
        T& out = want[e * p.c.batch + i * p.c.row + j * p.c.col];
        if (p.beta != 0) sum += wide(out);
        if (p.bias) sum += wide(bias[j]);
        out = narrow<T>(sum);
      }
  conj ? gemm_conj(dtype_of<T>, p, true, false) : gemm(dtype_of<T>, p);
  for (size_t i = 0; i < c.size(); ++i) {
    ASSERT_LE(std::abs(wide(c[i]) - wide(want[i])), tolerance * (1 + std::abs(wide(want[i]))))
        << "at " << i << ": " << batch << "x " << m << "x" << n << "x" << k << " layouts " << la
        << lb << lc;
  }
}

template <class T>
void try_type(double tolerance, bool conj = false) {
  for (Layout la : {kRows, kColumns, kStrided})
    for (Layout lb : {kRows, kColumns, kStrided})
      for (Layout lc : {kRows, kColumns, kStrided}) {
        try_product<T>(1, 5, 7, 9, la, lb, lc, conj, tolerance);
        try_product<T>(3, 2, 4, 3, la, lb, lc, conj, tolerance);
        try_product<T>(1, 1, 33, 20, la, lb, lc, conj, tolerance);
        try_product<T>(1, 33, 1, 20, la, lb, lc, conj, tolerance);
        try_product<T>(1, 50, 48, 60, la, lb, lc, conj, tolerance);
        try_product<T>(1, 4, 5, 0, la, lb, lc, conj, tolerance);
      }
}

TEST(Gemm, Float) { try_type<float>(1e-4); }
TEST(Gemm, Double) { try_type<double>(1e-12); }
TEST(Gemm, ComplexFloat) { try_type<cfloat>(1e-4); }
TEST(Gemm, ComplexDouble) { try_type<cdouble>(1e-12); }
TEST(Gemm, Conjugated) { try_type<cdouble>(1e-12, true); }
TEST(Gemm, BFloat16) { try_type<bfloat16>(2e-2); }
TEST(Gemm, Half) { try_type<half>(2e-3); }
TEST(Gemm, Int64) { try_type<int64_t>(0); }
TEST(Gemm, Int32) { try_type<int32_t>(0); }

}  // namespace
