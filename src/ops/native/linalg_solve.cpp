// Linear systems: LU, inverse, Cholesky, triangular and symmetric indefinite solvers.
#include <cmath>
#include <vector>

#include "ops/native/linalg_batch.h"

namespace rl::native {

using namespace rl::linalg;

namespace {

std::string singular_inverse(int64_t i) {
  return str("The diagonal element ", i, " is zero, the inversion could not be completed because "
             "the input matrix is singular.");
}
std::string singular_solve(int64_t) {
  return "The solver failed because the input matrix is singular.";
}
std::string not_definite(int64_t i) {
  return str("The factorization could not be completed because the input is not positive-definite "
             "(the leading minor of order ", i, " is not positive-definite).");
}

// Zeroes below the diagonal (or above it).
template <class T>
void clear_triangle(T* a, int64_t m, int64_t n, bool below) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = below ? j + 1 : 0; i < (below ? m : std::min(j, m)); ++i) a[j * m + i] = T(0);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& a, bool pivot,
                                                       bool check_errors) {
  check(a.dim() >= 2, "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: ",
        a.sizes(), " instead");
  check(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  if (!(a.dtype() == DType::Float || a.dtype() == DType::Double || a.is_complex()))
    dtype_not_implemented("lu_cpu", a.dtype());
  Factors f = lu_factors(a);
  if (check_errors)
    check_info(f.info, "torch.linalg.lu_factor_ex", singular_solve);
  return {f.lu, f.pivots, f.info};
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& a, bool check_errors) {
  check_square(a, "linalg.inv");
  check_dtype(a, "linalg.inv");
  Factors f = lu_factors(a);
  const int64_t n = rows(a);
  if (!a.is_meta() && a.numel() > 0) {
    visit(Types{}, a.dtype(), "linalg_inv", [&]<class T>() {
      each(batch_count(a), n * n * n, [&](int64_t i) {
        if (f.info.data<int32_t>()[i] == 0)
          f.info.data<int32_t>()[i] = lapack::getri<T>(int(n), matrix_at<T>(f.lu, i), ld(f.lu),
                                                       f.pivots.data<int32_t>() + i * n);
      });
    });
  }
  if (check_errors) check_info(f.info, "linalg.inv", singular_inverse);
  return {f.lu, f.info};
}

// B with the batch of the result, column-major, made ready to be overwritten.
static Tensor expanded_columns(const Tensor& b, IntRef batch) {
  return column_copy(expand(b, with_batch(batch, {rows(b), cols(b)})));
}

std::tuple<Tensor, Tensor> _solve_matrix(const Tensor& a, const Tensor& b, bool left) {
  check_square(a, "linalg.solve");
  check_matrix(b, "linalg.solve", "B");
  check((left ? rows(b) : cols(b)) == rows(a) && a.dtype() == b.dtype(),
        "linalg.solve: incompatible shapes or dtypes of A and B");
  const Dims batch = broadcast_shapes(batch_sizes(a), batch_sizes(b));
  Tensor info = empty_info(batch, a.device());
  const Tensor wide = expand(a, with_batch(batch, {rows(a), cols(a)}));
  // X A = B is A^T X^T = B^T.
  Tensor x = expanded_columns(left ? b : transpose(b, -2, -1), batch);
  Tensor lu = column_copy(left ? wide : transpose(wide, -2, -1));
  const int64_t n = rows(x), k = cols(x);
  if (!x.is_meta() && lu.numel() > 0) {
    visit(Types{}, a.dtype(), "linalg_solve", [&]<class T>() {
      each(product(batch), n * n * (n + k), [&](int64_t i) {
        std::vector<int> pivots(static_cast<size_t>(n));
        info.data<int32_t>()[i] = lapack::gesv<T>(int(n), int(k), matrix_at<T>(lu, i), ld(lu),
                                                  pivots.data(), matrix_at<T>(x, i), ld(x));
      });
    });
  }
  return {left ? x : transpose(x, -2, -1), info};
}

// A^op x = B for a triangular A: the BLAS takes the side, so nothing is transposed.
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left,
                               bool unit) {
  check_square(a, "linalg.solve_triangular");
  check_matrix(b, "linalg.solve_triangular", "B");
  check(left ? rows(b) == rows(a) : cols(b) == rows(a), "linalg.solve_triangular: Incompatible "
        "shapes of A and B for the equation ", left ? "AX" : "XA", " = B (", rows(a), "x", cols(a),
        " and ", rows(b), "x", cols(b), ")");
  if (!(b.dtype() == DType::Float || b.dtype() == DType::Double || b.is_complex()))
    dtype_not_implemented("triangular_solve_cpu", b.dtype());
  const DType d = a.dtype();
  const Dims batch = broadcast_shapes(batch_sizes(a), batch_sizes(b));
  const Tensor t = column_copy(expand(a, with_batch(batch, {rows(a), cols(a)})));
  Tensor x = expanded_columns(rl::to_dtype(b, d), batch);
  const int64_t m = rows(x), n = cols(x);
  if (x.is_meta() || x.numel() == 0) return x;
  visit(Types{}, d, "triangular_solve_cpu", [&]<class T>() {
    each(product(batch), m * n * rows(a), [&](int64_t i) {
      lapack::trsm<T>(left ? 'L' : 'R', upper ? 'U' : 'L', 'N', unit ? 'U' : 'N', int(m), int(n),
                      T(1), matrix_at<T>(t, i), ld(t), matrix_at<T>(x, i), ld(x));
    });
  });
  return x;
}

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& a, bool upper, bool check_errors) {
  check_square(a, "linalg.cholesky");
  check_dtype(a, "linalg.cholesky", "cholesky_cpu");
  Tensor out = column_copy(a);
  Tensor info = empty_info(batch_sizes(a), a.device());
  const int64_t n = rows(a);
  if (!a.is_meta() && a.numel() > 0) {
    visit(Types{}, a.dtype(), "cholesky_cpu", [&]<class T>() {
      each(batch_count(a), n * n * n, [&](int64_t i) {
        info.data<int32_t>()[i] =
            lapack::potrf<T>(upper ? 'U' : 'L', int(n), matrix_at<T>(out, i), ld(out));
        clear_triangle(matrix_at<T>(out, i), n, n, upper);
      });
    });
  }
  if (check_errors) check_info(info, "linalg.cholesky", not_definite);
  return {out, info};
}

Tensor cholesky_solve(const Tensor& b, const Tensor& a, bool upper) {
  check(b.dim() >= 2, "b should have at least 2 dimensions, but has ", b.dim(),
        " dimensions instead");
  check(a.dim() >= 2, "u should have at least 2 dimensions, but has ", a.dim(),
        " dimensions instead");
  check(b.dtype() == a.dtype(), "Expected b and A to have the same dtype, but found b of type ",
        b.dtype(), " and A of type ", a.dtype(), " instead.");
  check(rows(a) == cols(a), "A must be batches of square matrices, but they are ", rows(a), " by ",
        cols(a), " matrices");
  check(rows(a) == rows(b), "Incompatible matrix sizes for cholesky_solve: each A matrix is ",
        rows(a), " by ", cols(a), " but each b matrix is ", rows(b), " by ", cols(b));
  const Dims batch = broadcast_shapes(batch_sizes(a), batch_sizes(b));
  const Tensor t = column_copy(expand(a, with_batch(batch, {rows(a), cols(a)})));
  Tensor x = expanded_columns(b, batch);
  if (x.is_meta() || x.numel() == 0) return x;
  visit(Types{}, b.dtype(), "cholesky_solve_cpu", [&]<class T>() {
    each(product(batch), rows(x) * rows(x) * cols(x), [&](int64_t i) {
      lapack::potrs<T>(upper ? 'U' : 'L', int(rows(x)), int(cols(x)), matrix_at<T>(t, i), ld(t),
                       matrix_at<T>(x, i), ld(x));
    });
  });
  return x;
}

Tensor cholesky_inverse(const Tensor& a, bool upper) {
  check_square(a, "cholesky_inverse");
  Tensor out = column_copy(a);
  Tensor info = empty_info(batch_sizes(a), a.device());
  const int64_t n = rows(a);
  if (a.is_meta() || a.numel() == 0) return out;
  visit(Types{}, a.dtype(), "cholesky_inverse_out_cpu", [&]<class T>() {
    each(batch_count(a), n * n * n, [&](int64_t i) {
      T* x = matrix_at<T>(out, i);
      info.data<int32_t>()[i] = lapack::potri<T>(upper ? 'U' : 'L', int(n), x, ld(out));
      for (int64_t c = 0; c < n; ++c)
        for (int64_t r = 0; r < c; ++r) {
          T& high = x[c * n + r];
          T& low = x[r * n + c];
          if constexpr (is_complex(dtype_of<T>))
            (upper ? low : high) = std::conj(upper ? high : low);
          else (upper ? low : high) = upper ? high : low;
        }
    });
  });
  check_info(info, "cholesky_inverse", singular_inverse);
  return out;
}

// ---- lu_solve: A X = B (or its adjoint) from the factors

Tensor _lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, int64_t trans) {
  check_square(lu, "linalg.lu_solve", "LU");
  check_matrix(b, "linalg.lu_solve", "B");
  check(rows(b) == rows(lu) && lu.dtype() == b.dtype() && pivots.dtype() == DType::Int32 &&
            trans >= 0 && trans <= 2,
        "linalg.lu_solve: incompatible shapes or dtypes of LU, pivots and B");
  const Dims batch = broadcast_shapes(batch_sizes(lu), batch_sizes(b));
  const Tensor wide = column_copy(expand(lu, with_batch(batch, {rows(lu), cols(lu)})));
  const Tensor p = contiguous_tensor(expand(pivots, with_batch(batch, {cols(lu)})));
  return solve_factored({wide, p, Tensor()}, expanded_columns(b, batch), "NTC"[trans]);
}

// P, as int64 permutation matrices' row of every column: out[..., j] = row i with P[i, j] = 1.
Tensor _lu_permutation(const Tensor& pivots, int64_t m) {
  check(pivots.dim() > 0 && pivots.dtype() == DType::Int32,
        "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype");
  const int64_t k = pivots.sizes().back();
  check(k <= m, "torch.lu_unpack: ", k, " pivots for ", m, " rows");
  Dims sizes(pivots.sizes());
  sizes.back() = m;
  Tensor out = empty_tensor(sizes, DType::Int64, pivots.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor p = contiguous_tensor(pivots);
  for (int64_t i = 0; i < out.numel() / m; ++i) {
    int64_t* order = out.data<int64_t>() + i * m;
    for (int64_t j = 0; j < m; ++j) order[j] = j;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t with = p.data<int32_t>()[i * k + j] - 1;
      check(with >= 0 && with < m, "pivots passed to lu_solve must be between 1 and LU.size(-2) "
            "inclusive. Did you properly call LU factorization?");
      std::swap(order[j], order[with]);
    }
  }
  return out;
}

// The matrix with ones at (order[j], j).
Tensor _permutation_matrix(const Tensor& order, DType dtype) {
  check(order.dim() > 0 && order.dtype() == DType::Int64 && order.is_contiguous(),
        "torch.lu_unpack: expected a row-major permutation of dtype torch.int64");
  const int64_t m = order.sizes().back();
  Dims sizes(order.sizes());
  sizes.push_back(m);
  Tensor out = full_tensor(sizes, Scalar(0), dtype, order.device());
  if (out.is_meta()) return out;
  visit(AllTypes{}, dtype, "lu_unpack", [&]<class T>() {
    for (int64_t i = 0; i < order.numel(); ++i)
      check_index(order.data<int64_t>()[i] >= 0 && order.data<int64_t>()[i] < m,
                  "torch.lu_unpack: no permutation");
    for (int64_t i = 0; i < order.numel(); ++i)
      out.data<T>()[(i / std::max<int64_t>(m, 1)) * m * m + order.data<int64_t>()[i] * m +
                    i % std::max<int64_t>(m, 1)] = T(1);
  });
  return out;
}

// ---- LDL

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& a, bool hermitian,
                                                        bool check_errors) {
  check_square(a, "torch.linalg.ldl_factor_ex");
  check_dtype(a, "torch.linalg.ldl_factor_ex", "ldl_factor_kernel_cpu");
  Tensor out = column_copy(a);
  Tensor info = empty_info(batch_sizes(a), a.device());
  const int64_t n = rows(a);
  Tensor pivots = empty_tensor(with_batch(batch_sizes(a), {n}), DType::Int32, a.device());
  if (!a.is_meta() && a.numel() > 0) {
    visit(Types{}, a.dtype(), "ldl_factor_kernel_cpu", [&]<class T>() {
      each(batch_count(a), n * n * n, [&](int64_t i) {
        int32_t* p = pivots.data<int32_t>() + i * n;
        T* x = matrix_at<T>(out, i);
        info.data<int32_t>()[i] = hermitian ? lapack::hetrf<T>('L', int(n), x, ld(out), p)
                                            : lapack::sytrf<T>('L', int(n), x, ld(out), p);
        clear_triangle(x, n, n, false);
      });
    });
  }
  if (check_errors) check_info(info, "torch.linalg.ldl_factor_ex", singular_solve);
  return {out, pivots, info};
}

Tensor linalg_ldl_solve(const Tensor& ldl, const Tensor& pivots, const Tensor& b, bool hermitian) {
  check_square(ldl, "torch.linalg.ldl_solve", "LD");
  check_dtype(ldl, "torch.linalg.ldl_solve");
  check(b.dim() >= 2,
        "torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has ", b.dim(),
        " dimensions instead");
  check(rows(ldl) == rows(b), "torch.linalg.ldl_solve: Incompatible shapes of A and B for the "
        "equation AX = B (", rows(ldl), "x", cols(ldl), " and ", rows(b), "x", cols(b), ")");
  check(pivots.dtype() == DType::Int32, "torch.linalg.ldl_solve: Expected pivots to be integers. "
        "Got ", pivots.dtype());
  check(ldl.dtype() == b.dtype(), "torch.linalg.ldl_solve: LD dtype ", ldl.dtype(),
        " does not match b dtype ", b.dtype());
  const Dims batch = broadcast_shapes(batch_sizes(ldl), batch_sizes(b));
  const Tensor f = column_copy(expand(ldl, with_batch(batch, {rows(ldl), cols(ldl)})));
  const Tensor p = contiguous_tensor(expand(pivots, with_batch(batch, {cols(ldl)})));
  Tensor x = expanded_columns(b, batch);
  const int64_t n = rows(x), k = cols(x);
  if (x.is_meta() || x.numel() == 0) return x;
  visit(Types{}, b.dtype(), "ldl_solve_kernel_cpu", [&]<class T>() {
    each(product(batch), n * n * k, [&](int64_t i) {
      const int32_t* pi = p.data<int32_t>() + i * n;
      if (hermitian)
        lapack::hetrs<T>('L', int(n), int(k), matrix_at<T>(f, i), ld(f), pi, matrix_at<T>(x, i),
                         ld(x));
      else
        lapack::sytrs<T>('L', int(n), int(k), matrix_at<T>(f, i), ld(f), pi, matrix_at<T>(x, i),
                         ld(x));
    });
  });
  return x;
}

// ---- determinants

std::tuple<Tensor, Tensor> _slogdet(const Tensor& a) {
  check_square(a, "linalg.slogdet");
  Factors f = lu_factors(a);
  const int64_t n = rows(a);
  Tensor sign = empty_tensor(batch_sizes(a), a.dtype(), a.device());
  Tensor log = empty_tensor(batch_sizes(a), to_real(a.dtype()), a.device());
  if (a.is_meta()) return {sign, log};
  visit(Types{}, a.dtype(), "lu_cpu", [&]<class T>() {
    using R = lapack::Real<T>;
    for (int64_t i = 0; i < batch_count(a); ++i) {
      T s(1);
      R sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        const T d = matrix_at<T>(f.lu, i)[j * n + j];
        const R size = std::abs(d);
        s *= size == 0 ? T(0) : d / size;
        if (f.pivots.data<int32_t>()[i * n + j] != j + 1) s = -s;
        sum += std::log(size);
      }
      sign.data<T>()[i] = s, log.data<R>()[i] = sum;
    }
  });
  return {sign, log};
}

Tensor linalg_det(const Tensor& a) {
  check_square(a, "linalg.det");
  check_dtype(a, "linalg.det", "lu_cpu");
  Factors f = lu_factors(a);
  const int64_t n = rows(a);
  Tensor det = empty_tensor(batch_sizes(a), a.dtype(), a.device());
  if (a.is_meta()) return det;
  visit(Types{}, a.dtype(), "lu_cpu", [&]<class T>() {
    for (int64_t i = 0; i < batch_count(a); ++i) {
      T d(1);
      for (int64_t j = 0; j < n; ++j) {
        d *= matrix_at<T>(f.lu, i)[j * n + j];
        if (f.pivots.data<int32_t>()[i * n + j] != j + 1) d = -d;
      }
      det.data<T>()[i] = d;
    }
  });
  return det;
}

}  // namespace rl::native
