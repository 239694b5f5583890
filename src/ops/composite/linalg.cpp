// Linear algebra made of decompositions: solvers with their checks, triangular factors, older
// names.
#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg_decompose.h"
#include "gen/ops/linalg_solve.h"
#include "gen/ops/math.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"
#include "ops/native/linalg_batch.h"

namespace rl::composite {

// Whether a derivative, backward or forward, may be asked for.
static bool differentiated(const Tensor& t) { return t.requires_grad() || t->has_forward_grad; }

namespace {

Tensor adjoint_of(const Tensor& t) { return conj_if(rl::transpose(t, -2, -1)); }

std::string zero_pivot(int64_t i) {
  return str("U[", i, ",", i, "] is zero and using it on lu_solve would result in a division by "
             "zero. If you still want to perform the factorization, consider calling "
             "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
}

void check_equation(const char* name, const Tensor& a, const Tensor& b, bool left) {
  check(left ? a.size(-2) == b.size(-2) : a.size(-1) == b.size(-1), name,
        ": Incompatible shapes of "
        "A and B for the equation ",
        left ? "AX" : "XA", " = B (", a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x",
        b.size(-1), ")");
}

}  // namespace

// ---- LU

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& a, bool pivot) {
  auto [lu, pivots, info] = rl::linalg_lu_factor_ex(a, pivot, false);
  for (int64_t i = 0; !info.is_meta() && i < info.numel(); ++i) {
    const int32_t v = info.data<int32_t>()[i];
    if (v == 0) continue;
    fail("torch.linalg.lu_factor: ", info.dim() ? str("(Batch element ", i, "): ") : std::string(),
         zero_pivot(v));
  }
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu, const Tensor& pivots, bool data,
                                             bool with_pivots) {
  check(pivots.dtype() == DType::Int32 && pivots.is_contiguous(),
        "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
        "Note: this function is intended to be used with the output produced by "
        "torch.linalg.lu_factor");
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  auto none = [&] { return rl::full({0}, Scalar(0), lu.dtype(), lu.device()); };
  Tensor p = none(), l = none(), u = none();
  if (with_pivots) p = rl::_permutation_matrix(rl::_lu_permutation(pivots, m), lu.dtype());
  if (data) {
    l = rl::tril(rl::slice(lu, -1, 0, k, 1), -1) + rl::eye(m, k, lu.dtype(), lu.device());
    u = rl::triu(rl::slice(lu, -2, 0, k, 1), 0);
  }
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& a, bool pivot) {
  check(a.dim() >= 2, "linalg.lu: Expected tensor with 2 or more dimensions. Got size: ", a.sizes(),
        " instead");
  auto [lu, pivots, info] = rl::linalg_lu_factor_ex(a, pivot, false);
  return rl::lu_unpack(lu, pivots, true, true);
}

std::tuple<Tensor, Tensor, Tensor> _lu_with_info(const Tensor& self, bool pivot, bool) {
  return rl::linalg_lu_factor_ex(self, pivot, false);
}

static Tensor swapped(const Tensor& t) { return rl::transpose(t, -2, -1); }

// A^op X = B from P, L and U by triangular solvers, differentiable.
static Tensor solve_by_factors(const Tensor& lu, const Tensor& pivots, const Tensor& b,
                               bool adjoint) {
  auto [p, l, u] = rl::lu_unpack(lu, pivots, true, true);
  if (!adjoint) {
    const Tensor y = rl::linalg_solve_triangular(l, rl::matmul(swapped(p), b), false, true, true);
    return rl::linalg_solve_triangular(u, y, true, true, false);
  }
  const Tensor y = rl::linalg_solve_triangular(adjoint_of(u), b, false, true, false);
  return rl::matmul(p, rl::linalg_solve_triangular(adjoint_of(l), y, true, true, true));
}

Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left,
                       bool adjoint) {
  rl::linalg::check_dtype(lu, "linalg.lu_solve");
  check(lu.dtype() == b.dtype(), "linalg.lu_solve: Expected LU and B to have the same dtype, but "
        "found LU of type ", lu.dtype(), " and B of type ", b.dtype(), " instead");
  check(pivots.dtype() == DType::Int32, "linalg.lu_solve: pivots should be a Tensor of scalar type "
        "torch.int32");
  rl::linalg::check_square(lu, "torch.linalg.lu_solve", "LU");
  check_equation("linalg.lu_solve", lu, b, left);
  check(lu.size(-1) == pivots.size(-1),
        "linalg.lu_solve: Number of pivots per batch should be same "
        "as the dimension of the matrix");
  // X A = B is A^H X^H = B^H.
  const Tensor right = left ? b : adjoint_of(b);
  const bool turned = left ? adjoint : !adjoint;
  const Tensor x = differentiated(lu) || differentiated(b)
                       ? solve_by_factors(lu, pivots, right, turned)
                       : rl::_lu_solve(lu, pivots, right, turned ? 2 : 0);
  return left ? x : adjoint_of(x);
}

Tensor lu_solve(const Tensor& self, const Tensor& lu, const Tensor& pivots) {
  return rl::linalg_lu_solve(lu, pivots, self, true, false);
}

// ---- inverse and solve

Tensor linalg_inv(const Tensor& a) { return std::get<0>(rl::linalg_inv_ex(a, true)); }
Tensor inverse(const Tensor& self) { return rl::linalg_inv(self); }

static void check_solve(const Tensor& a, const Tensor& b) {
  rl::linalg::check_dtype(a, "linalg.solve");
  rl::linalg::check_square(a, "linalg.solve");
  check(a.dtype() == b.dtype(),
        "linalg.solve: Expected A and B to have the same dtype, but found A "
        "of type ",
        a.dtype(), " and B of type ", b.dtype(), " instead");
}

// A batch of vectors rather than matrices, as NumPy tells them apart.
static bool is_vector(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 ||
         (a.dim() - 1 == b.dim() && a.sizes().slice(0, size_t(a.dim()) - 1) == b.sizes());
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& a, const Tensor& b, bool left,
                                           bool check_errors) {
  check_solve(a, b);
  const bool vector = is_vector(a, b);
  check(left || !vector, "linalg.solve: Vector broadcasting of the left hand side is not supported "
        "for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)");
  const Tensor right = vector ? rl::unsqueeze(b, -1) : b;
  check(right.dim() >= 2, "linalg.solve: The input tensor B must have at least 2 dimensions.");
  check_equation("linalg.solve", a, right, left);
  auto [x, info] = rl::_solve_matrix(a, right, left);
  if (check_errors)
    rl::linalg::check_info(info, "torch.linalg.solve", [](int64_t) {
      return std::string("The solver failed because the input matrix is singular.");
    });
  return {vector ? rl::squeeze(x, {-1}) : x, info};
}
Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left) {
  return std::get<0>(composite::linalg_solve_ex(a, b, left, true));
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& a, bool upper,
                                            bool transpose, bool unit) {
  check(self.dim() >= 2,
        "torch.triangular_solve: Expected b to have at least 2 dimensions, but it "
        "has ",
        self.dim(), " dimensions instead");
  check(a.dim() >= 2,
        "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has ", a.dim(),
        " dimensions instead");
  check(a.size(-1) == a.size(-2), "A must be batches of square matrices, but they are ", a.size(-2),
        " by ", a.size(-1), " matrices");
  check(a.size(-2) == self.size(-2),
        "Incompatible matrix sizes for triangular_solve: each A matrix "
        "is ",
        a.size(-2), " by ", a.size(-1), " but each b matrix is ", self.size(-2), " by ",
        self.size(-1));
  const Tensor used = transpose ? swapped(a) : a;
  return {rl::linalg_solve_triangular(used, self, upper != transpose, true, unit), rl::clone(a)};
}

// ---- Cholesky, LDL, determinants

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  return std::get<0>(rl::linalg_cholesky_ex(self, upper, true));
}

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  auto [ld, pivots, info] = rl::linalg_ldl_factor_ex(self, hermitian, false);
  rl::linalg::check_info(info, "torch.linalg.ldl_factor", [](int64_t i) {
    return str("D[", i, ",", i, "] is zero: the matrix is singular.");
  });
  return {ld, pivots};
}

Tensor det(const Tensor& self) { return rl::linalg_det(self); }

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& a) {
  rl::linalg::check_square(a, "linalg.slogdet");
  rl::linalg::check_dtype(a, "linalg.slogdet");
  return rl::_slogdet(a);
}
std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return rl::linalg_slogdet(self); }

Tensor logdet(const Tensor& self) {
  rl::linalg::check_square(self, "logdet");
  rl::linalg::check_dtype(self, "logdet");
  auto [sign, log] = rl::_slogdet(self);
  if (self.is_complex()) return rl::log(sign) + log;
  return rl::_where(rl::eq(sign, wrapped_number(Scalar(-1.0))),
                    wrapped_number(Scalar(double(NAN))), log);
}

// ---- QR

static void check_reflectors(const Tensor& input, const Tensor& tau) {
  const char* name = "torch.linalg.householder_product";
  check(input.dim() >= 2, name, ": input must have at least 2 dimensions.");
  check(input.size(-2) >= input.size(-1), name,
        ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  check(input.size(-1) >= tau.size(-1), name,
        ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  check(input.dim() - tau.dim() == 1, name, ": Expected tau to have one dimension less than input, "
        "but got tau.ndim equal to ", tau.dim(), " and input.ndim is equal to ", input.dim());
  check(input.sizes().slice(0, size_t(input.dim()) - 2) ==
            tau.sizes().slice(0, size_t(tau.dim()) - 1),
        name, ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
        tau.sizes().slice(0, size_t(tau.dim()) - 1));
  check(tau.dtype() == input.dtype(), name, ": tau dtype ", tau.dtype(),
        " does not match input dtype ", input.dtype());
  check(tau.device() == input.device(), name,
        ": Expected all tensors to be on the same device, but found at least two devices, ",
        input.device(), " and ", tau.device(), "!");
}

// C -> H C (or C H) for H = I - tau v v^H.
static Tensor reflect(const Tensor& c, const Tensor& v, const Tensor& tau, bool left) {
  const Tensor scaled = v * rl::unsqueeze(rl::unsqueeze(tau, -1), -1);
  if (left) return c - rl::matmul(scaled, rl::matmul(adjoint_of(v), c));
  return c - rl::matmul(rl::matmul(c, scaled), adjoint_of(v));
}

// The reflectors' vectors: 1 on the diagonal, zero above it.
static Tensor reflector_columns(const Tensor& input) {
  return rl::tril(input, -1) +
         rl::eye(input.size(-2), input.size(-1), input.dtype(), input.device());
}

static Tensor apply_reflectors(Tensor c, const Tensor& input, const Tensor& tau, bool left,
                               bool adjoint) {
  const Tensor v = reflector_columns(input);
  const int64_t k = tau.size(-1);
  for (int64_t step = 0; step < k; ++step) {
    const int64_t i = left != adjoint ? k - 1 - step : step;
    const Tensor t = rl::select(tau, -1, i);
    c = reflect(c, rl::slice(v, -1, i, i + 1, 1), adjoint ? conj_if(t) : t, left);
  }
  return c;
}

Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  check_reflectors(input, tau);
  if (!differentiated(input) && !differentiated(tau)) return rl::_householder(input, tau);
  const Tensor eye = rl::eye(input.size(-2), input.size(-1), input.dtype(), input.device());
  if (tau.size(-1) == 0) return eye + input * Scalar(0.0);
  return apply_reflectors(rl::expand(eye, input.sizes(), false), input, tau, true, false);
}
Tensor orgqr(const Tensor& self, const Tensor& tau) {
  return rl::linalg_householder_product(self, tau);
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
             bool transpose) {
  check(self.dim() >= 2, "torch.ormqr: input must have at least 2 dimensions.");
  check(other.dim() >= 2, "torch.ormqr: other must have at least 2 dimensions.");
  const int64_t side = left ? -2 : -1;
  check(other.size(side) >= tau.size(-1), "torch.ormqr: other.shape[", side,
        "] must be greater than or equal to tau.shape[-1]");
  check(other.size(side) == self.size(-2), "torch.ormqr: other.shape[", side,
        "] must be equal to input.shape[-2]");
  check(self.dim() - tau.dim() == 1, "torch.ormqr: Expected tau to have one dimension less than "
        "input, but got tau.ndim equal to ", tau.dim(), " and input.ndim is equal to ", self.dim());
  return apply_reflectors(other, self, tau, left, transpose);
}

// ---- eigenvalues, singular values, pseudo-inverse

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view uplo) {
  return rl::_linalg_eigh(self, uplo, true);
}
Tensor linalg_eigvalsh(const Tensor& self, std::string_view uplo) {
  return std::get<0>(rl::_linalg_eigh(self, uplo, differentiated(self)));
}
Tensor linalg_eigvals(const Tensor& self) {
  if (!is_integral(self.dtype(), true)) rl::linalg::check_square(self, "linalg.eigvals");
  return std::get<0>(rl::linalg_eig(self));
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full,
                                              std::optional<std::string_view> driver) {
  return rl::_linalg_svd(a, full, true, driver);
}
Tensor linalg_svdvals(const Tensor& a, std::optional<std::string_view> driver) {
  return std::get<1>(rl::_linalg_svd(a, false, differentiated(a), driver));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  check(self.dim() >= 2, "linalg.svd: input should have at least 2 dimensions, but has ",
        self.dim(), " dimensions instead");
  if (compute_uv) {
    auto [u, s, vh] = rl::_linalg_svd(self, !some, true, std::nullopt);
    return {u, s, adjoint_of(vh)};
  }
  const Tensor s = rl::linalg_svdvals(self, std::nullopt);
  Dims left(self.sizes()), right(self.sizes());
  left.back() = self.size(-2);
  right[size_t(self.dim()) - 2] = self.size(-1);
  return {rl::full(left, Scalar(0), self.dtype(), self.device()), s,
          rl::full(right, Scalar(0), self.dtype(), self.device())};
}

static void check_pinv(const Tensor& a) {
  const DType d = a.dtype();
  const bool fine = a.dim() >= 2 && (d == DType::Float || d == DType::Double || is_complex(d));
  check(fine, "linalg.pinv(", d, "{", a.sizes(),
        "}): expected a tensor with 2 or more dimensions of "
        "float, double, cfloat or cdouble types");
}
static Tensor number_or_none(std::optional<double> v) {
  return v ? scalar_tensor(Scalar(*v), DType::Double) : Tensor();
}

Tensor pinv_tensors(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_pinv(a);
  return rl::_pinv(a, atol, rtol, hermitian);
}
Tensor pinv_floats(const Tensor& a, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  return pinv_tensors(a, number_or_none(atol), number_or_none(rtol), hermitian);
}
Tensor pinv_rcond(const Tensor& a, double rcond, bool hermitian) {
  return pinv_tensors(a, number_or_none(0.0), number_or_none(rcond), hermitian);
}
Tensor pinv_rcond_tensor(const Tensor& a, const Tensor& rcond, bool hermitian) {
  return pinv_tensors(a, number_or_none(0.0), rcond, hermitian);
}
Tensor pinverse(const Tensor& self, double rcond) { return pinv_rcond(self, rcond, false); }

std::tuple<Tensor, Tensor> linalg_polar(const Tensor& a) {
  rl::linalg::check_matrix(a, "linalg.polar");
  rl::linalg::check_dtype(a, "linalg.polar");
  check(a.size(-2) >= a.size(-1), "linalg.polar: input must have at least as many rows as columns, "
        "but got ", a.size(-2), " by ", a.size(-1), " matrices");
  auto [u, s, vh] = rl::_linalg_svd(a, false, true, std::nullopt);
  return {rl::matmul(u, vh), rl::matmul(adjoint_of(vh) * rl::unsqueeze(s, -2), vh)};
}

Tensor matrix_exp(const Tensor& self) { return rl::linalg_matrix_exp(self); }

}  // namespace rl::composite
