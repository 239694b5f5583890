// Padding: with a constant, or with elements of the tensor found by a table of positions.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "ops/native.h"
#include "ops/tap_maps.h"

namespace rl::native {
namespace {

enum Mode { kReflect, kReplicate, kCircular };

void check_pad(const Tensor& self, IntRef pad) {
  check(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  check(int64_t(pad.size()) <= 2 * self.dim(),
        "Length of pad should be no more than twice the number of dimensions of the input. Pad "
        "length "
        "is ", pad.size(), "while the input has ", self.dim(), "dimensions.");
}

// Position in a line of n elements of position i of the padded line.
int64_t source(int64_t mode, int64_t i, int64_t n) {
  if (mode == kReplicate) return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == kCircular) return (i % n + n) % n;
  if (i < 0) i = -i;
  return i >= n ? 2 * (n - 1) - i : i;
}

TapTable pad_table(int64_t mode, int64_t n, int64_t before, int64_t after) {
  TapTable t;
  for (int64_t i = -before; i < n + after; ++i) {
    t.add(source(mode, i, n), 1);
    t.close();
  }
  return t;
}

template <class U>
void gather_lines(const char* from, char* to, const TapTable& t, int64_t n, int64_t b, int64_t e) {
  const int64_t m = t.outputs();
  for (int64_t o = b; o < e; ++o) {
    const U* x = reinterpret_cast<const U*>(from) + o * n;
    U* y = reinterpret_cast<U*>(to) + o * m;
    for (int64_t i = 0; i < m; ++i) y[i] = x[t.index[size_t(i)]];
  }
}

// Copies rows of bytes.
Tensor gather_dim(const Tensor& x, int64_t dim, const TapTable& t) {
  int64_t outer = 1, inner = int64_t(x.itemsize());
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != dim) (d < dim ? outer : inner) *= x.sizes()[size_t(d)];
  const int64_t n = x.sizes()[size_t(dim)], m = t.outputs();
  Dims sizes(x.sizes());
  sizes[size_t(dim)] = m;
  Tensor y = empty_tensor(sizes, x.dtype(), x.device());
  if (y.numel() == 0) return y;
  const char* from = static_cast<const char*>(x.data());
  char* to = static_cast<char*>(y.data());
  parallel_for(0, outer, std::max<int64_t>(1, 65536 / (m * inner)), [&](int64_t b, int64_t e) {
    if (inner == 4) return gather_lines<uint32_t>(from, to, t, n, b, e);
    if (inner == 8) return gather_lines<uint64_t>(from, to, t, n, b, e);
    if (inner == 2) return gather_lines<uint16_t>(from, to, t, n, b, e);
    for (int64_t o = b; o < e; ++o)
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(to + (o * m + i) * inner, from + (o * n + t.index[size_t(i)]) * inner,
                    size_t(inner));
  });
  return y;
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntRef pad, const Scalar& value) {
  check_pad(self, pad);
  Dims sizes(self.sizes());
  Tensor from = self;
  Dims starts(sizes.size(), 0), lengths(sizes.size(), 0);
  const size_t n = pad.size() / 2;
  for (size_t i = 0; i < sizes.size(); ++i) lengths[i] = sizes[i];
  for (size_t i = 0; i < n; ++i) {
    const size_t d = sizes.size() - 1 - i;
    const int64_t before = pad[2 * i], after = pad[2 * i + 1], old = sizes[d];
    const int64_t cut = std::max<int64_t>(-before, 0), cut_end = std::max<int64_t>(-after, 0);
    check(old - cut - cut_end >= 0, "narrow(): length must be non-negative.");
    if (cut + cut_end > 0) from = narrow(from, int64_t(d), cut, old - cut - cut_end);
    sizes[d] = old + before + after;
    check(sizes[d] >= 0, "The input size ", old, ", plus negative padding ", before, " and ", after,
          " resulted in a negative output size, which is invalid. Check dimension ", d,
          " of your input.");
    starts[d] = std::max<int64_t>(before, 0);
    lengths[d] = old - cut - cut_end;
  }
  Tensor out = self.dim() == 4 && self.is_contiguous(MemoryFormat::ChannelsLast) &&
                       !self.is_contiguous()
                   ? empty_format(sizes, self.dtype(), self.device(), MemoryFormat::ChannelsLast)
                   : empty_tensor(sizes, self.dtype(), self.device());
  if (out.is_meta()) return out;
  fill(out, value);
  Tensor inside = out;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (lengths[d] != sizes[d]) inside = narrow(inside, int64_t(d), starts[d], lengths[d]);
  if (inside.numel() > 0) copy_into(inside, from);
  return out;
}

Tensor _pad_index(const Tensor& self, IntRef pad, int64_t mode) {
  Dims sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i)
    sizes[sizes.size() - 1 - i] += pad[2 * i] + pad[2 * i + 1];
  if (self.is_meta()) return empty_tensor(sizes, self.dtype(), self.device());
  Tensor x = contiguous(self);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - int64_t(i);
    if (pad[2 * i] == 0 && pad[2 * i + 1] == 0) continue;
    x = gather_dim(x, d, pad_table(mode, self.sizes()[size_t(d)], pad[2 * i], pad[2 * i + 1]));
  }
  if (!x.is_same(self)) return x;
  Tensor copy = empty_tensor(sizes, self.dtype(), self.device());  // nothing to pad
  copy_into(copy, self);
  return copy;
}

Tensor _pad_index_backward(const Tensor& grad, IntRef sizes, IntRef pad, int64_t mode) {
  const DType d = grad.dtype();
  if (grad.is_meta()) return empty_tensor(sizes, d, grad.device());
  const bool complex = is_complex(d);
  const DType compute = complex ? (d == DType::ComplexDouble ? DType::Double : DType::Float)
                                : (d == DType::Double ? DType::Double : DType::Float);
  Tensor x = contiguous(complex ? grad : to_dtype(grad, compute));
  Dims full(sizes);
  if (complex) {  // pairs of real numbers in a last dimension
    Dims shape(grad.sizes());
    shape.push_back(2);
    Tensor pairs = empty_tensor(shape, compute, x.device());
    std::memcpy(pairs.data(), x.data(), size_t(x.numel()) * x.itemsize());
    x = pairs;
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = int64_t(sizes.size()) - 1 - int64_t(i), n = sizes[size_t(dim)];
    if (pad[2 * i] == 0 && pad[2 * i + 1] == 0) continue;
    x = apply_taps(x, dim, pad_table(mode, n, pad[2 * i], pad[2 * i + 1]), n, true);
  }
  if (!complex) return to_dtype(x, d);
  Tensor out = empty_tensor(sizes, d, grad.device());
  std::memcpy(out.data(), x.data(), size_t(out.numel()) * out.itemsize());
  return out;
}

}  // namespace rl::native
