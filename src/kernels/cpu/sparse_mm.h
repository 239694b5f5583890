// Products of a row-compressed sparse matrix and a dense one, on raw pointers.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

struct SparseRows {
  const int64_t *pointers, *columns;  // of rows; every column is within bounds
  const void* values;
};

// out[r, :m] = sum over e in row r of values[e] * dense[columns[e], :m], for from <= r < to.
// Half types are added up in float.
RL_KERNEL(void, sparse_times_dense,
          (DType d, const SparseRows& a, const void* dense, int64_t dense_stride, void* out,
           int64_t out_stride, int64_t m, int64_t from, int64_t to));
// out[i, columns[e]] += dense[i, r] * values[e] over all rows r, for from <= i < to; out is zero.
RL_KERNEL(void, dense_times_sparse,
          (DType d, const void* dense, int64_t dense_stride, const SparseRows& a, int64_t rows,
           void* out, int64_t out_stride, int64_t m, int64_t from, int64_t to));

}  // namespace rl::cpu
