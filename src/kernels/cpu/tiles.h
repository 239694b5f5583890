// Building blocks of strided and mixed-dtype loops: gather, scatter, fill and convert runs of
// elements. Addresses are bytes; only `convert` knows dtypes, the others move opaque elements.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// A strided walk: dimension 0 is the fastest. Strides are in bytes.
struct Walk {
  const int64_t* sizes;
  const int64_t* strides;
  int ndim;
};

// dst[0..n) = the elements start, start+1, ... of the walk over src; `item` bytes each.
RL_KERNEL(void, gather,
          (void* dst, const char* src, int item, Walk walk, int64_t start, int64_t n));
// The reverse.
RL_KERNEL(void, scatter,
          (char* dst, const void* src, int item, Walk walk, int64_t start, int64_t n));
// n copies of one element.
RL_KERNEL(void, fill_run, (void* dst, const void* value, int item, int64_t n));
// dst[0..n) = src[0..n), both contiguous, not overlapping (or identical with equal dtypes).
RL_KERNEL(void, convert, (void* dst, DType to, const void* src, DType from, int64_t n));

}  // namespace rl::cpu
