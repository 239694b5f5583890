// QR, eigenvalues, singular values and least squares.
#include <cmath>
#include <limits>
#include <vector>

#include "ops/native/linalg_batch.h"

namespace rl::native {

using namespace rl::linalg;

namespace {

std::string eigen_failed(int64_t i) {
  return str("The algorithm failed to converge because the input matrix is ill-conditioned or has "
             "too many repeated eigenvalues (error code: ", i, ").");
}
std::string svd_failed(int64_t i) {
  return str("The algorithm failed to converge because the input matrix is ill-conditioned or has "
             "too many repeated singular values (error code: ", i, ").");
}

template <class T>
bool all_finite(const T* p, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(std::abs(p[i]))) return false;
  return true;
}

}  // namespace

// ---- QR

std::tuple<Tensor, Tensor> geqrf(const Tensor& a) {
  check(a.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  const int64_t m = rows(a), n = cols(a), k = std::min(m, n);
  if (!(a.dtype() == DType::Float || a.dtype() == DType::Double || a.is_complex()))
    dtype_not_implemented("geqrf_cpu", a.dtype());
  Tensor qr = column_copy(a);
  Tensor tau = empty_tensor(with_batch(batch_sizes(a), {k}), a.dtype(), a.device());
  if (a.is_meta() || a.numel() == 0) return {qr, tau};
  visit(Types{}, a.dtype(), "geqrf_cpu", [&]<class T>() {
    each(batch_count(a), m * n * k, [&](int64_t i) {
      lapack::geqrf<T>(int(m), int(n), matrix_at<T>(qr, i), ld(qr), tau.data<T>() + i * k);
    });
  });
  return {qr, tau};
}

// Q of `columns` columns from reflectors.
static Tensor form_q(const Tensor& qr, const Tensor& tau, int64_t columns) {
  const int64_t m = rows(qr), k = cols(tau.dim() ? unsqueeze(tau, 0) : tau);
  Tensor q = empty_columns(batch_sizes(qr), m, columns, qr.dtype(), qr.device());
  if (q.is_meta() || q.numel() == 0) return q;
  if (k == 0) {
    eye_into(q);
    return q;
  }
  visit(Types{}, qr.dtype(), "orgqr_cpu", [&]<class T>() {
    each(batch_count(qr), m * columns * k, [&](int64_t i) {
      const T* from = matrix_at<T>(qr, i);
      T* to = matrix_at<T>(q, i);
      std::copy(from, from + m * std::min(columns, cols(qr)), to);
      lapack::orgqr<T>(int(m), int(columns), int(k), to, ld(q), tau.data<T>() + i * k);
    });
  });
  return q;
}

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& a, std::string_view mode) {
  check_matrix(a, "linalg.qr");
  check_dtype(a, "linalg.qr", "geqrf_cpu");
  check(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '",
        mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = rows(a), n = cols(a), k = std::min(m, n);
  auto [qr, tau] = geqrf(a);
  const int64_t height = mode == "complete" ? m : k;
  Tensor r = empty_columns(batch_sizes(a), height, n, a.dtype(), a.device());
  if (!r.is_meta() && r.numel() > 0) triu_into(r, narrow(qr, -2, 0, height), 0);
  if (mode == "r") return {empty_tensor({0}, a.dtype(), a.device()), r};
  if (!a.is_meta() && a.numel() == 0) {  // no reflectors
    Tensor q = empty_columns(batch_sizes(a), m, height, a.dtype(), a.device());
    if (q.numel() > 0) copy_tensor(q, expand([&] {
      Tensor e = empty_tensor({m, height}, a.dtype(), a.device());
      eye_into(e);
      return e;
    }(), q.sizes()));
    return {q, r};
  }
  return {form_q(qr, tau, height), r};
}

Tensor _householder(const Tensor& a, const Tensor& tau) {
  check_matrix(a, "torch.linalg.householder_product");
  check(tau.dim() == a.dim() - 1 && tau.sizes().back() <= cols(a) && cols(a) <= rows(a) &&
            tau.dtype() == a.dtype() &&
            batch_sizes(a) == tau.sizes().slice(0, size_t(tau.dim()) - 1),
        "torch.linalg.householder_product: incompatible shapes or dtypes of input and tau");
  if (tau.sizes().back() == 0) {
    Tensor e = empty_tensor({rows(a), cols(a)}, a.dtype(), a.device());
    eye_into(e);
    return column_copy(expand(e, a.sizes()));
  }
  return form_q(column_copy(a), contiguous_tensor(tau), cols(a));
}

// ---- eigenvalues

std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& a, std::string_view uplo, bool compute_v) {
  check_square(a, "linalg.eigh");
  if (!(a.dtype() == DType::Float || a.dtype() == DType::Double || a.is_complex()))
    dtype_not_implemented("linalg_eigh_cpu", a.dtype());
  check(uplo.size() == 1 && (std::toupper(uplo[0]) == 'L' || std::toupper(uplo[0]) == 'U'),
        "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  const int64_t n = rows(a);
  Tensor v = column_copy(a);
  Tensor w = empty_tensor(with_batch(batch_sizes(a), {n}), to_real(a.dtype()), a.device());
  Tensor info = empty_info(batch_sizes(a), a.device());
  if (!a.is_meta() && a.numel() > 0) {
    visit(Types{}, a.dtype(), "linalg_eigh_cpu", [&]<class T>() {
      using R = lapack::Real<T>;
      each(batch_count(a), 4 * n * n * n, [&](int64_t i) {
        R* values = w.data<R>() + i * n;
        if (!all_finite(matrix_at<T>(v, i), n * n)) {  // LAPACK may loop for ever on NaN
          std::fill(values, values + n, std::numeric_limits<R>::quiet_NaN());
          std::fill(matrix_at<T>(v, i), matrix_at<T>(v, i) + n * n,
                    T(std::numeric_limits<R>::quiet_NaN()));
          return;
        }
        info.data<int32_t>()[i] =
            lapack::heevd<T>(compute_v ? 'V' : 'N', char(std::toupper(uplo[0])), int(n),
                             matrix_at<T>(v, i), ld(v), values);
      });
    });
    check_info(info, "linalg.eigh", eigen_failed);
  }
  if (!compute_v) v = empty_tensor({0}, a.dtype(), a.device());
  return {w, v};
}

// LAPACK gives the vectors of a conjugate pair as real and imaginary columns.
template <class R>
static void unpack_pairs(const R* wr, const R* wi, const R* vr, int64_t n, std::complex<R>* w,
                         std::complex<R>* v) {
  for (int64_t j = 0; j < n; ++j) {
    w[j] = {wr[j], wi[j]};
    for (int64_t i = 0; i < n; ++i) {
      if (wi[j] == 0) v[j * n + i] = vr[j * n + i];
      else if (wi[j] > 0) v[j * n + i] = {vr[j * n + i], vr[(j + 1) * n + i]};
      else v[j * n + i] = {vr[(j - 1) * n + i], -vr[j * n + i]};
    }
  }
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& a) {
  check(!is_integral(a.dtype(), true), "Unknown Complex ScalarType for ", a.dtype());
  check_square(a, "linalg.eig");
  check_dtype(a, "linalg.eig", "linalg_eig_out_cpu");
  const int64_t n = rows(a);
  const DType c = a.is_complex() ? a.dtype() : to_complex(a.dtype());
  Tensor w = empty_tensor(with_batch(batch_sizes(a), {n}), c, a.device());
  Tensor v = empty_columns(batch_sizes(a), n, n, c, a.device());
  Tensor info = empty_info(batch_sizes(a), a.device());
  if (a.is_meta() || a.numel() == 0) return {w, v};
  const Tensor x = column_copy(a);
  visit(Types{}, a.dtype(), "linalg_eig_out_cpu", [&]<class T>() {
    using R = lapack::Real<T>;
    using C = std::complex<R>;
    check(all_finite(x.data<T>(), x.numel()),
          "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    each(batch_count(a), 10 * n * n * n, [&](int64_t i) {
      C* values = w.data<C>() + i * n;
      if constexpr (is_complex(dtype_of<T>)) {
        info.data<int32_t>()[i] = lapack::geev<T>('N', 'V', int(n), matrix_at<T>(x, i), ld(x),
                                                  values, nullptr, nullptr, 1, matrix_at<T>(v, i),
                                                  ld(v));
      } else {
        std::vector<T> wr(static_cast<size_t>(n)), wi(wr), vr(static_cast<size_t>(n * n));
        info.data<int32_t>()[i] = lapack::geev<T>('N', 'V', int(n), matrix_at<T>(x, i), ld(x),
                                                  wr.data(), wi.data(), nullptr, 1, vr.data(),
                                                  int(n));
        unpack_pairs(wr.data(), wi.data(), vr.data(), n, values, matrix_at<C>(v, i));
      }
    });
  });
  check_info(info, "linalg.eig", eigen_failed);
  return {w, v};
}

// ---- singular values

std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& a, bool full, bool compute_uv,
                                               std::optional<std::string_view> driver) {
  check_matrix(a, "linalg.svd");
  check_dtype(a, "linalg.svd", "linalg_svd_cpu");
  check(!driver, "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs "
        "with cuSOLVER backend.");
  const int64_t m = rows(a), n = cols(a), k = std::min(m, n);
  const IntRef batch = batch_sizes(a);
  Tensor s = empty_tensor(with_batch(batch, {k}), to_real(a.dtype()), a.device());
  Tensor u, vh;
  if (compute_uv) {
    u = empty_columns(batch, m, full ? m : k, a.dtype(), a.device());
    vh = empty_columns(batch, full ? n : k, n, a.dtype(), a.device());
  } else {
    u = empty_tensor({0}, a.dtype(), a.device());
    vh = empty_tensor({0}, a.dtype(), a.device());
  }
  if (a.is_meta()) return {u, s, vh};
  if (a.numel() == 0) {
    for (Tensor* t : {&u, &vh}) {
      if (t->numel() == 0) continue;
      Tensor e = empty_tensor({rows(*t), cols(*t)}, a.dtype(), a.device());
      eye_into(e);
      copy_tensor(*t, expand(e, t->sizes()));
    }
    return {u, s, vh};
  }
  const Tensor x = column_copy(a);
  Tensor info = empty_info(batch, a.device());
  visit(Types{}, a.dtype(), "linalg_svd_cpu", [&]<class T>() {
    if (!all_finite(x.data<T>(), x.numel()))
      throw_error(ErrorKind::Linalg,
                  str("linalg.svd: ", batch.empty() ? "" : "(Batch element 0): ",
                      "The algorithm failed to converge because the input matrix "
                      "contained non-finite values."));
    each(batch_count(a), 10 * m * n * k, [&](int64_t i) {
      info.data<int32_t>()[i] = lapack::gesdd<T>(
          !compute_uv ? 'N' : full ? 'A' : 'S', int(m), int(n), matrix_at<T>(x, i), ld(x),
          s.data<lapack::Real<T>>() + i * k, compute_uv ? matrix_at<T>(u, i) : nullptr,
          compute_uv ? ld(u) : 1, compute_uv ? matrix_at<T>(vh, i) : nullptr,
          compute_uv ? ld(vh) : 1);
    });
  });
  check_info(info, "linalg.svd", svd_failed);
  return {u, s, vh};
}

// ---- least squares

namespace {

struct LeastSquares {
  Tensor a, b, rank, singular;
  double rcond;
  std::string_view driver;
};

template <class T>
int run_driver(const LeastSquares& q, int64_t i) {
  using R = lapack::Real<T>;
  const int m = int(rows(q.a)), n = int(cols(q.a)), k = int(cols(q.b));
  T* a = matrix_at<T>(q.a, i);
  T* b = matrix_at<T>(q.b, i);
  R* s = q.singular.numel() ? q.singular.data<R>() + i * std::min(m, n) : nullptr;
  int rank = 0, info = 0;
  if (q.driver == "gels") {
    return lapack::gels<T>('N', m, n, k, a, ld(q.a), b, ld(q.b));
  } else if (q.driver == "gelsy") {
    std::vector<int> jpvt(size_t(n), 0);
    info = lapack::gelsy<T>(m, n, k, a, ld(q.a), b, ld(q.b), jpvt.data(), R(q.rcond), &rank);
  } else if (q.driver == "gelsd") {
    info = lapack::gelsd<T>(m, n, k, a, ld(q.a), b, ld(q.b), s, R(q.rcond), &rank);
  } else {
    info = lapack::gelss<T>(m, n, k, a, ld(q.a), b, ld(q.b), s, R(q.rcond), &rank);
  }
  q.rank.data<int64_t>()[i] = rank;
  return info;
}

// Squared lengths of what the solution leaves, where m > n and all ranks are full.
Tensor residuals_of(const LeastSquares& q, int64_t n) {
  const int64_t m = rows(q.a), k = cols(q.b), count = batch_count(q.a);
  const bool defined = m > n && q.driver != "gelsy" && [&] {
    for (int64_t i = 0; i < q.rank.numel() && !q.rank.is_meta(); ++i)
      if (q.rank.data<int64_t>()[i] != n) return false;
    return true;
  }();
  if (!defined) return empty_tensor({0}, to_real(q.a.dtype()), q.a.device());
  Tensor out = empty_tensor(with_batch(batch_sizes(q.a), {k}), to_real(q.a.dtype()), q.a.device());
  if (out.is_meta()) return out;
  visit(Types{}, q.a.dtype(), "linalg_lstsq_cpu", [&]<class T>() {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < k; ++j) {
        lapack::Real<T> sum = 0;
        for (int64_t r = n; r < m; ++r) sum += std::norm(matrix_at<T>(q.b, i)[j * ld(q.b) + r]);
        out.data<lapack::Real<T>>()[i * k + j] = sum;
      }
  });
  return out;
}

void check_lstsq(const Tensor& a, const Tensor& b, std::optional<std::string_view> driver) {
  check(a.dim() >= 2, "torch.linalg.lstsq: input must have at least 2 dimensions.");
  check(b.dim() >= 1, "torch.linalg.lstsq: other must have at least 1 dimension.");
  check(a.dtype() == b.dtype(), "torch.linalg.lstsq: Expected input and other to have the same "
        "dtype, but got input's dtype ", a.dtype(), " and other's dtype ", b.dtype());
  const int64_t gap = a.dim() - b.dim();
  check(gap >= 0, "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and "
        "(input.dim() - other.dim()) <= 1");
  check(gap <= 1 || b.dim() == 1, "torch.linalg.lstsq: input.dim() must be greater or equal to "
        "other.dim() and (input.dim() - other.dim()) <= 1");
  const bool vector = gap == 1 && a.sizes().slice(0, size_t(a.dim()) - 1) == b.sizes();
  check(vector || b.dim() < 2 || rows(a) == rows(b) || gap == 1,
        "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  if (!driver) return;
  check(*driver == "gels" || *driver == "gelsy" || *driver == "gelsd" || *driver == "gelss",
        "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& a, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  check_lstsq(a, b, driver);
  if (is_integral(a.dtype(), true) || is_reduced(a.dtype()))
    fail("This function doesn't handle types other than float and double");
  const bool vector = a.dim() - b.dim() == 1;
  const Tensor right = vector ? unsqueeze(b, -1) : b;
  const Dims batch = broadcast_shapes(batch_sizes(a), batch_sizes(right));
  const int64_t m = rows(a), n = cols(a), k = cols(right);
  check(rows(right) == m, "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  LeastSquares q;
  q.driver = driver.value_or("gelsy");
  const bool is_double = to_real(a.dtype()) == DType::Double;
  q.rcond = rcond.value_or((is_double ? 2.220446049250313e-16 : 1.1920928955078125e-07) *
                           double(std::max(m, n)));
  q.a = column_copy(expand(a, with_batch(batch, {m, n})));
  q.b = empty_columns(batch, std::max(m, n), k, a.dtype(), a.device());
  zero_tensor(q.b);
  if (right.numel() > 0)
    copy_tensor(narrow(q.b, -2, 0, m), expand(right, with_batch(batch, {m, k})));
  const bool values = q.driver == "gelsd" || q.driver == "gelss";
  const DType real = to_real(a.dtype());
  q.rank = q.driver == "gels" ? empty_tensor({0}, DType::Int64, a.device())
                              : full_tensor(batch, Scalar(0), DType::Int64, a.device());
  q.singular = values ? empty_tensor(with_batch(batch, {std::min(m, n)}), real, a.device())
                      : empty_tensor({0}, real, a.device());
  if (q.a.numel() > 0 && q.b.numel() > 0 && !a.is_meta()) {
    Tensor info = empty_info(batch, a.device());
    visit(Types{}, a.dtype(), "linalg_lstsq_cpu", [&]<class T>() {
      each(product(batch), m * n * (n + k), [&](int64_t i) {
        info.data<int32_t>()[i] = run_driver<T>(q, i);
      });
    });
    check_info(info, "torch.linalg.lstsq", [](int64_t) {
      return std::string(
          "The least squares solution could not be computed because the input matrix "
          "does not have full rank.");
    });
  }
  const Tensor residuals = residuals_of(q, n);
  Tensor x = narrow(q.b, -2, 0, n);
  if (vector) x = squeeze_dims(x, {-1});
  return {x, residuals, q.rank, q.singular};
}

}  // namespace rl::native
