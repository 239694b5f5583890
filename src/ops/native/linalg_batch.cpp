// See linalg_batch.h.
#include "ops/native/linalg_batch.h"

namespace rl::linalg {

void check_matrix(const Tensor& a, const char* name, const char* arg) {
  check(a.dim() >= 2, name, ": The input tensor ", arg, " must have at least 2 dimensions.");
}

void check_square(const Tensor& a, const char* name, const char* arg) {
  check_matrix(a, name, arg);
  check(rows(a) == cols(a), name, ": ", arg, " must be batches of square matrices, but they are ",
        rows(a), " by ", cols(a), " matrices");
}

void check_dtype(const Tensor& a, const char* name, const char* low_kernel) {
  const DType d = a.dtype();
  check_implemented(is_floating(d) || is_complex(d), name,
                    ": Expected a floating point or complex tensor as input. Got ", d);
  const bool low = d != DType::Float && d != DType::Double && d != DType::ComplexFloat &&
                   d != DType::ComplexDouble;
  if (low && low_kernel) dtype_not_implemented(low_kernel, d);
  check_implemented(!low, name, ": Low precision dtypes not supported. Got ", d);
}

void check_info(const Tensor& info, const char* name, std::string (*what)(int64_t)) {
  if (info.is_meta()) return;
  const Tensor flat = contiguous_tensor(info);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int32_t v = flat.data<int32_t>()[i];
    if (v == 0) continue;
    const std::string where = info.dim() == 0 ? "" : str("(Batch element ", i, "): ");
    check(v > 0, name, ": ", where, "Argument ", -v, " has illegal value.");
    throw_error(ErrorKind::Linalg, str(name, ": ", where, what(v)));
  }
}

Tensor empty_columns(IntRef batch, int64_t m, int64_t n, DType dtype, Device device) {
  const Tensor t = empty_tensor(with_batch(batch, {n, m}), dtype, device);
  return native::transpose(t, -2, -1);
}

Tensor column_copy(const Tensor& a) {
  Tensor t = empty_columns(batch_sizes(a), rows(a), cols(a), a.dtype(), a.device());
  if (!t.is_meta() && t.numel() > 0) copy_tensor(t, a);
  return t;
}

Factors lu_factors(const Tensor& a) {
  const int64_t m = rows(a), n = cols(a), k = std::min(m, n), count = batch_count(a);
  Factors f{column_copy(a), empty_tensor(with_batch(batch_sizes(a), {k}), DType::Int32, a.device()),
            empty_info(batch_sizes(a), a.device())};
  if (a.is_meta() || a.numel() == 0) return f;
  visit(Types{}, a.dtype(), "lu_cpu", [&]<class T>() {
    each(count, m * n * k, [&](int64_t i) {
      f.info.data<int32_t>()[i] = lapack::getrf<T>(int(m), int(n), matrix_at<T>(f.lu, i), ld(f.lu),
                                                   f.pivots.data<int32_t>() + i * k);
    });
  });
  return f;
}

Tensor solve_factored(const Factors& f, const Tensor& b, char trans) {
  const int64_t n = rows(b), k = cols(b), count = batch_count(b);
  if (b.is_meta() || b.numel() == 0) return b;
  visit(Types{}, b.dtype(), "lu_solve_cpu", [&]<class T>() {
    each(count, n * n * k, [&](int64_t i) {
      lapack::getrs<T>(trans, int(n), int(k), matrix_at<T>(f.lu, i), ld(f.lu),
                       f.pivots.data<int32_t>() + i * n, matrix_at<T>(b, i), ld(b));
    });
  });
  return b;
}

}  // namespace rl::linalg
