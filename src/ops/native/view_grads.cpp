// Cotangents of views: zeros of the input's shape with the gradient written at the view's place.
#include <algorithm>

#include "ops/native.h"

namespace rl::native {
Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2);
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step);
void add_into(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out,
              bool inplace);

namespace {
Tensor zeros_like_of(const Tensor& grad, IntRef sizes) {
  return full(sizes, Scalar(0), grad.dtype(), grad.device());
}
Tensor written(const Tensor& zeros, const Tensor& place, const Tensor& grad) {
  if (!zeros.is_meta()) copy_into(place, grad);
  return zeros;
}
}  // namespace

Tensor select_backward(const Tensor& grad, IntRef sizes, int64_t dim, int64_t index) {
  Tensor out = zeros_like_of(grad, sizes);
  return written(out, select(out, dim, index), grad);
}

Tensor slice_backward(const Tensor& grad, IntRef sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  Tensor out = zeros_like_of(grad, sizes);
  return written(out, slice(out, dim, start, end, step), grad);
}

Tensor diagonal_backward(const Tensor& grad, IntRef sizes, int64_t offset, int64_t dim1,
                         int64_t dim2) {
  Tensor out = zeros_like_of(grad, sizes);
  return written(out, diagonal(out, offset, dim1, dim2), grad);
}

// Windows may overlap: one addition for each place in the window.
Tensor unfold_backward(const Tensor& grad, IntRef sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor out = zeros_like_of(grad, sizes);
  if (out.is_meta() || grad.numel() == 0) return out;
  if (sizes.empty()) {
    copy_into(out, select(grad, 0, 0));
    return out;
  }
  const int64_t d = wrap_dim(dim, int64_t(sizes.size())), windows = grad.size(d);
  for (int64_t k = 0; k < size; ++k) {
    Tensor place = slice(out, d, k, k + (windows - 1) * step + 1, step);
    add_into(place, select(grad, -1, k), Scalar(1), place, true);
  }
  return out;
}

namespace {
template <class T>
void scatter_add(const Tensor& memory, const Tensor& grad, IntRef sizes, IntRef strides,
                 int64_t offset) {
  T* to = memory.data<T>();
  const T* from = grad.data<T>();
  const int64_t n = grad.numel();
  Dims at(sizes.size());
  int64_t place = offset;
  for (int64_t i = 0; i < n; ++i) {
    to[place] = T(to[place] + from[i]);
    for (size_t d = sizes.size(); d-- > 0;) {
      place += strides[d];
      if (++at[d] < sizes[d]) break;
      place -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
}
}  // namespace

// The storage of the input, from its first element on, receives the sum of the gradients of all
// view elements at an address; an input that overlaps itself shares it among its own elements
// evenly.
Tensor as_strided_backward(const Tensor& grad, IntRef input_sizes, IntRef input_strides,
                           IntRef size, IntRef stride, std::optional<int64_t> storage_offset) {
  check(input_sizes.size() == input_strides.size() && size.size() == stride.size(),
        "mismatch in length of strides and shape");
  check(grad.sizes() == size && storage_offset.value_or(0) >= 0,
        "as_strided_backward: a gradient of shape ", grad.sizes(), " for ", size, " from offset ",
        storage_offset.value_or(0));
  for (IntRef strides : {input_strides, stride})
    for (int64_t s : strides) check(s >= 0, "as_strided_backward: negative strides");
  numel_of(input_sizes);
  numel_of(size);
  const int64_t reach = std::max(storage_bytes_needed(input_sizes, input_strides, 0, 1),
                                 storage_bytes_needed(size, stride, storage_offset.value_or(0), 1));
  Tensor memory = full({reach}, Scalar(0), grad.dtype(), grad.device());
  if (!grad.is_meta())
    visit(FloatComplexTypes{}, grad.dtype(), "as_strided_backward", [&]<class T>() {
      scatter_add<T>(memory, contiguous(grad), size, stride, storage_offset.value_or(0));
    });
  return rl::alias(memory, input_sizes, input_strides, 0);
}

}  // namespace rl::native
