// What the indexing operators share: index tensors as plain numbers, and walks over rows.
#pragma once
#include <vector>

#include "kernels/index_rows.h"
#include "ops/native.h"

namespace rl {

// Row-major int64 numbers of an index tensor.
Tensor index_numbers(const Tensor& index);
// Position of the first number outside [low, high), or -1.
int64_t first_outside(const int64_t* p, int64_t n, int64_t low, int64_t high);
// The same tensor with negative numbers counted from the end (a copy if there are any).
Tensor wrapped_indices(const Tensor& numbers, int64_t size);
// Offsets of all elements of a strided block, in row-major order.
std::vector<int64_t> all_offsets(IntRef sizes, IntRef strides);
// Orders dimensions from fastest to slowest as element-wise operators do: by the strides of the
// first operand that tells them apart (an operand of stride 0 does not).
Dims order_of_dims(IntRef sizes, const std::vector<Dims>& strides);
// Row-major strides after ordering the dimensions so.
Dims strides_in_order(IntRef sizes, const Dims& order);
// A clone in row-major order.
Tensor row_major_clone(const Tensor& t);
Tensor preserving_clone(const Tensor& t);
// "float", "long int": the element type as C++ spells it.
const char* cpp_type_name(DType d);
// Can the number be stored in that dtype? Throws PyTorch's overflow error.
void check_overflow(const Scalar& value, DType dtype);

// Calls f(offset_a, offset_b, first) for each row (last dimension) of a block of `sizes`: offsets
// in two strided operands, and the number of elements before the row.
template <class F>
void for_rows(IntRef sizes, IntRef a, IntRef b, F&& f) {
  const size_t n = sizes.size();
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < n; ++d) rows *= sizes[d];
  const int64_t width = n == 0 ? 1 : sizes[n - 1];
  if (width == 0) return;
  Dims at(n);
  int64_t pa = 0, pb = 0;
  for (int64_t r = 0; r < rows; ++r) {
    f(pa, pb, r * width);
    for (size_t d = n < 2 ? 0 : n - 1; d-- > 0;) {
      pa += a[d];
      pb += b[d];
      if (++at[d] < sizes[d]) break;
      pa -= a[d] * sizes[d];
      pb -= b[d] * sizes[d];
      at[d] = 0;
    }
  }
}

}  // namespace rl
