// Pseudo-inverses by singular values, and matrix exponentials by scaling, squaring and Padé
// approximation (Higham, "The scaling and squaring method for the matrix exponential revisited",
// 2005).
#include <cmath>
#include <limits>
#include <vector>

#include "ops/native/linalg_batch.h"

namespace rl::native {

using namespace rl::linalg;

std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& a, bool full, bool compute_uv,
                                               std::optional<std::string_view> driver);
std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& a, std::string_view uplo, bool compute_v);

namespace {

// One tolerance for each matrix of the batch.
std::vector<double> tolerances(const Tensor& t, const Tensor& a, double fallback) {
  const size_t n = size_t(batch_count(a));
  if (!t.defined()) return std::vector<double>(n, fallback);
  const Tensor wide = contiguous_tensor(expand(rl::to_dtype(t, DType::Double), batch_sizes(a)));
  return std::vector<double>(wide.data<double>(), wide.data<double>() + n);
}

// A = U S V^H, or V W V^H with the vectors of one triangle in both places.
struct Spectrum {
  Tensor u, s, v;
  bool adjoint;  // v holds V^H
};

Spectrum spectrum_of(const Tensor& a, bool hermitian) {
  if (hermitian) {
    auto [w, v] = _linalg_eigh(a, "L", true);
    return {v, w, v, false};
  }
  auto [u, s, vh] = _linalg_svd(a, false, true, std::nullopt);
  return {u, s, vh, true};
}

}  // namespace

Tensor _pinv(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  const int64_t m = rows(a), n = cols(a), k = std::min(m, n);
  Tensor out = empty_columns(batch_sizes(a), n, m, a.dtype(), a.device());
  if (a.is_meta() || out.numel() == 0) return out;
  const Spectrum x = spectrum_of(a, hermitian);
  const double eps = to_real(a.dtype()) == DType::Double ? std::numeric_limits<double>::epsilon()
                                                         : std::numeric_limits<float>::epsilon();
  const auto absolute = tolerances(atol, a, 0);
  const auto relative = tolerances(rtol, a, eps * double(std::max(m, n)));
  visit(Types{}, a.dtype(), "linalg_pinv", [&]<class T>() {
    using R = lapack::Real<T>;
    for (int64_t i = 0; i < batch_count(a); ++i) {
      const R* s = x.s.data<R>() + i * k;
      R most = 0;
      for (int64_t j = 0; j < k; ++j) most = std::max(most, std::abs(s[j]));
      const bool from_atol = atol.defined() && !rtol.defined() && absolute[size_t(i)] > 0;
      const R limit = std::max(R(absolute[size_t(i)]),
                               from_atol ? R(0) : R(relative[size_t(i)]) * most);
      std::vector<T> scaled(matrix_at<T>(x.u, i), matrix_at<T>(x.u, i) + m * k);
      for (int64_t j = 0; j < k; ++j) {
        const R by = std::abs(s[j]) > limit ? 1 / s[j] : 0;
        for (int64_t r = 0; r < m; ++r) scaled[size_t(j * m + r)] *= by;
      }
      lapack::gemm<T>(x.adjoint ? 'C' : 'N', 'C', int(n), int(m), int(k), T(1),
                      matrix_at<T>(x.v, i), ld(x.v), scaled.data(), int(m), T(0),
                      matrix_at<T>(out, i), ld(out));
    }
  });
  return contiguous_tensor(out);
}

Tensor linalg_matrix_sqrth(const Tensor& a) {
  check_square(a, "linalg.matrix_sqrth");
  check_dtype(a, "linalg.matrix_sqrth");
  const int64_t n = rows(a);
  Tensor out = empty_columns(batch_sizes(a), n, n, a.dtype(), a.device());
  if (a.is_meta() || out.numel() == 0) return out;
  auto [w, v] = _linalg_eigh(a, "L", true);
  visit(Types{}, a.dtype(), "linalg_matrix_sqrth", [&]<class T>() {
    using R = lapack::Real<T>;
    for (int64_t i = 0; i < batch_count(a); ++i) {
      std::vector<T> scaled(matrix_at<T>(v, i), matrix_at<T>(v, i) + n * n);
      for (int64_t j = 0; j < n; ++j) {
        const R value = w.data<R>()[i * n + j], root = value < 0 ? R(0) : std::sqrt(value);
        for (int64_t r = 0; r < n; ++r) scaled[size_t(j * n + r)] *= root;
      }
      lapack::gemm<T>('N', 'C', int(n), int(n), int(n), T(1), scaled.data(), int(n),
                      matrix_at<T>(v, i), ld(v), T(0), matrix_at<T>(out, i), ld(out));
    }
  });
  return contiguous_tensor(out);
}

namespace {

template <class T>
using Matrix = std::vector<T>;

template <class T>
Matrix<T> multiply(const Matrix<T>& a, const Matrix<T>& b, int n) {
  Matrix<T> c(a.size());
  lapack::gemm<T>('N', 'N', n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
  return c;
}

template <class T>
double one_norm(const Matrix<T>& a, int n) {
  double most = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::abs(a[size_t(j) * size_t(n) + size_t(i)]);
    most = sum > most || std::isnan(sum) ? sum : most;
  }
  return most;
}

// The [13/13] approximant: exp(A) = (V - U)^-1 (V + U) with odd U and even V.
template <class T>
void exponential(Matrix<T>& a, int n) {
  static constexpr double b[] = {64764752532480000., 32382376266240000., 7771770303897600.,
                                 1187353796428800., 129060195264000., 10559470521600.,
                                 670442572800., 33522128640., 1323241920., 40840800., 960960.,
                                 16380., 182., 1.};
  const double norm = one_norm(a, n);
  if (!std::isfinite(norm)) {
    std::fill(a.begin(), a.end(), T(std::numeric_limits<double>::quiet_NaN()));
    return;
  }
  int squarings = 0;
  if (norm > 5.371920351148152)
    squarings = std::max(0, int(std::ceil(std::log2(norm / 5.371920351148152))));
  for (T& x : a) x *= std::ldexp(1.0, -squarings);
  const Matrix<T> a2 = multiply(a, a, n), a4 = multiply(a2, a2, n), a6 = multiply(a2, a4, n);
  const size_t size = a.size();
  Matrix<T> odd(size), even(size);
  for (size_t i = 0; i < size; ++i) {
    odd[i] = b[13] * a6[i] + b[11] * a4[i] + b[9] * a2[i];
    even[i] = b[12] * a6[i] + b[10] * a4[i] + b[8] * a2[i];
  }
  odd = multiply(a6, odd, n);
  even = multiply(a6, even, n);
  for (size_t i = 0; i < size; ++i) {
    odd[i] += b[7] * a6[i] + b[5] * a4[i] + b[3] * a2[i];
    even[i] += b[6] * a6[i] + b[4] * a4[i] + b[2] * a2[i];
  }
  for (int i = 0; i < n; ++i) {
    odd[size_t(i) * size_t(n + 1)] += b[1];
    even[size_t(i) * size_t(n + 1)] += b[0];
  }
  odd = multiply(a, odd, n);
  Matrix<T> left(size);
  for (size_t i = 0; i < size; ++i) left[i] = even[i] - odd[i], a[i] = even[i] + odd[i];
  std::vector<int> pivots(static_cast<size_t>(n));
  lapack::gesv<T>(n, n, left.data(), n, pivots.data(), a.data(), n);
  for (int i = 0; i < squarings; ++i) a = multiply(a, a, n);
}

}  // namespace

Tensor linalg_matrix_exp(const Tensor& a) {
  check_square(a, "linalg.matrix_exp");
  check_implemented(a.is_floating() || a.is_complex(),
                    "linalg.matrix_exp: Expected a floating point "
                    "or complex tensor as input. Got ",
                    a.dtype());
  const int64_t n = rows(a);
  if (a.is_meta() || a.numel() == 0) return empty_tensor(a.sizes(), a.dtype(), a.device());
  const DType wide = a.is_complex() ? DType::ComplexDouble : DType::Double;
  Tensor x = column_copy(rl::to_dtype(a, wide));
  visit(TypeList<double, cdouble>{}, wide, "linalg_matrix_exp", [&]<class T>() {
    each(batch_count(a), 20 * n * n * n, [&](int64_t i) {
      T* p = matrix_at<T>(x, i);
      Matrix<T> m(p, p + n * n);
      exponential(m, int(n));
      std::copy(m.begin(), m.end(), p);
    });
  });
  return contiguous_tensor(rl::to_dtype(x, a.dtype()));
}

}  // namespace rl::native
