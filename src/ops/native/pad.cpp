// Padding: with a constant, or with elements of the tensor found by a table of positions.
#include <algorithm>
#include <cstring>
#include <vector>

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

// A padded line: ends by the table, the middle as it is.
template <class U>
void pad_line(const U* x, U* y, const TapTable& t, int64_t n, int64_t before) {
  const int64_t m = t.outputs(), first = std::clamp<int64_t>(before, 0, m);
  const int64_t last = std::clamp<int64_t>(n + before, first, m);
  for (int64_t i = 0; i < first; ++i) y[i] = x[t.index[size_t(i)]];
  if (last > first) std::memcpy(y + first, x + (first - before), size_t(last - first) * sizeof(U));
  for (int64_t i = last; i < m; ++i) y[i] = x[t.index[size_t(i)]];
}

struct Wide {
  uint64_t part[2];
};

// Tables of the padded dimensions, outermost first; those before them are `outer` blocks.
struct Padding {
  std::vector<TapTable> tables;
  Dims sizes, padded;
  int64_t outer = 1, before = 0;

  Padding(const Tensor& x, IntRef pad, int64_t mode) : before(pad[0]) {
    const int64_t k = int64_t(pad.size() / 2), first = x.dim() - k;
    for (int64_t d = 0; d < first; ++d) outer *= x.size(d);
    for (int64_t d = first; d < x.dim(); ++d) {
      const size_t at = size_t(2 * (x.dim() - 1 - d));
      tables.push_back(pad_table(mode, x.size(d), pad[at], pad[at + 1]));
      sizes.push_back(x.size(d));
      padded.push_back(tables.back().outputs());
    }
  }
  int64_t rows() const {  // of the result, in one block
    int64_t n = 1;
    for (size_t d = 0; d + 1 < padded.size(); ++d) n *= padded[d];
    return n;
  }
  int64_t source_row(int64_t row) const {
    const int64_t inside = rows();
    int64_t block = row / inside, rest = row % inside, from = 0, step = 1;
    for (size_t d = padded.size() - 1; d-- > 0;) {
      from += tables[d].index[size_t(rest % padded[d])] * step;
      rest /= padded[d];
      step *= sizes[d];
    }
    return block * step + from;
  }
};

template <class U>
void pad_rows(const Padding& p, const void* from, void* to) {
  const int64_t n = p.sizes.back(), m = p.padded.back();
  parallel_for(0, p.outer * p.rows(), 1 + 16384 / m, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      pad_line(static_cast<const U*>(from) + p.source_row(r) * n, static_cast<U*>(to) + r * m,
               p.tables.back(), n, p.before);
  });
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

// What a table of positions can be made for: no position falls outside of the line.
static void check_positions(IntRef sizes, IntRef pad, int64_t mode) {
  check(mode >= kReflect && mode <= kCircular, "_pad_index: no mode ", mode);
  check(!pad.empty() && pad.size() % 2 == 0 && pad.size() / 2 <= sizes.size(), "_pad_index: pad ",
        pad, " for ", sizes);
  for (size_t i = 0; i < pad.size(); ++i) {
    const int64_t n = sizes[sizes.size() - 1 - i / 2], most = int64_t(1) << 40;
    check(n > 0 && pad[i] >= -n && pad[i] <= (mode == kReflect ? n - 1 : most),
          "_pad_index: pad ", pad, " for ", sizes);
    check(i % 2 == 0 || n + pad[i - 1] + pad[i] >= 0, "_pad_index: pad ", pad, " for ", sizes);
  }
}

Tensor _pad_index(const Tensor& self, IntRef pad, int64_t mode) {
  check_positions(self.sizes(), pad, mode);
  Dims sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i)
    sizes[sizes.size() - 1 - i] += pad[2 * i] + pad[2 * i + 1];
  if (self.is_meta()) return empty_tensor(sizes, self.dtype(), self.device());
  const Tensor x = contiguous(self);
  Tensor y = empty_tensor(sizes, self.dtype(), self.device());
  if (y.numel() == 0) return y;
  const Padding p(x, pad, mode);
  switch (x.itemsize()) {
    case 1: pad_rows<uint8_t>(p, x.data(), y.data()); break;
    case 2: pad_rows<uint16_t>(p, x.data(), y.data()); break;
    case 4: pad_rows<uint32_t>(p, x.data(), y.data()); break;
    case 8: pad_rows<uint64_t>(p, x.data(), y.data()); break;
    default: pad_rows<Wide>(p, x.data(), y.data());
  }
  return y;
}

Tensor _pad_index_backward(const Tensor& grad, IntRef sizes, IntRef pad, int64_t mode) {
  check_positions(sizes, pad, mode);
  check(grad.dim() == int64_t(sizes.size()), "_pad_index_backward: sizes of another rank");
  for (size_t d = 0; d < sizes.size(); ++d) {
    const size_t at = 2 * (sizes.size() - 1 - d);
    const int64_t more = at < pad.size() ? pad[at] + pad[at + 1] : 0;
    check(grad.sizes()[d] == sizes[d] + more, "_pad_index_backward: other sizes");
  }
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
