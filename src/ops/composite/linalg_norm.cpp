// Norms, ranks, condition numbers, tensors as linear maps.
#include <algorithm>
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/join.h"
#include "gen/ops/linalg.h"
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
namespace {

constexpr double kInf = INFINITY;

Tensor largest(const Tensor& t, int64_t dim, bool keepdim) {
  return rl::amax(t, IntRef({dim}), keepdim);
}
Tensor smallest(const Tensor& t, int64_t dim, bool keepdim) {
  return rl::amin(t, IntRef({dim}), keepdim);
}

void check_matrix_norm(const Tensor& a, IntRef dim, std::optional<DType> dtype) {
  check_implemented(a.is_floating() || a.is_complex(), "linalg.matrix_norm: Expected a floating "
                    "point or complex tensor as input. Got ", a.dtype());
  rl::linalg::check_matrix(a, "linalg.matrix_norm");
  std::string given;
  for (int64_t d : dim) given += (given.empty() ? "" : " ") + std::to_string(d);
  check(dim.size() == 2, "linalg.matrix_norm: dim must be a 2-tuple. Got ", given);
  const int64_t first = wrap_dim(dim[0], a.dim()), second = wrap_dim(dim[1], a.dim());
  check(first != second, "linalg.matrix_norm: dims must be different. Got (", dim[0], ", ", dim[1],
        ")");
  check(!dtype || is_floating(*dtype) || is_complex(*dtype), "linalg.matrix_norm: dtype should be "
        "floating point or complex. Got ", dtype.value_or(DType::Float));
}

// The two dimensions last, in their order.
Tensor to_back(const Tensor& a, IntRef dim) {
  const int64_t first = wrap_dim(dim[0], a.dim()), second = wrap_dim(dim[1], a.dim());
  return rl::movedim(a, {first, second}, {-2, -1});
}

Tensor put_back(Tensor t, const Tensor& a, IntRef dim, bool keepdim) {
  if (!keepdim) return t;
  const int64_t x = wrap_dim(dim[0], a.dim()), y = wrap_dim(dim[1], a.dim());
  return rl::unsqueeze(rl::unsqueeze(t, std::min(x, y)), std::max(x, y));
}

Tensor converted(const Tensor& a, std::optional<DType> dtype) {
  return dtype ? rl::to(a, *dtype) : a;
}

void refuse_low(const Tensor& a, const char* name) {
  check_implemented(!is_reduced(a.dtype()), name, ": Low precision dtypes not supported. Got ",
                    a.dtype());
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& order, IntRef dim, bool keepdim,
                          std::optional<DType> dtype) {
  check_matrix_norm(self, dim, dtype);
  const double p = order.to_double(), size = std::abs(p);
  check(size == 1 || size == 2 || size == kInf, "linalg.matrix_norm: Order ", order,
        " not supported.");
  const Tensor a = to_back(converted(self, dtype), dim);
  Tensor out;
  if (size == 2) {
    refuse_low(a, "linalg.matrix_norm");
    const Tensor s = rl::linalg_svdvals(a, std::nullopt);
    out = p > 0 ? largest(s, -1, false) : smallest(s, -1, false);
  } else {
    const Tensor sums = rl::linalg_vector_norm(a, Scalar(1.0), IntRef({size == 1 ? -2 : -1}), false,
                                               std::nullopt);
    out = p > 0 ? largest(sums, -1, false) : smallest(sums, -1, false);
  }
  return put_back(out, self, dim, keepdim);
}

Tensor matrix_norm_str(const Tensor& self, std::string_view order, IntRef dim, bool keepdim,
                       std::optional<DType> dtype) {
  check(order == "fro" || order == "nuc", "linalg.matrix_norm: Order ", order, " not supported.");
  check_matrix_norm(self, dim, dtype);
  if (order == "fro") {
    return rl::linalg_vector_norm(self, Scalar(2.0), std::optional<IntRef>(dim), keepdim, dtype);
  }
  const Tensor a = to_back(converted(self, dtype), dim);
  refuse_low(a, "linalg.matrix_norm");
  const Tensor out =
      rl::sum(rl::linalg_svdvals(a, std::nullopt), IntRef({-1}), false, std::nullopt);
  return put_back(out, self, dim, keepdim);
}

static void check_order_without_dim(const Tensor& self) {
  check(self.dim() == 1 || self.dim() == 2, "linalg.norm: If dim is not specified but ord is, the "
        "input must be 1D or 2D. Got ", self.dim(), "D.");
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& order,
                   std::optional<IntRef> dim, bool keepdim, std::optional<DType> dtype) {
  check(!dim || dim->size() == 1 || dim->size() == 2 || !order, "linalg.norm: If dim is specified, "
        "it must be of length 1 or 2. Got ", dim ? *dim : IntRef());
  if (order && !dim) check_order_without_dim(self);
  const bool matrix = order && (dim ? dim->size() == 2 : self.dim() == 2);
  if (matrix) {
    if (dim) return rl::linalg_matrix_norm(self, *order, *dim, keepdim, dtype);
    return rl::linalg_matrix_norm(self, *order, IntRef({-2, -1}), keepdim, dtype);
  }
  return rl::linalg_vector_norm(self, order.value_or(Scalar(2.0)), dim, keepdim, dtype);
}

Tensor norm_str(const Tensor& self, std::string_view order, std::optional<IntRef> dim, bool keepdim,
                std::optional<DType> dtype) {
  if (!dim) check_order_without_dim(self);
  if (dim) return rl::linalg_matrix_norm(self, order, *dim, keepdim, dtype);
  return rl::linalg_matrix_norm(self, order, IntRef({-2, -1}), keepdim, dtype);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  return rl::linalg_matrix_norm(self, std::string_view("nuc"), IntRef({-2, -1}), keepdim,
                                std::nullopt);
}
Tensor nuclear_norm_dim(const Tensor& self, IntRef dim, bool keepdim) {
  return rl::linalg_matrix_norm(self, std::string_view("nuc"), dim, keepdim, std::nullopt);
}
Tensor frobenius_norm(const Tensor& self, IntRef dim, bool keepdim) {
  check(dim.size() <= 2, "Expected at most 2 dimensions, but got ", dim.size(),
        " dimensions instead.");
  return rl::linalg_vector_norm(self, Scalar(2.0), std::optional<IntRef>(dim), keepdim,
                                std::nullopt);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1)
    return rl::linalg_vector_norm(v, Scalar(double(pow)), std::nullopt, false, std::nullopt);
  const int64_t keep = wrap_dim(dim, v.dim());
  Dims dims;
  for (int64_t d = 0; d < v.dim(); ++d)
    if (d != keep) dims.push_back(d);
  if (dims.empty()) return rl::abs(v);
  return rl::linalg_vector_norm(v, Scalar(double(pow)), IntRef(dims), true, std::nullopt);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return rl::linalg_vector_norm(self - other, p, std::nullopt, false, std::nullopt);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  check(p.to_double() > 0, "renorm: non-positive-norm not supported");
  check(maxnorm.to_double() >= 0, "renorm: expected maxnorm to be >= 0 but got ",
        maxnorm.to_double());
  check(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
        " dimensions");
  const int64_t keep = wrap_dim(dim, self.dim());
  Dims dims;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != keep) dims.push_back(d);
  const DType compute = is_reduced(self.dtype()) ? DType::Float : to_real(self.dtype());
  std::optional<DType> as;
  if (is_reduced(self.dtype())) as = compute;
  const Tensor norm = rl::linalg_vector_norm(self, p, IntRef(dims), true, as);
  const Tensor limit = wrapped_number(Scalar(maxnorm.to_double()));
  const Tensor factor = rl::_where(rl::gt(norm, limit), limit / (norm + Scalar(1e-7)),
                                   wrapped_number(Scalar(1.0)));
  return self * rl::to(factor, to_real(self.dtype()));
}

Tensor trace(const Tensor& self) {
  check(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  if (self.dtype() == DType::Bool) dtype_not_implemented("trace", self.dtype());
  return rl::sum(rl::diagonal(self, 0, 0, 1), std::optional<DType>());
}

Tensor linalg_diagonal(const Tensor& a, int64_t offset, int64_t dim1, int64_t dim2) {
  return rl::diagonal(a, offset, dim1, dim2);
}
Tensor linalg_matmul(const Tensor& self, const Tensor& other) { return rl::matmul(self, other); }

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> count) {
  check_implemented(is_integral(x.dtype()) || is_complex(x.dtype()) || x.dtype() == DType::Float ||
                        x.dtype() == DType::Double,
                    "linalg.vander supports floating point, complex, and "
                    "integer tensors, but got ",
                    x.dtype());
  const int64_t n = count ? *count : x.dim() ? x.size(-1) : 1;
  check(n > 1, "N must be greater than 1.");
  if (x.dim() == 0) return composite::linalg_vander(rl::unsqueeze(x, 0), n);
  const DType d = is_integral(x.dtype()) ? DType::Int64 : x.dtype();
  std::vector<Tensor> powers;
  const Tensor base = rl::to(x, d);
  powers.push_back(rl::full(x.sizes(), Scalar(1), d, x.device()));
  for (int64_t i = 1; i < n; ++i) powers.push_back(i == 1 ? base : powers.back() * base);
  return rl::stack(powers, -1);
}

// ---- condition numbers

static Tensor quotient_of_values(const Tensor& a, bool largest_first) {
  const Tensor s = rl::linalg_svdvals(a, std::nullopt);
  const Tensor high = rl::slice(s, -1, 0, 1, 1), low = rl::slice(s, -1, -1, std::nullopt, 1);
  return rl::squeeze(largest_first ? high / low : low / high, {-1});
}

template <class Norm>
static Tensor norm_times_inverse(const Tensor& a, Norm&& norm) {
  auto [inverse, info] = rl::linalg_inv_ex(a, false);
  const Tensor out = norm(a) * norm(inverse);
  return rl::_where(rl::gt(info, wrapped_number(Scalar(0))), wrapped_number(Scalar(kInf)), out);
}

static Tensor empty_cond(const Tensor& a) {
  return rl::full(a.sizes().slice(0, size_t(a.dim()) - 2), Scalar(0), to_real(a.dtype()),
                  a.device());
}

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  rl::linalg::check_matrix(self, "linalg.cond", "");
  const double order = p ? p->to_double() : 2, size = std::abs(order);
  if (self.numel() == 0 && size != 0) return empty_cond(self);
  if (size == 2) return quotient_of_values(self, order > 0);
  check_value(size == 1 || size == kInf, "linalg.cond got an invalid norm type: ", *p);
  const std::string name = str("linalg.cond(ord=", *p, ")");
  rl::linalg::check_square(self, name.c_str());
  return norm_times_inverse(self, [&](const Tensor& t) {
    return rl::linalg_matrix_norm(t, *p, IntRef({-2, -1}), false, std::nullopt);
  });
}

Tensor cond_str(const Tensor& self, std::string_view p) {
  const std::string name = str("linalg.cond(ord=", p, ")");
  rl::linalg::check_square(self, name.c_str());
  if (self.numel() == 0) return empty_cond(self);
  check_value(p == "fro" || p == "nuc", "linalg.cond got an invalid norm type: ", p);
  if (p == "nuc") {  // the singular values of the inverse are the reciprocals
    const Tensor s = rl::linalg_svdvals(self, std::nullopt);
    return rl::sum(s, IntRef({-1}), false, std::nullopt) *
           rl::sum(rl::reciprocal(s), IntRef({-1}), false, std::nullopt);
  }
  return norm_times_inverse(self, [&](const Tensor& t) {
    return rl::linalg_matrix_norm(t, p, IntRef({-2, -1}), false, std::nullopt);
  });
}

// ---- ranks

static Tensor tolerance(const Tensor& a, const Tensor& values, Tensor atol, Tensor rtol) {
  const bool is_double = to_real(a.dtype()) == DType::Double;
  const double eps = (is_double ? 2.220446049250313e-16 : 1.1920928955078125e-07) *
                     double(std::max(a.size(-1), a.size(-2)));
  const DType real = to_real(a.dtype());
  const bool given = atol.defined();
  if (!given) atol = scalar_tensor(Scalar(0.0), real);
  if (!rtol.defined()) {
    rtol = scalar_tensor(Scalar(eps), real);
    if (given) rtol = rl::_where(rl::gt(atol, wrapped_number(Scalar(0.0))),
                                 wrapped_number(Scalar(0.0)), rtol);
  }
  const Tensor most = largest(values, -1, false);
  return rl::maximum(rl::to(atol, real), rl::to(rtol, real) * most);
}

Tensor rank_tensors(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  const DType d = a.dtype();
  rl::linalg::check_matrix(a, "torch.linalg.matrix_rank", "input");
  check(d == DType::Float || d == DType::Double || is_complex(d),
        "This function doesn't handle types other than float and double");
  if (a.numel() == 0) {
    return rl::full(a.sizes().slice(0, size_t(a.dim()) - 2), Scalar(0), DType::Int64, a.device());
  }
  const Tensor s = hermitian ? rl::abs(rl::linalg_eigvalsh(a, "L"))
                             : rl::linalg_svdvals(a, std::nullopt);
  const Tensor limit = rl::unsqueeze(tolerance(a, s, atol, rtol), -1);
  return rl::sum(rl::gt(s, limit), IntRef({-1}), false, std::nullopt);
}
static Tensor number_or_none(std::optional<double> v, const Tensor& a) {
  return v ? scalar_tensor(Scalar(*v), to_real(a.dtype())) : Tensor();
}
Tensor rank_floats(const Tensor& a, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  const bool real = a.is_floating() || a.is_complex();
  return rank_tensors(a, real ? number_or_none(atol, a) : Tensor(),
                      real ? number_or_none(rtol, a) : Tensor(), hermitian);
}
Tensor rank_tol(const Tensor& a, double tol, bool hermitian) {
  return rank_floats(a, tol, 0.0, hermitian);
}
Tensor rank_tol_tensor(const Tensor& a, const Tensor& tol, bool hermitian) {
  return rank_tensors(a, tol, scalar_tensor(Scalar(0.0), to_real(a.dtype())), hermitian);
}

// ---- tensors as linear maps

static int64_t product(IntRef v) {
  int64_t n = 1;
  for (int64_t s : v) n *= s;
  return n;
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  check(ind > 0, "Expected a strictly positive integer for 'ind', but got ", ind);
  check(ind <= self.dim(), "ArrayRef: invalid slice, N = ", ind, "; size = ", self.dim());
  const IntRef first = self.sizes().slice(0, size_t(ind)), last = self.sizes().slice(size_t(ind));
  const int64_t n = product(first), m = product(last);
  check(n == m, "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
        "prod(self.shape[:ind]), but got ", m, " != ", n);
  Dims sizes(last);
  for (int64_t s : first) sizes.push_back(s);
  return rl::reshape(rl::linalg_inv(rl::reshape(self, {n, m})), sizes);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, std::optional<IntRef> dims) {
  Tensor a = self;
  if (dims) {
    Dims to;
    for (size_t i = 0; i < dims->size(); ++i) to.push_back(self.dim() - int64_t(dims->size() - i));
    a = rl::movedim(self, *dims, to);
  }
  check(other.dim() <= a.dim(), "Expected self to satisfy the requirement "
        "prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but self has ", a.dim(),
        " dimensions and other has ", other.dim());
  const IntRef rest = a.sizes().slice(size_t(other.dim()));
  const int64_t n = product(rest);
  const int64_t b = other.numel();
  check(n == b, "Expected self to satisfy the requirement "
        "prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ", n, " != ", b);
  return rl::reshape(rl::linalg_solve(rl::reshape(a, {b, n}), rl::reshape(other, {b}), true), rest);
}

}  // namespace rl::composite
