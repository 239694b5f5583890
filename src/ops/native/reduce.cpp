// Reductions: sums, products, means, logical ones, counts, norms, variances.
#include <cmath>

#include "base/parallel.h"
#include "base/warn.h"
#include "kernels/iter/copy.h"
#include "kernels/iter/reduce.h"
#include "ops/reduce_dims.h"

namespace rl::native {
namespace {

using cpu::ReduceOp;

// Sums are taken in these types; smaller ones are converted on the way.
DType sum_compute(DType d) {
  if (is_complex(d)) return DType::ComplexDouble;
  if (d == DType::Double) return d;
  return is_floating(d) ? DType::Float : DType::Int64;
}

DType sum_dtype(const Tensor& self, std::optional<DType> dtype) {
  if (dtype) return *dtype;
  return is_integral(self.dtype(), true) ? DType::Int64 : self.dtype();
}

Tensor reduce_to(ReduceOp op, const Tensor& self, uint64_t mask, bool keepdim, DType dtype,
                 DType compute, const char* name) {
  if (is_float8(dtype)) dtype_not_implemented(name, dtype);
  Tensor out = empty_reduced(self, mask, keepdim, dtype);
  if (dtype == DType::Bool) {  // a sum of bools is `any`, a product `all`
    op = op == ReduceOp::Prod ? ReduceOp::All : ReduceOp::Any;
    compute = DType::Bool;
  }
  if (self.is_complex() && !is_complex(dtype))
    warn("Casting complex values to real discards the imaginary part");
  run_reduction({op, compute}, self, mask, out);
  return out;
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<IntRef> dim, bool keepdim,
           std::optional<DType> dtype) {
  const DType d = sum_dtype(self, dtype);
  return reduce_to(ReduceOp::Sum, self, dim_mask(self, dim), keepdim, d, sum_compute(d), "sum_cpu");
}

Tensor nansum(const Tensor& self, std::optional<IntRef> dim, bool keepdim,
              std::optional<DType> dtype) {
  check_implemented(!self.is_complex(), "nansum on CPU does not support complex inputs");
  const DType d = sum_dtype(self, dtype);
  const bool plain = !self.is_floating() || !is_floating(d);
  return reduce_to(plain ? ReduceOp::Sum : ReduceOp::NanSum, self, dim_mask(self, dim), keepdim, d,
                   sum_compute(d), "nansum_cpu");
}

Tensor prod(const Tensor& self, std::optional<int64_t> dim, bool keepdim,
            std::optional<DType> dtype) {
  const DType d = sum_dtype(self, dtype);
  return reduce_to(ReduceOp::Prod, self, one_dim_mask(self, dim), keepdim, d, sum_compute(d),
                   "prod_cpu");
}

Tensor mean(const Tensor& self, std::optional<IntRef> dim, bool keepdim,
            std::optional<DType> dtype) {
  const DType d = dtype.value_or(self.dtype());
  check_implemented(is_differentiable(d), "mean(): could not infer output dtype. ",
                    dtype ? "Optional" : "Input",
                    " dtype must be either a floating point or complex dtype. Got: ", d);
  return reduce_to(ReduceOp::Mean, self, dim_mask(self, dim), keepdim, d, sum_compute(d),
                   "mean_cpu");
}

// ---- logical ----------------------------------------------------------------------------------

namespace {

Tensor logical(ReduceOp op, const Tensor& self, std::optional<IntRef> dim, bool keepdim) {
  const uint64_t mask = dim_mask(self, dim, true);
  const DType d = self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool;
  Tensor out = empty_reduced(self, mask, keepdim, d);
  run_reduction({op, DType::Bool}, self, mask, out);
  return out;
}

}  // namespace

Tensor any(const Tensor& self, std::optional<IntRef> dim, bool keepdim) {
  return logical(ReduceOp::Any, self, dim, keepdim);
}
Tensor all(const Tensor& self, std::optional<IntRef> dim, bool keepdim) {
  return logical(ReduceOp::All, self, dim, keepdim);
}

Tensor count_nonzero(const Tensor& self, std::optional<IntRef> dim) {
  const uint64_t mask = dim_mask(self, dim);
  Tensor out = empty_reduced(self, mask, false, DType::Int64);
  run_reduction({ReduceOp::CountNonzero, DType::Bool}, self, mask, out);
  return out;
}

// ---- norms ------------------------------------------------------------------------------------

namespace {

// A complex tensor seen as a real one with a last dimension of two.
Tensor as_real(const Tensor& t) {
  Dims sizes(t.sizes()), strides(t.strides());
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  Tensor r(new TensorImpl(t.storage(), to_real(t.dtype()), t.device()));
  r->sizes = sizes;
  r->strides = strides;
  r->offset = t.offset() * 2;
  r->refresh();
  return r;
}

Tensor magnitudes(const Tensor& t) {  // |z| of a complex tensor, in float or double
  const bool wide = t.dtype() == DType::ComplexDouble;
  const Tensor z = contiguous_tensor(to_dtype(t, wide ? t.dtype() : DType::ComplexFloat));
  Tensor r = empty_tensor(t.sizes(), wide ? DType::Double : DType::Float, t.device());
  if (t.is_meta()) return r;
  parallel_for(0, t.numel(), 4096, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      if (wide) r.data<double>()[i] = std::abs(z.data<cdouble>()[i]);
      else r.data<float>()[i] = std::abs(z.data<cfloat>()[i]);
    }
  });
  return r;
}

void check_norm(const Tensor& self, const Scalar& ord, std::optional<IntRef> dim, uint64_t mask,
                std::optional<DType> dtype) {
  check_implemented(is_differentiable(self.dtype()),
                    "linalg.vector_norm: Expected a floating point or complex tensor as input. "
                    "Got ",
                    self.dtype());
  check(!ord.is_complex(),
        "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  const double p = ord.to_double();
  if (self.numel() == 0 && (p < 0 || p == INFINITY)) {
    check(dim && !dim->empty(), "linalg.vector_norm cannot compute the ", p,
          " norm on an empty tensor because the operation does not have an identity");
    for (int64_t d = 0; d < self.dim(); ++d)
      check(!(mask >> d & 1) || self.size(d) != 0, "linalg.vector_norm cannot compute the ", p,
            " norm on the dimension ", d,
            "because this dimension is empty and the operation does not have an identity");
  }
  if (!dtype) return;
  check(is_differentiable(*dtype),
        "linalg.vector_norm: dtype should be floating point or complex, but got ", *dtype);
  check(is_complex(*dtype) == self.is_complex(), "linalg.vector_norm: dtype should be ",
        self.is_complex() ? "complex" : "real", " for ", self.is_complex() ? "complex" : "real",
        " inputs, but got ", *dtype);
  check(promote_types(self.dtype(), *dtype) == *dtype,
        "linalg.vector_norm: the dtype of the input (", self.dtype(),
        ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
}

ReduceOp norm_op(double p) {
  if (p == 0) return ReduceOp::CountNonzero;
  if (p == 1) return ReduceOp::Norm1;
  if (p == 2) return ReduceOp::Norm2;
  if (p == INFINITY) return ReduceOp::NormInf;
  if (p == -INFINITY) return ReduceOp::NormMinusInf;
  return ReduceOp::NormP;
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntRef> dim,
                          bool keepdim, std::optional<DType> dtype) {
  uint64_t mask = dim_mask(self, dim);
  check_norm(self, ord, dim, mask, dtype);
  const DType result = to_real(dtype.value_or(self.dtype()));
  Tensor out = empty_reduced(self, mask, keepdim, result);
  const ReduceOp op = norm_op(ord.to_double());
  Tensor in = self;
  if (self.is_complex() && op == ReduceOp::Norm2) {
    in = as_real(self);
    mask |= uint64_t(1) << self.dim();
  } else if (self.is_complex()) {
    in = magnitudes(self);
  }
  const bool wide = result == DType::Double;
  const DType compute = op == ReduceOp::CountNonzero ? DType::Bool
                        : wide                       ? DType::Double
                                                     : DType::Float;
  cpu::ReduceAttrs attrs;
  attrs.p = ord.to_double();
  run_reduction({op, compute, attrs}, in, mask, out);
  return out;
}

// ---- variances --------------------------------------------------------------------------------

namespace {

void variance_into(const Tensor& self, uint64_t mask, double correction, bool root,
                   const Tensor& out, const Tensor* means) {
  cpu::ReduceAttrs attrs;
  attrs.correction = correction;
  attrs.root = root;
  const DType compute = self.dtype() == DType::Double ? DType::Double : DType::Float;
  run_reduction({ReduceOp::Var, compute, attrs}, self, mask, out, means);
}

// Of a complex tensor: the variances of both parts added.
Tensor complex_variance(const Tensor& self, uint64_t mask, double correction, bool root,
                        bool keepdim) {
  const Tensor pairs = as_real(self);
  const bool wide = pairs.dtype() == DType::Double;
  Dims sizes = reduced_sizes(self, mask, keepdim);
  sizes.push_back(2);
  Tensor parts = empty_tensor(sizes, wide ? DType::Double : DType::Float, self.device());
  variance_into(pairs, mask, correction, false, parts, nullptr);
  Tensor out = empty_reduced(self, mask, keepdim, to_real(self.dtype()));
  run_reduction({ReduceOp::Sum, parts.dtype()}, parts, uint64_t(1) << (sizes.size() - 1), out);
  if (!root || self.is_meta()) return out;
  Tensor roots = to_dtype(out, DType::Double);
  for (int64_t i = 0; i < roots.numel(); ++i)
    roots.data<double>()[i] = std::sqrt(roots.data<double>()[i]);
  copy_tensor(out, roots);
  return out;
}

struct VarianceArgs {
  uint64_t mask;
  double correction;
};

VarianceArgs variance_args(const char* name, const Tensor& self, std::optional<IntRef> dim,
                           const std::optional<Scalar>& correction, bool with_mean) {
  check_implemented(is_differentiable(self.dtype()), with_mean ? name : "std and var",
                    " only support floating point and complex dtypes");
  VarianceArgs a{dim_mask(self, dim), correction ? correction->to_double() : 1.0};
  if (double(reduced_count(self, a.mask)) - a.correction <= 0 && self.numel() > 0)
    warn(name, "(): degrees of freedom is <= 0. Correction should be strictly less than the "
               "reduction factor (input numel divided by output numel).");
  return a;
}

Tensor variance(const char* name, const Tensor& self, std::optional<IntRef> dim,
                const std::optional<Scalar>& correction, bool keepdim, bool root) {
  const VarianceArgs a = variance_args(name, self, dim, correction, false);
  if (self.is_complex()) return complex_variance(self, a.mask, a.correction, root, keepdim);
  Tensor out = empty_reduced(self, a.mask, keepdim, self.dtype());
  variance_into(self, a.mask, a.correction, root, out, nullptr);
  return out;
}

std::tuple<Tensor, Tensor> variance_and_mean(const char* name, const Tensor& self,
                                             std::optional<IntRef> dim,
                                             const std::optional<Scalar>& correction, bool keepdim,
                                             bool root) {
  const VarianceArgs a = variance_args(name, self, dim, correction, true);
  if (self.is_complex())
    return {complex_variance(self, a.mask, a.correction, root, keepdim),
            mean(self, dim, keepdim, std::nullopt)};
  Tensor out = empty_reduced(self, a.mask, keepdim, self.dtype());
  Tensor means = empty_reduced(self, a.mask, keepdim, self.dtype());
  variance_into(self, a.mask, a.correction, root, out, &means);
  return {out, means};
}

}  // namespace

Tensor var(const Tensor& self, std::optional<IntRef> dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  return variance("var", self, dim, correction, keepdim, false);
}
Tensor std(const Tensor& self, std::optional<IntRef> dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  return variance("std", self, dim, correction, keepdim, true);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, std::optional<IntRef> dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  return variance_and_mean("var_mean", self, dim, correction, keepdim, false);
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, std::optional<IntRef> dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  return variance_and_mean("std_mean", self, dim, correction, keepdim, true);
}

}  // namespace rl::native
