// See plain_gemm.h. Row by row: C[i, :] accumulates A[i, l] * B[l, :], which the compiler turns
// into vector code where B's rows are contiguous.
#include "kernels/cpu/plain_gemm.h"

#include "base/parallel.h"
#include "kernels/cpu/isa.h"

namespace rl::cpu::RL_ISA {
namespace {

template <class T>
void multiply_row(const GemmProblem& p, const T* a, const T* b, T* c, const T* bias) {
  const T alpha = T(int64_t(p.alpha)), beta = T(int64_t(p.beta));
  for (int64_t j = 0; j < p.n; ++j) {
    T& out = c[j * p.c.col];
    out = T((p.beta != 0 ? beta * out : T(0)) + (bias ? bias[j] : T(0)));
  }
  for (int64_t l = 0; l < p.k; ++l) {
    const T x = T(alpha * a[l * p.a.col]);
    const T* row = b + l * p.b.row;
    if (p.b.col == 1 && p.c.col == 1) {
      for (int64_t j = 0; j < p.n; ++j) c[j] = T(c[j] + x * row[j]);
    } else {
      for (int64_t j = 0; j < p.n; ++j) {
        c[j * p.c.col] = T(c[j * p.c.col] + x * row[j * p.b.col]);
      }
    }
  }
}

template <>
void multiply_row<bool>(const GemmProblem& p, const bool* a, const bool* b, bool* c,
                        const bool* bias) {
  for (int64_t j = 0; j < p.n; ++j) {
    bool out = (p.beta != 0 && c[j * p.c.col]) || (bias && bias[j]);
    for (int64_t l = 0; l < p.k && !out; ++l) {
      out = p.alpha != 0 && a[l * p.a.col] && b[l * p.b.row + j * p.b.col];
    }
    c[j * p.c.col] = out;
  }
}

template <class T>
void multiply(const GemmProblem& p) {
  const int64_t work = p.n * p.k + 1;
  parallel_for(0, p.batch * p.m, 32768 / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t e = r / p.m, i = r % p.m;
      multiply_row<T>(p, static_cast<const T*>(p.a.data) + e * p.a.batch + i * p.a.row,
                      static_cast<const T*>(p.b.data) + e * p.b.batch,
                      static_cast<T*>(const_cast<void*>(p.c.data)) + e * p.c.batch + i * p.c.row,
                      static_cast<const T*>(p.bias));
    }
  });
}

}  // namespace

void plain_gemm(DType dtype, const GemmProblem& p) {
  switch (dtype) {
    case DType::UInt8: return multiply<uint8_t>(p);
    case DType::Int8: return multiply<int8_t>(p);
    case DType::Int16: return multiply<int16_t>(p);
    case DType::Int32: return multiply<uint32_t>(p);  // unsigned: overflow wraps
    case DType::Int64: return multiply<uint64_t>(p);
    case DType::UInt16: return multiply<uint16_t>(p);
    case DType::UInt32: return multiply<uint32_t>(p);
    case DType::UInt64: return multiply<uint64_t>(p);
    case DType::Bool: return multiply<bool>(p);
    default: dtype_not_implemented("addmm", dtype);
  }
}

}  // namespace rl::cpu::RL_ISA
