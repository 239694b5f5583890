// Running a reduction kernel over a tensor: any set of dimensions, any strides, any dtype that
// converts to the kernel's compute type. The cut into pieces depends on the shape alone, never on
// the number of threads, so results are the same for any number of them.
#pragma once
#include "core/tensor.h"
#include "kernels/cpu/reduce.h"

namespace rl {

struct Reduction {
  cpu::ReduceOp op;
  DType compute;             // elements are converted to it
  cpu::ReduceAttrs attrs{};  // `count` is filled in by run_reduction
};

// Dtype of the values that `finish` gives: int64 for Arg* and counts, bool for Any and All.
DType reduction_result(const Reduction& r);

// Reduces the dimensions of `dims` (bit d: dimension d). `out` is row-major, of the kept sizes
// (with or without the reduced ones as 1), of any dtype; so is `second` (means of Var, values of
// Arg*).
// Arg* take one dimension only, and it must not be empty.
void run_reduction(Reduction r, const Tensor& self, uint64_t dims, const Tensor& out,
                   const Tensor* second = nullptr);

}  // namespace rl
