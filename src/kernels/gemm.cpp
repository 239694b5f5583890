// The ordered list of matrix-product kernels; see gemm.h.
#include "kernels/gemm.h"

#include <algorithm>
#include <climits>
#include <complex>
#include <memory>

#include "base/check.h"
#include "base/long_work.h"
#include "base/parallel.h"
#include "kernels/cpu/lapack/lapack.h"
#include "kernels/cpu/onednn/provider.h"
#include "kernels/cpu/plain_gemm.h"
#include "kernels/cpu/tiles.h"

namespace rl {
namespace {

using Buffer = std::unique_ptr<char[]>;

bool plain(const GemmOperand& x, int64_t rows, int64_t cols) {
  return (x.col == 1 || cols == 1) && (rows == 1 || x.row >= std::max<int64_t>(cols, 1));
}

// A matrix that a library can take: one unit stride, the other at least as long as its row.
bool regular(const GemmOperand& x, int64_t rows, int64_t cols) {
  return plain(x, rows, cols) || plain({x.data, x.col, x.row, x.batch}, cols, rows);
}

// Copies one matrix into dense rows.
void gather_matrix(void* to, const GemmOperand& x, int64_t batch, int64_t rows, int64_t cols,
                   int64_t item) {
  const char* from = static_cast<const char*>(x.data) + batch * x.batch * item;
  const int64_t sizes[2] = {cols, rows}, strides[2] = {x.col * item, x.row * item};
  cpu::gather(to, from, int(item), {sizes, strides, 2}, 0, rows * cols);
}

// Makes an operand regular by a copy of all its batches where needed.
Buffer regularise(GemmOperand& x, int64_t batch, int64_t rows, int64_t cols, int64_t item) {
  if (rows * cols == 0) x = {x.data, std::max<int64_t>(cols, 1), 1, 0};
  if (regular(x, rows, cols)) return nullptr;
  const int64_t count = batch == 1 || x.batch == 0 ? 1 : batch, size = rows * cols;
  Buffer buffer(new char[count * size * item]);
  for (int64_t i = 0; i < count; ++i) {
    gather_matrix(buffer.get() + i * size * item, x, i, rows, cols, item);
  }
  x = {buffer.get(), cols, 1, count == 1 ? 0 : size};
  return buffer;
}

bool try_small(DType dtype, const GemmProblem& p) {
  switch (dtype) {
    case DType::Float: return cpu::small_gemm_f32(p);
    case DType::Double: return cpu::small_gemm_f64(p);
    case DType::Half: return cpu::small_gemm_f16(p);
    case DType::BFloat16: return cpu::small_gemm_bf16(p);
    default: return false;
  }
}

bool try_onednn(onednn::Type type, const GemmProblem& p) {
  onednn::MatMul q;
  q.type = q.b_type = q.c_type = q.bias_type = type;
  q.batch = p.batch, q.m = p.m, q.n = p.n, q.k = p.k;
  q.a = {p.a.data, p.a.row, p.a.col, p.a.batch};
  q.b = {p.b.data, p.b.row, p.b.col, p.b.batch};
  q.c = {p.c.data, p.c.row, p.c.col, p.c.batch};
  q.bias = p.bias;
  q.alpha = float(p.alpha), q.beta = float(p.beta);
  return onednn::matmul(q);
}

// ---- OpenBLAS: column-major, so C = A B is asked for as C' = B' A'

struct BlasMatrix {
  char trans;
  int64_t ld;
};

BlasMatrix blas_matrix(const GemmOperand& x, int64_t rows, int64_t cols, bool conj) {
  if (plain(x, rows, cols) && !conj) {
    return {'N', std::max<int64_t>({rows == 1 ? cols : x.row, cols, 1})};
  }
  return {conj ? 'C' : 'T', std::max<int64_t>({cols == 1 ? rows : x.col, rows, 1})};
}

template <class T>
T number(double re, double im) {
  if constexpr (std::is_floating_point_v<T>) return T(re);
  else return T(lapack::Real<T>(re), lapack::Real<T>(im));
}

template <class T>
void add_bias(const GemmProblem& p, T* c) {
  const T* bias = static_cast<const T*>(p.bias);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) c[i * p.c.row + j * p.c.col] += bias[j];
}

// Conjugation goes with transposition in the BLAS: an operand to be conjugated must be "turned".
template <class T>
void blas(const GemmProblem& p, bool conj_a, bool conj_b) {
  check(std::max({p.m, p.n, p.k, p.a.row, p.a.col, p.b.row, p.b.col, p.c.row}) <= INT_MAX,
        "matrix product: a size or stride does not fit 32 bits");
  const BlasMatrix a = blas_matrix(p.a, p.m, p.k, conj_a), b = blas_matrix(p.b, p.k, p.n, conj_b);
  const T alpha = number<T>(p.alpha, p.alpha_imag), beta = number<T>(p.beta, p.beta_imag);
  for (int64_t i = 0; i < p.batch; ++i) {
    T* c = static_cast<T*>(const_cast<void*>(p.c.data)) + i * p.c.batch;
    lapack::gemm<T>(b.trans, a.trans, int(p.n), int(p.m), int(p.k), alpha,
                    static_cast<const T*>(p.b.data) + i * p.b.batch, int(b.ld),
                    static_cast<const T*>(p.a.data) + i * p.a.batch, int(a.ld), beta, c,
                    int(std::max<int64_t>({p.m == 1 ? p.n : p.c.row, p.n, 1})));
    if (p.bias) add_bias(p, c);
  }
}

// A dense copy with the columns contiguous, so that it can be taken turned and conjugated.
template <class T>
Buffer turn(GemmOperand& x, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t count = batch == 1 || x.batch == 0 ? 1 : batch;
  if (rows * cols == 0) return nullptr;
  Buffer buffer(new char[count * rows * cols * sizeof(T)]);
  const GemmOperand turned{x.data, x.col, x.row, x.batch};
  for (int64_t i = 0; i < count; ++i) {
    gather_matrix(buffer.get() + i * rows * cols * sizeof(T), turned, i, cols, rows, sizeof(T));
  }
  x = {buffer.get(), 1, rows, count == 1 ? 0 : rows * cols};
  return buffer;
}

template <class T>
void complex_gemm(GemmProblem p, bool conj_a, bool conj_b) {
  Buffer a = conj_a ? turn<T>(p.a, p.batch, p.m, p.k) : nullptr;
  Buffer b = conj_b ? turn<T>(p.b, p.batch, p.k, p.n) : nullptr;
  blas<T>(p, conj_a, conj_b);
}

// ---- half types where oneDNN has no kernel for this processor: convert, multiply in float

Buffer to_float(GemmOperand& x, DType dtype, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t count = batch == 1 || x.batch == 0 ? 1 : batch, size = rows * cols;
  if (size == 0) return nullptr;
  Buffer dense(new char[size * 2]), buffer(new char[count * size * 4]);
  for (int64_t i = 0; i < count; ++i) {
    gather_matrix(dense.get(), x, i, rows, cols, 2);
    cpu::convert(buffer.get() + i * size * 4, DType::Float, dense.get(), dtype, size);
  }
  x = {buffer.get(), cols, 1, count == 1 ? 0 : size};
  return buffer;
}

void half_gemm(DType dtype, const GemmProblem& p) {
  GemmProblem q = p;
  const Buffer a = to_float(q.a, dtype, p.batch, p.m, p.k);
  const Buffer b = to_float(q.b, dtype, p.batch, p.k, p.n);
  Buffer c, bias;
  if (p.beta != 0) {
    c = to_float(q.c, dtype, p.batch, p.m, p.n);
  } else {
    c.reset(new char[p.batch * p.m * p.n * 4]);
    q.c.data = c.get();
  }
  q.c = {c.get(), p.n, 1, p.m * p.n};
  if (p.bias) {
    bias.reset(new char[p.n * 4]);
    cpu::convert(bias.get(), DType::Float, p.bias, dtype, p.n);
    q.bias = bias.get();
  }
  gemm(DType::Float, q);
  const Buffer dense(new char[p.m * p.n * 2]);
  for (int64_t i = 0; i < p.batch; ++i) {
    char* to = static_cast<char*>(const_cast<void*>(p.c.data)) + i * p.c.batch * 2;
    cpu::convert(dense.get(), dtype, c.get() + i * p.m * p.n * 4, DType::Float, p.m * p.n);
    const int64_t sizes[2] = {p.n, p.m}, strides[2] = {p.c.col * 2, p.c.row * 2};
    cpu::scatter(to, dense.get(), 2, {sizes, strides, 2}, 0, p.m * p.n);
  }
}

// A destination with no unit stride along its rows is computed in a dense copy.
void through_dense(DType dtype, const GemmProblem& p, bool conj_a, bool conj_b) {
  const int64_t item = itemsize(dtype), size = p.m * p.n;
  const Buffer dense(new char[size * item]);
  for (int64_t i = 0; i < p.batch; ++i) {
    GemmProblem q = p;
    q.batch = 1;
    q.a.data = static_cast<const char*>(p.a.data) + i * p.a.batch * item;
    q.b.data = static_cast<const char*>(p.b.data) + i * p.b.batch * item;
    if (p.beta != 0 || p.beta_imag != 0) gather_matrix(dense.get(), p.c, i, p.m, p.n, item);
    q.c = {dense.get(), p.n, 1, 0};
    gemm_conj(dtype, q, conj_a, conj_b);
    char* to = static_cast<char*>(const_cast<void*>(p.c.data)) + i * p.c.batch * item;
    const int64_t sizes[2] = {p.n, p.m}, strides[2] = {p.c.col * item, p.c.row * item};
    cpu::scatter(to, dense.get(), int(item), {sizes, strides, 2}, 0, size);
  }
}

// C' = B' A'
void transpose(GemmProblem& p) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  for (GemmOperand* x : {&p.a, &p.b, &p.c}) std::swap(x->row, x->col);
}

}  // namespace

void gemm(DType dtype, const GemmProblem& given) { gemm_conj(dtype, given, false, false); }

void gemm_conj(DType dtype, const GemmProblem& given, bool conj_a, bool conj_b) {
  if (given.batch == 0 || given.m == 0 || given.n == 0) return;
  if (try_small(dtype, given)) return;
  const LongWork others_may_run(double(given.batch) * double(given.m) * double(given.n) *
                                    double(given.k) > kLongWork);
  if (is_integral(dtype, true)) return cpu::plain_gemm(dtype, given);
  GemmProblem p = given;
  const int64_t item = itemsize(dtype);
  if (!(p.c.col == 1 || p.n == 1) || !regular(p.c, p.m, p.n)) {
    if (p.c.row != 1 || p.bias) return through_dense(dtype, p, conj_a, conj_b);
    transpose(p);
    std::swap(conj_a, conj_b);
  }
  const Buffer a = regularise(p.a, p.batch, p.m, p.k, item);
  const Buffer b = regularise(p.b, p.batch, p.k, p.n, item);
  switch (dtype) {
    case DType::Float:
      if (p.k == 0 || !try_onednn(onednn::Type::f32, p)) blas<float>(p, false, false);
      return;
    case DType::Double: return blas<double>(p, false, false);
    case DType::ComplexFloat: return complex_gemm<cfloat>(p, conj_a, conj_b);
    case DType::ComplexDouble: return complex_gemm<cdouble>(p, conj_a, conj_b);
    case DType::BFloat16:
      if (p.k > 0 && try_onednn(onednn::Type::bf16, p)) return;
      return half_gemm(dtype, p);
    case DType::Half:
      if (p.k > 0 && try_onednn(onednn::Type::f16, p)) return;
      return half_gemm(dtype, p);
    default: dtype_not_implemented("addmm", dtype);
  }
}

}  // namespace rl
