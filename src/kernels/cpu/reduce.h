// Reduction kernels. Each operator keeps one State per output; kernels fold rows (contiguous along
// the reduced dimension) or columns (contiguous along the outputs) of the operator's compute type
// into states, states are merged, and `finish` turns them into results.
//
// Sums are kept in double (floats are added up by fours first) and compensated when partial sums
// are merged.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

enum class ReduceOp : uint8_t {
  Sum, NanSum, Prod, Mean, CountNonzero, All, Any,
  Max, Min, ArgMax, ArgMin,          // Max, Min and Arg*: NaN wins
  Norm1, Norm2, NormInf, NormMinusInf, NormP, Var
};

struct ReduceAttrs {
  double count = 0;       // elements per output: Mean, Var
  double correction = 1;  // Var divides by count - correction
  double p = 2;           // NormP
  bool root = false;      // Var: give the standard deviation
};

constexpr int64_t kReduceChunk = 4096;   // longest row that one call folds
constexpr int kMaxReduceState = 32;      // bytes

struct ReduceKernel {
  int state_size;
  void (*init)(void* states, int64_t n);
  // states[r] takes in x[r * row_stride + 0 .. n), n <= kReduceChunk; strides in elements.
  // `first` is the position of column 0 along the reduced dimension (for Arg*).
  void (*rows)(void* states, const void* x, int64_t rows, int64_t row_stride, int64_t n,
               int64_t first, const ReduceAttrs& attrs);
  // states[c] takes in x[r * row_stride + c] for every row r; `first` is the position of row 0.
  void (*columns)(void* states, const void* x, int64_t rows, int64_t row_stride, int64_t columns,
                  int64_t first, const ReduceAttrs& attrs);
  void (*merge)(void* into, const void* from, int64_t n);
  // `out`: values of result type (see reduce_result); `second`: of Var the means, of Arg* the
  // values, may be null.
  void (*finish)(const void* states, int64_t n, void* out, void* second, const ReduceAttrs& attrs);
};

// The kernel of an operator whose input is (converted to) `compute`; false if there is none.
// Compute types: float, double, int64, complex128, bool, and for Max/Min/Arg* int32 and uint8.
RL_KERNEL(bool, reduce_kernel, (ReduceOp op, DType compute, ReduceKernel* kernel));

// Running results (cumsum, ...): y[i] = x[0] op ... op x[i] for `lines` neighbouring lines of n
// elements, x[i * stride + line]. Of Max and Min `index` gets positions, laid out as y.
// Types: Sum, Prod float, double, int64, complex128; LogSumExp all but int64;
// Max, Min float, double, int64. False if there is no such kernel.
enum class ScanOp : uint8_t { Sum, Prod, LogSumExp, Max, Min };
RL_KERNEL(bool, scan_lines, (ScanOp op, DType compute, const void* x, void* y, int64_t* index,
                             int64_t n, int64_t lines, int64_t stride));

}  // namespace rl::cpu
