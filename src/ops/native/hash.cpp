// hash_tensor: the exclusive or of bit patterns over dimensions.
#include <bit>

#include "ops/index_tools.h"

namespace rl::native {
namespace {

template <class T>
uint64_t pattern(T v) {
  if constexpr (std::is_integral_v<T>) return uint64_t(int64_t(v));
  else return std::bit_cast<uint64_t>(double(v));
}

using HashTypes = TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t,
                           uint8_t, bool, uint16_t, uint32_t, uint64_t>;

}  // namespace

Tensor hash_tensor(const Tensor& self, IntRef dim, bool keepdim, int64_t mode) {
  check(mode == 0, "Unknown hash_tensor mode: ", mode);
  check(self.numel() > 0 || !dim.empty(), "hash_tensor: Expected reduction dim to be specified for "
        "input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  const size_t n = size_t(self.dim());
  SmallVec<int64_t, 8> reduced(std::max<size_t>(n, 1), dim.empty() ? 1 : 0);
  for (int64_t d : dim) {
    const size_t w = size_t(wrap_dim(d, self.dim()));
    check(!reduced[w], "dim ", w, " appears multiple times in the list of dims");
    reduced[w] = 1;
    check_index(n == 0 || self.sizes()[w] > 0, "hash_tensor: Expected reduction dim ", w,
                " to have non-zero size.");
  }
  Dims sizes, order;
  for (size_t d = 0; d < n; ++d) {
    if (!reduced[d]) order.push_back(int64_t(d));
    if (!reduced[d] || keepdim) sizes.push_back(reduced[d] ? 1 : self.sizes()[d]);
  }
  for (size_t d = 0; d < n; ++d)
    if (reduced[d]) order.push_back(int64_t(d));
  Tensor out = empty_tensor(sizes, DType::UInt64, self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor in = contiguous(permute(self, order));
  const int64_t width = in.numel() / out.numel();
  visit(HashTypes{}, self.dtype(), "xor_sum_cpu", [&]<class T>() {
    const T* p = in.data<T>();
    for (int64_t i = 0; i < out.numel(); ++i) {
      uint64_t x = 0;
      for (int64_t k = 0; k < width; ++k) x ^= pattern(p[i * width + k]);
      out.data<uint64_t>()[i] = x;
    }
  });
  return out;
}

}  // namespace rl::native
