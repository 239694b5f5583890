// Sparse times dense (see sparse_mm.h): a block of columns of a result row stays in registers or
// the first cache while the row's elements go by.
#include "kernels/cpu/sparse_mm.h"

#include <algorithm>

namespace rl::cpu::RL_ISA {
namespace {

template <class T>
struct Sum {
  using type = T;
};
template <>
struct Sum<half> {
  using type = float;
};
template <>
struct Sum<bfloat16> {
  using type = float;
};

constexpr int64_t kBlock = 64;

template <class T, class A>
inline A as_sum(T v) {
  if constexpr (std::is_same_v<T, A>) return v;
  else return A(float(v));
}

// acc[k] += v * row[k] for a fixed or a given number of columns.
template <class T, class A>
inline void add_line(A* __restrict acc, A v, const T* __restrict row, int64_t n) {
  if constexpr (std::is_same_v<T, bool>) {
    for (int64_t k = 0; k < n; ++k) acc[k] = acc[k] || (v && row[k]);
  } else {
    for (int64_t k = 0; k < n; ++k) acc[k] += v * as_sum<T, A>(row[k]);
  }
}

template <class T>
void rows_times(const SparseRows& a, const T* dense, int64_t dense_stride, T* out,
                int64_t out_stride, int64_t m, int64_t from, int64_t to) {
  using A = typename Sum<T>::type;
  const T* values = static_cast<const T*>(a.values);
  for (int64_t r = from; r < to; ++r) {
    const int64_t first = a.pointers[r], last = a.pointers[r + 1];
    for (int64_t c = 0; c < m; c += kBlock) {
      const int64_t n = std::min(kBlock, m - c);
      A acc[kBlock] = {};
      const T* base = dense + c;
      if (n == kBlock) {
        for (int64_t e = first; e < last; ++e)
          add_line(acc, as_sum<T, A>(values[e]), base + a.columns[e] * dense_stride, kBlock);
      } else {
        for (int64_t e = first; e < last; ++e)
          add_line(acc, as_sum<T, A>(values[e]), base + a.columns[e] * dense_stride, n);
      }
      T* line = out + r * out_stride + c;
      for (int64_t k = 0; k < n; ++k) line[k] = T(acc[k]);
    }
  }
}

// A vector: each row is a sum of products.
template <class T>
void rows_times_vector(const SparseRows& a, const T* vec, int64_t stride, T* out,
                       int64_t out_stride, int64_t from, int64_t to) {
  using A = typename Sum<T>::type;
  const T* values = static_cast<const T*>(a.values);
  for (int64_t r = from; r < to; ++r) {
    A sum = {};
    for (int64_t e = a.pointers[r]; e < a.pointers[r + 1]; ++e)
      add_line(&sum, as_sum<T, A>(values[e]), vec + a.columns[e] * stride, 1);
    out[r * out_stride] = T(sum);
  }
}

template <class T>
void dense_times(const T* dense, int64_t dense_stride, const SparseRows& a, int64_t rows, T* out,
                 int64_t out_stride, int64_t m, int64_t from, int64_t to) {
  using A = typename Sum<T>::type;
  const T* values = static_cast<const T*>(a.values);
  for (int64_t i = from; i < to; ++i) {
    T* line = out + i * out_stride;
    for (int64_t r = 0; r < rows; ++r) {
      const A v = as_sum<T, A>(dense[i * dense_stride + r]);
      for (int64_t e = a.pointers[r]; e < a.pointers[r + 1]; ++e) {
        T& to_add = line[a.columns[e]];
        if constexpr (std::is_same_v<T, bool>) to_add = to_add || (v && values[e]);
        else to_add = T(as_sum<T, A>(to_add) + v * as_sum<T, A>(values[e]));
      }
    }
  }
}

}  // namespace

void sparse_times_dense(DType d, const SparseRows& a, const void* dense, int64_t dense_stride,
                        void* out, int64_t out_stride, int64_t m, int64_t from, int64_t to) {
  visit(AllTypes{}, d, "mm", [&]<class T>() {
    if (m == 1)
      return rows_times_vector(a, static_cast<const T*>(dense), dense_stride, static_cast<T*>(out),
                               out_stride, from, to);
    rows_times(a, static_cast<const T*>(dense), dense_stride, static_cast<T*>(out), out_stride, m,
               from, to);
  });
}

void dense_times_sparse(DType d, const void* dense, int64_t dense_stride, const SparseRows& a,
                        int64_t rows, void* out, int64_t out_stride, int64_t m, int64_t from,
                        int64_t to) {
  visit(AllTypes{}, d, "mm", [&]<class T>() {
    dense_times(static_cast<const T*>(dense), dense_stride, a, rows, static_cast<T*>(out),
                out_stride, m, from, to);
  });
}

}  // namespace rl::cpu::RL_ISA
