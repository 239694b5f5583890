// Matrix products: checks, allocation and the call of kernels/gemm.h.
#include <algorithm>

#include "kernels/gemm.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"
#include "ops/products.h"

namespace rl {

const char* typeid_name(DType d) {
  switch (d) {
    case DType::Float: return "float";
    case DType::Double: return "double";
    case DType::Half: return "c10::Half";
    case DType::BFloat16: return "c10::BFloat16";
    case DType::Int64: return "long int";
    case DType::Int32: return "int";
    case DType::Int16: return "short int";
    case DType::Int8: return "signed char";
    case DType::UInt8: return "unsigned char";
    case DType::Bool: return "bool";
    case DType::ComplexFloat: return "c10::complex<float>";
    case DType::ComplexDouble: return "c10::complex<double>";
    case DType::UInt16: return "short unsigned int";
    case DType::UInt32: return "unsigned int";
    case DType::UInt64: return "long unsigned int";
    default: return scalar_type_name(d);
  }
}

void product_dtype(const char* name, DType d) {
  if (d == DType::Bool || is_float8(d) || d == DType::ComplexHalf ||
      (d >= DType::UInt16 && d <= DType::UInt64)) {
    dtype_not_implemented(name, d);
  }
}

namespace {

GemmOperand matrix(const Tensor& t) {  // of the last two dimensions; a third is the batch
  const size_t n = size_t(t.dim());
  const IntRef s = t.strides();
  return {t.data(), s[n - 2], s[n - 1], n > 2 && t.sizes()[n - 3] > 1 ? s[n - 3] : 0};
}

void set_factors(GemmProblem& p, const Scalar& beta, const Scalar& alpha) {
  const cdouble a = alpha.to_complex(), b = beta.to_complex();
  p.alpha = a.real(), p.alpha_imag = a.imag();
  p.beta = b.real(), p.beta_imag = b.imag();
}

bool is_zero(const Scalar& s) { return s.equal(0); }

}  // namespace

// out = beta * out + alpha * a @ b (+ bias); 2-d or 3-d.
void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta,
                   const Scalar& alpha, const void* bias) {
  if (out.numel() == 0 || out.is_meta()) return;
  GemmProblem p;
  const size_t n = size_t(out.dim());
  p.batch = n > 2 ? out.sizes()[0] : 1;
  p.m = out.sizes()[n - 2], p.n = out.sizes()[n - 1], p.k = a.sizes()[n - 1];
  p.a = matrix(a), p.b = matrix(b), p.c = matrix(out);
  p.bias = bias;
  set_factors(p, beta, alpha);
  gemm(out.dtype(), p);
}

namespace native {
namespace {

const Scalar kOne(1), kZero(0);

void check_matrices(const char* name, const char* first, const Tensor& a, const Tensor& b) {
  check(a.dim() == 2, name, ": ", first, " must be a matrix, got ", a.dim(), "-D tensor");
  check(b.dim() == 2, name, ": mat2 must be a matrix, got ", b.dim(), "-D tensor");
  check(a.sizes()[1] == b.sizes()[0], name, ": mat1 and mat2 shapes cannot be multiplied (",
        a.sizes()[0], "x", a.sizes()[1], " and ", b.sizes()[0], "x", b.sizes()[1], ")");
}

void check_added_dtypes(DType self, DType mat1, DType mat2) {
  check(self == mat2, "self and mat2 must have the same dtype, but got ", self, " and ", mat2);
  check(mat1 == mat2, "mat1 and mat2 must have the same dtype, but got ", mat1, " and ", mat2);
}

// A vector that the product may add to each row as it is.
bool is_row(const Tensor& t, int64_t n) {
  return t.dim() == 1 && t.sizes()[0] == n && (n == 1 || t.strides()[0] == 1);
}

Tensor added(const Tensor& self, const Tensor& a, const Tensor& b, IntRef sizes, const Scalar& beta,
             const Scalar& alpha) {
  Tensor out = empty_tensor(sizes, a.dtype(), a.device());
  const Tensor wide = expand(self, sizes);
  if (out.is_meta()) return out;
  if (is_zero(beta)) {
    multiply_into(out, a, b, kZero, alpha, nullptr);
  } else if (is_row(self, sizes.back()) && beta.equal(1)) {
    multiply_into(out, a, b, kZero, alpha, self.data());
  } else {
    copy_tensor(out, wide);
    multiply_into(out, a, b, beta, alpha, nullptr);
  }
  return out;
}

Tensor column(const Tensor& v) {  // (n) -> (n, 1)
  const int64_t n = v.sizes()[0];
  return rl::alias(v, {n, 1}, {v.strides()[0], 1}, v.offset());
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_matrices("mm", "self", self, mat2);
  check(self.dtype() == mat2.dtype(), "expected m1 and m2 to have the same dtype, but got: ",
        typeid_name(self.dtype()), " != ", typeid_name(mat2.dtype()));
  product_dtype("addmm_impl_cpu_", self.dtype());
  Tensor out = empty_tensor({self.sizes()[0], mat2.sizes()[1]}, self.dtype(), self.device());
  multiply_into(out, self, mat2, kZero, kOne, nullptr);
  return out;
}

static void check_batches(const Tensor& a, const Tensor& b) {
  check(a.dim() == 3, "batch1 must be a 3D tensor");
  check(b.dim() == 3, "batch2 must be a 3D tensor");
  check(b.sizes()[0] == a.sizes()[0] && b.sizes()[1] == a.sizes()[2],
        "Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ",
        a.sizes()[2], "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_batches(self, mat2);
  check(self.dtype() == mat2.dtype(), "expected scalar type ", self.dtype(), " but found ",
        mat2.dtype());
  product_dtype("bmm", self.dtype());
  Tensor out = empty_tensor({self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.dtype(),
                            self.device());
  multiply_into(out, self, mat2, kZero, kOne, nullptr);
  return out;
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  check_added_dtypes(self.dtype(), mat1.dtype(), mat2.dtype());
  check_matrices("addmm", "self", mat1, mat2);
  product_dtype("addmm_impl_cpu_", self.dtype());
  return added(self, mat1, mat2, {mat1.sizes()[0], mat2.sizes()[1]}, beta, alpha);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  check(self.dtype() == batch1.dtype() && self.dtype() == batch2.dtype(),
        "Input dtypes must be the same, got: input ", typeid_name(self.dtype()), ", batch1: ",
        typeid_name(batch1.dtype()), ", batch2: ", typeid_name(batch2.dtype()));
  if (batch1.dim() == 3 && batch2.dim() == 3) {
    expand(self, {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]});
  }
  check_batches(batch1, batch2);
  product_dtype("baddbmm", self.dtype());
  return added(self, batch1, batch2, {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]},
               beta, alpha);
}

// The sum over the batch is one product with the batch inside the common dimension.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  check(batch1.dim() == 3, "batch1 must be a 3D tensor");
  check(batch2.dim() == 3, "batch2 must be a 3D tensor");
  const IntRef a = batch1.sizes(), b = batch2.sizes();
  check(a[0] == b[0], "batch1 and batch2 must have same number of batches, got ", a[0], " and ",
        b[0]);
  check(a[2] == b[1], "Incompatible matrix sizes for bmm (", a[1], "x", a[2], " and ", b[1], "x",
        b[2], ")");
  expand(self, {a[1], b[2]});
  check_added_dtypes(self.dtype(), batch1.dtype(), batch2.dtype());
  product_dtype("addmm_impl_cpu_", self.dtype());
  const Tensor left = reshape(permute(batch1, {1, 0, 2}), {a[1], a[0] * a[2]});
  return added(self, left, reshape(batch2, {b[0] * b[1], b[2]}), {a[1], b[2]}, beta, alpha);
}

static void check_matrix_vector(const Tensor& mat, const Tensor& vec, int64_t self_dim,
                                int64_t self_size) {
  check(mat.dim() == 2 && vec.dim() == 1 && self_dim <= 1,
        "vector + matrix @ vector expected, got ", self_dim, ", ", mat.dim(), ", ", vec.dim());
  check(mat.sizes()[1] == vec.sizes()[0] && (mat.sizes()[0] == self_size || self_size == 1),
        "size mismatch, got input (", self_size, "), mat (", mat.sizes()[0], "x", mat.sizes()[1],
        "), vec (", vec.sizes()[0], ")");
}

static void check_vector_dtypes(DType self, DType mat, DType vec) {
  check(self == mat && mat == vec, "addmv input tensors must have the same dtype, but got ", self,
        ", ", mat, ", and ", vec);
  product_dtype("addmv_impl_cpu", mat);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_matrix_vector(self, vec, 1, self.dim() > 0 ? self.sizes()[0] : 1);
  check_vector_dtypes(vec.dtype(), self.dtype(), vec.dtype());
  Tensor out = empty_tensor({self.sizes()[0]}, self.dtype(), self.device());
  multiply_into(column(out), self, column(vec), kZero, kOne, nullptr);
  return out;
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  const int64_t size = self.dim() == 1 ? self.sizes()[0] : mat.dim() > 0 ? mat.sizes()[0] : 1;
  check_matrix_vector(mat, vec, self.dim() == 0 ? 1 : self.dim(), size);
  check_vector_dtypes(self.dtype(), mat.dtype(), vec.dtype());
  Tensor out = empty_tensor({mat.sizes()[0]}, mat.dtype(), mat.device());
  if (out.is_meta()) return out;
  if (!is_zero(beta)) copy_tensor(out, expand(self, out.sizes()));
  multiply_into(column(out), mat, column(vec), beta, alpha, nullptr);
  return out;
}

static void check_vectors(const Tensor& a, const Tensor& b, const char* name) {
  check(a.dim() == 1 && b.dim() == 1, "1D tensors expected, but got ", a.dim(), "D and ", b.dim(),
        "D tensors");
  check(a.dtype() == b.dtype(), "dot : expected both vectors to have same dtype, but found ",
        a.dtype(), " and ", b.dtype());
  check(a.numel() == b.numel(), "inconsistent tensor size, expected tensor [", a.numel(),
        "] and src [", b.numel(), "] to have the same number of elements, but got ", a.numel(),
        " and ", b.numel(), " elements respectively");
  product_dtype(name, a.dtype());
}

static Tensor dot_of(const Tensor& a, const Tensor& b, bool conj_a) {
  Tensor out = empty_tensor({}, a.dtype(), a.device());
  if (out.is_meta()) return out;
  GemmProblem p;
  p.m = p.n = 1, p.k = a.numel();
  if (p.k == 0) {
    fill_tensor(out, kZero);
    return out;
  }
  p.a = {a.data(), p.k * a.strides()[0], a.strides()[0], 0};
  p.b = {b.data(), b.strides()[0], 1, 0};
  p.c = {out.data(), 1, 1, 0};
  if (conj_a) gemm_conj(a.dtype(), p, true, false);
  else gemm(a.dtype(), p);
  return out;
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  check_vectors(self, tensor, "dot");
  return dot_of(self, tensor, false);
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  check_vectors(self, other, "vdot");
  return dot_of(self, other, self.is_complex());
}

// ---- linear

static void check_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check(input.dim() > 0 && weight.dim() > 0,
        "both arguments to linear need to be at least 1D, but they are ", input.dim(), "D and ",
        weight.dim(), "D");
  check(weight.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", weight.dim(),
        "D");
  check(weight.dim() == 2 || !bias.defined(), "addmm: mat2 must be a matrix, got 1-D tensor");
  const int64_t k = input.sizes().back();
  check(k == weight.sizes().back(), bias.defined() ? "addmm" : "mm",
        ": mat1 and mat2 shapes cannot be multiplied (", k ? input.numel() / k : input.size(0), "x",
        k, " and ", weight.sizes().back(), "x", weight.dim() == 2 ? weight.sizes()[0] : 1, ")");
  if (bias.defined()) {
    check_added_dtypes(bias.dtype(), input.dtype(), weight.dtype());
  } else {
    check(input.dtype() == weight.dtype(), "expected m1 and m2 to have the same dtype, but got: ",
          typeid_name(input.dtype()), " != ", typeid_name(weight.dtype()));
  }
  product_dtype("addmm_impl_cpu_", input.dtype());
}

// The rows of an (..., k) tensor as a matrix, without a copy where strides allow.
static Tensor rows_of(const Tensor& t) {
  if (t.dim() == 2) return t;
  const int64_t k = t.sizes().back();
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < t.dim(); ++d) rows *= t.sizes()[size_t(d)];
  return reshape(t, {rows, k});
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_linear(input, weight, bias);
  Dims sizes(input.sizes());
  sizes.pop_back();
  if (weight.dim() == 2) sizes.push_back(weight.sizes()[0]);
  Tensor out = empty_tensor(sizes, input.dtype(), input.device());
  const int64_t n = weight.dim() == 2 ? weight.sizes()[0] : 1;
  const bool fused = bias.defined() && is_row(bias, n);
  if (bias.defined() && !fused) {
    const Tensor wide = input.dim() <= 2 || bias.dim() > 2
                            ? expand(bias, sizes)
                            : expand(bias, {out.numel() / std::max<int64_t>(n, 1), n});
    if (!out.is_meta()) copy_tensor(input.dim() <= 2 || bias.dim() > 2 ? out : rows_of(out), wide);
  }
  if (out.numel() == 0 || out.is_meta()) return out;
  const Tensor rows = rows_of(input);
  GemmProblem p;
  p.m = rows.sizes()[0], p.n = n, p.k = rows.sizes()[1];
  p.a = {rows.data(), rows.strides()[0], rows.strides()[1], 0};
  p.b = {weight.data(), weight.strides().back(), weight.dim() == 2 ? weight.strides()[0] : p.k, 0};
  p.c = {out.data(), n, 1, 0};
  p.bias = fused ? bias.data() : nullptr;
  p.beta = bias.defined() && !fused ? 1 : 0;
  gemm(out.dtype(), p);
  return out;
}

}  // namespace native
}  // namespace rl
