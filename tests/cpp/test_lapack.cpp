// The LAPACK provider: each factorisation is multiplied out again, for all four types.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "kernels/cpu/lapack/lapack.h"

namespace lapack = rl::lapack;
using lapack::Real;

namespace {

template <class T>
T number(double re, double im) {
  if constexpr (std::is_floating_point_v<T>) return T(re);
  else return T(Real<T>(re), Real<T>(im));
}

template <class T>
std::vector<T> numbers(int n, unsigned seed) {
  std::vector<T> v(n);
  auto next = [&] {
    seed = seed * 1664525u + 1013904223u;
    return double(seed >> 8) / double(1 << 24) - 0.5;
  };
  for (auto& x : v) {
    const double re = next(), im = next();
    x = number<T>(re, im);
  }
  return v;
}

template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return std::conj(x);
}

// Column-major products by the BLAS under test, itself checked in Gemm.
template <class T>
std::vector<T> times(char ta, char tb, int m, int n, int k, const std::vector<T>& a, int lda,
                     const std::vector<T>& b, int ldb) {
  std::vector<T> c(m * n);
  lapack::gemm<T>(ta, tb, m, n, k, T(1), a.data(), lda, b.data(), ldb, T(0), c.data(), m);
  return c;
}

template <class T>
void expect_near(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_LT(std::abs(a[i] - b[i]), sizeof(Real<T>) == 4 ? 2e-4 : 1e-10) << "at " << i;
  }
}

template <class T>
std::vector<T> hermitian(int n, double diagonal) {
  auto a = numbers<T>(n * n, 5);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) a[i + j * n] = conjugate(a[j + i * n]);
    a[i + i * n] = T(Real<T>(std::real(a[i + i * n]) + diagonal));
  }
  return a;
}

template <class T> class Lapack : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Lapack, Types);

TYPED_TEST(Lapack, Gemm) {
  using T = TypeParam;
  const int m = 4, n = 3, k = 5;
  const auto a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2);
  std::vector<T> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) want[i + j * m] += a[i + l * m] * b[l + j * k];
  expect_near(times('N', 'N', m, n, k, a, m, b, k), want);
}

TYPED_TEST(Lapack, SolveByLu) {
  using T = TypeParam;
  const int n = 6, nrhs = 2;
  const auto a = numbers<T>(n * n, 1), b = numbers<T>(n * nrhs, 2);
  auto lu = a, x = b, inverse = a;
  std::vector<int> pivots(n);
  ASSERT_EQ(lapack::gesv(n, nrhs, lu.data(), n, pivots.data(), x.data(), n), 0);
  expect_near(times('N', 'N', n, nrhs, n, a, n, x, n), b);
  auto y = b;
  ASSERT_EQ(lapack::getrs('N', n, nrhs, lu.data(), n, pivots.data(), y.data(), n), 0);
  expect_near(y, x);
  ASSERT_EQ(lapack::getrf(n, n, inverse.data(), n, pivots.data()), 0);
  ASSERT_EQ(lapack::getri(n, inverse.data(), n, pivots.data()), 0);
  expect_near(times('N', 'N', n, nrhs, n, inverse, n, b, n), x);
}

TYPED_TEST(Lapack, SingularMatrixHasInfo) {
  using T = TypeParam;
  std::vector<T> a(9, T(1)), b(3, T(1));
  std::vector<int> pivots(3);
  EXPECT_GT(lapack::gesv(3, 1, a.data(), 3, pivots.data(), b.data(), 3), 0);
}

TYPED_TEST(Lapack, Cholesky) {
  using T = TypeParam;
  const int n = 5;
  const auto a = hermitian<T>(n, 5), b = numbers<T>(n, 3);
  auto l = a, x = b;
  ASSERT_EQ(lapack::potrf('L', n, l.data(), n), 0);
  ASSERT_EQ(lapack::potrs('L', n, 1, l.data(), n, x.data(), n), 0);
  expect_near(times('N', 'N', n, 1, n, a, n, x, n), b);
}

TYPED_TEST(Lapack, IndefiniteHermitian) {
  using T = TypeParam;
  const int n = 5;
  const auto a = hermitian<T>(n, 0), b = numbers<T>(n, 3);
  auto factor = a, x = b;
  std::vector<int> pivots(n);
  ASSERT_EQ(lapack::hetrf('L', n, factor.data(), n, pivots.data()), 0);
  ASSERT_EQ(lapack::hetrs('L', n, 1, factor.data(), n, pivots.data(), x.data(), n), 0);
  expect_near(times('N', 'N', n, 1, n, a, n, x, n), b);
}

TYPED_TEST(Lapack, HermitianEigenvalues) {
  using T = TypeParam;
  const int n = 7;
  const auto a = hermitian<T>(n, 0);
  auto v = a;
  std::vector<Real<T>> w(n);
  ASSERT_EQ(lapack::heevd('V', 'L', n, v.data(), n, w.data()), 0);
  auto scaled = v;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) scaled[i + j * n] *= w[j];
  expect_near(times('N', 'N', n, n, n, a, n, v, n), scaled);
}

TYPED_TEST(Lapack, GeneralEigenvalues) {
  using T = TypeParam;
  const int n = 5;
  auto a = numbers<T>(n * n, 4);
  T trace = T(0), sum = T(0);
  for (int i = 0; i < n; ++i) trace += a[i + i * n];
  std::vector<T> wr(n), wi(n), vr(n * n), vl(1);
  ASSERT_EQ(lapack::geev('N', 'V', n, a.data(), n, wr.data(), wi.data(), vl.data(), 1, vr.data(),
                         n), 0);
  for (int i = 0; i < n; ++i) sum += wr[i];
  EXPECT_LT(std::abs(sum - trace), 1e-4);
}

TYPED_TEST(Lapack, SingularValues) {
  using T = TypeParam;
  const int m = 6, n = 4;
  const auto a = numbers<T>(m * n, 6);
  for (bool divide : {true, false}) {
    auto work = a;
    std::vector<Real<T>> s(n);
    std::vector<T> u(m * n), vt(n * n);
    const int info =
        divide ? lapack::gesdd('S', m, n, work.data(), m, s.data(), u.data(), m, vt.data(), n)
               : lapack::gesvd('S', 'S', m, n, work.data(), m, s.data(), u.data(), m, vt.data(), n);
    ASSERT_EQ(info, 0);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) u[i + j * m] *= s[j];
    expect_near(times('N', 'N', m, n, n, u, m, vt, n), a);
  }
}

TYPED_TEST(Lapack, Qr) {
  using T = TypeParam;
  const int m = 6, n = 4;
  const auto a = numbers<T>(m * n, 7);
  auto qr = a;
  std::vector<T> tau(n), r(n * n);
  ASSERT_EQ(lapack::geqrf(m, n, qr.data(), m, tau.data()), 0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) r[i + j * n] = qr[i + j * m];
  auto q = qr;
  ASSERT_EQ(lapack::orgqr(m, n, n, q.data(), m, tau.data()), 0);
  expect_near(times('N', 'N', m, n, n, q, m, r, n), a);
  auto c = a;  // Q^H A has R on top
  const char trans = std::is_floating_point_v<T> ? 'T' : 'C';
  ASSERT_EQ(lapack::ormqr('L', trans, m, n, n, qr.data(), m, tau.data(), c.data(), m), 0);
  EXPECT_LT(std::abs(c[0] - r[0]), 1e-4);
}

TYPED_TEST(Lapack, LeastSquares) {
  using T = TypeParam;
  const int m = 8, n = 3;
  const auto a = numbers<T>(m * n, 8), x = numbers<T>(n, 9);
  const auto b = times('N', 'N', m, 1, n, a, m, x, n);  // an exact solution exists
  for (int driver = 0; driver < 4; ++driver) {
    auto work = a, y = b;
    std::vector<Real<T>> s(n);
    std::vector<int> pivots(n);
    int rank = n, info = 0;
    const Real<T> rcond = Real<T>(1e-6);
    T *A = work.data(), *B = y.data();
    if (driver == 0) info = lapack::gels('N', m, n, 1, A, m, B, m);
    if (driver == 1) info = lapack::gelsy(m, n, 1, A, m, B, m, pivots.data(), rcond, &rank);
    if (driver == 2) info = lapack::gelsd(m, n, 1, A, m, B, m, s.data(), rcond, &rank);
    if (driver == 3) info = lapack::gelss(m, n, 1, A, m, B, m, s.data(), rcond, &rank);
    ASSERT_EQ(info, 0) << driver;
    ASSERT_EQ(rank, n) << driver;
    y.resize(n);
    expect_near(y, x);
  }
}

TYPED_TEST(Lapack, Triangular) {
  using T = TypeParam;
  const int n = 4;
  auto a = hermitian<T>(n, 4);
  const auto b = numbers<T>(n, 2);
  auto x = b, y = b;
  ASSERT_EQ(lapack::trtrs('U', 'N', 'N', n, 1, a.data(), n, x.data(), n), 0);
  lapack::trsm<T>('L', 'U', 'N', 'N', n, 1, T(1), a.data(), n, y.data(), n);
  expect_near(x, y);
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) a[i + j * n] = T(0);
  expect_near(times('N', 'N', n, 1, n, a, n, x, n), b);
}

}  // namespace
