// Batches of column-major matrices for LAPACK, and the checks that torch.linalg functions share.
#pragma once
#include <algorithm>
#include <complex>

#include "base/long_work.h"
#include "base/parallel.h"
#include "kernels/cpu/lapack/lapack.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"
#include "ops/products.h"

namespace rl::linalg {

using Types = TypeList<float, double, cfloat, cdouble>;

inline int64_t rows(const Tensor& t) { return t.sizes()[size_t(t.dim()) - 2]; }
inline int64_t cols(const Tensor& t) { return t.sizes()[size_t(t.dim()) - 1]; }
inline IntRef batch_sizes(const Tensor& t) { return t.sizes().slice(0, size_t(t.dim()) - 2); }
inline int64_t product(IntRef v) {
  int64_t n = 1;
  for (int64_t s : v) n *= s;
  return n;
}
inline int64_t batch_count(const Tensor& t) { return product(batch_sizes(t)); }
inline Dims with_batch(IntRef batch, std::initializer_list<int64_t> more) {
  Dims out(batch);
  for (int64_t s : more) out.push_back(s);
  return out;
}

void check_matrix(const Tensor& a, const char* name, const char* arg = "A");
void check_square(const Tensor& a, const char* name, const char* arg = "A");
// Floating or complex; halves are refused in these words unless `low_kernel` names a kernel.
void check_dtype(const Tensor& a, const char* name, const char* low_kernel = nullptr);
// LinAlgError for the first info that is not 0. `what` makes the sentence from the number.
void check_info(const Tensor& info, const char* name, std::string (*what)(int64_t));

// An uninitialised batch, column-major: sizes (batch..., m, n), strides (..., 1, m).
Tensor empty_columns(IntRef batch, int64_t m, int64_t n, DType dtype, Device device);
// A column-major copy.
Tensor column_copy(const Tensor& a);
inline Tensor empty_info(IntRef batch, Device device) {
  Tensor t = empty_tensor(batch, DType::Int32, device);
  if (!t.is_meta()) zero_tensor(t);
  return t;
}
template <class T>
T* matrix_at(const Tensor& t, int64_t i) {  // of an empty_columns or column_copy batch
  return t.data<T>() + i * rows(t) * cols(t);
}
inline int ld(const Tensor& t) { return int(std::max<int64_t>(rows(t), 1)); }

// f(i) for the matrices of a batch.
template <class F>
void each(int64_t count, int64_t work, F&& f) {
  const LongWork others_may_run(double(count) * double(work) > kLongWork / 4);
  if (count == 1) return f(0);
  lapack::Serial serial;
  parallel_for(0, count, 1 + 65536 / (work + 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

// What both gradients and other operators need, below autograd.
struct Factors {
  Tensor lu, pivots, info;
};
Factors lu_factors(const Tensor& a);
Tensor solve_factored(const Factors& f, const Tensor& b, char trans);  // column-major b

}  // namespace rl::linalg
