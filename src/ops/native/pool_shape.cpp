// See pool_shape.h.
#include "ops/native/pool_shape.h"

#include <algorithm>

#include "kernels/iter/copy.h"

namespace rl {
namespace {

constexpr const char* kCount[] = {"", "one", "two", "three"};

// The last `dims` of three values; the others stay.
void expand(const PoolArgs& a, IntRef v, int64_t* to, const char* what, bool avg) {
  const bool may_omit = what[0] == 's';
  const size_t n = size_t(a.dims);
  const bool fine = v.size() == 1 || v.size() == n;
  if (!fine && a.dims == 3 && avg)
    fail(a.name, ": ", what, " must be ", may_omit ? "omitted, " : "",
         "a single int, or a tuple of ", kCount[n], " ints");
  check(fine, a.name, ": ", what, what[0] == 'd' ? " must be either" : " must either be",
        may_omit ? " omitted," : "", " a single int, or a tuple of ", kCount[n], " ints");
  for (int64_t x : v) check(x >= INT32_MIN && x <= INT32_MAX, a.name, ": integer out of range");
  for (size_t i = 0; i < n; ++i) to[3 - n + i] = v[v.size() == 1 ? 0 : i];
}

int64_t pooled(const PoolArgs& a, const cpu::Pool& p, int d) {
  const int64_t reach = p.dilation[d] * (p.kernel[d] - 1) + 1, s = p.stride[d];
  const int64_t room = p.in[d] + 2 * p.padding[d] - reach + (a.ceil_mode ? s - 1 : 0);
  int64_t n = (room >= 0 ? room / s : -((-room + s - 1) / s)) + 1;
  if (a.ceil_mode && (n - 1) * s >= p.in[d] + p.padding[d]) --n;
  return n;
}

void check_parameters(const PoolArgs& a, const cpu::Pool& p) {
  for (int d = 3 - a.dims; d < 3; ++d) check(p.stride[d] != 0, "stride should not be zero");
  for (int d = 3 - a.dims; d < 3; ++d) {
    check(p.padding[d] >= 0, "pad must be non-negative, but got pad: ", p.padding[d]);
    check(p.padding[d] <= ((p.kernel[d] - 1) * p.dilation[d] + 1) / 2,
          "pad should be at most half of effective kernel size, but got pad=", p.padding[d],
          ", kernel_size=", p.kernel[d], " and dilation=", p.dilation[d]);
  }
  for (int d = 3 - a.dims; d < 3; ++d) {
    check(p.kernel[d] > 0 && p.stride[d] > 0,
          a.dims == 2 ? "kernel size should be greater than zero"
                      : "kernel size should be greater than zero, but got ",
          a.dims == 2 ? "" : "kT: ", p.kernel[0], " kH: ", p.kernel[1], " kW: ", p.kernel[2]);
    if (p.dilation[d] <= 0) {
      if (a.dims == 2)
        fail("dilation should be greater than zero, but got dilationH: ", p.dilation[1],
             " dilationW: ", p.dilation[2]);
      fail("dilation should be greater than zero, but got dilationT: ", p.dilation[0],
           " dilationH: ", p.dilation[1], " dilationW: ", p.dilation[2]);
    }
  }
}

void check_input(const PoolArgs& a, IntRef s, bool avg) {
  const size_t n = size_t(a.dims);
  if (a.dims == 3 || !avg) {
    check(s.size() == n + 1 || s.size() == n + 2, "non-empty ", n + 1, "D or ", n + 2,
          "D (batch mode) tensor expected for input");
  } else {
    check_index(s.size() >= 3, "Dimension out of range (expected to be in range of [",
                -int64_t(std::max<size_t>(s.size(), 1)), ", ",
                int64_t(std::max<size_t>(s.size(), 1)) - 1, "], but got -3)");
  }
  const size_t first = s.size() == n + 2 ? 1 : 0;
  bool fine = s.size() == n + 1 || s.size() == n + 2;
  for (size_t i = first; i < s.size(); ++i) fine = fine && s[i] != 0;
  if (fine) return;
  if (a.dims == 3)
    fail(a.name, ": Expected input to have non-zero size for non-batch dimensions, but input has "
         "sizes ", s);
  fail("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:",
       s);
}

std::string sizes_by_x(int64_t channels, const int64_t* v, int dims) {
  std::string s = str("(", channels);
  for (int d = 3 - dims; d < 3; ++d) s += str("x", v[d]);
  return s + ")";
}

}  // namespace

cpu::Pool pool_shape(const PoolArgs& a, IntRef sizes, bool avg, Dims& out) {
  cpu::Pool p;
  expand(a, a.kernel, p.kernel, "kernel_size", avg);
  expand(a, a.stride.empty() ? a.kernel : a.stride, p.stride, "stride", avg);
  expand(a, a.padding, p.padding, "padding", avg);
  if (!avg) expand(a, a.dilation, p.dilation, "dilation", avg);
  const size_t n = size_t(a.dims);
  if (a.dims == 3)
    check(sizes.size() == 4 || sizes.size() == 5,
          "non-empty 4D or 5D (batch mode) tensor expected for input");
  else if (avg || sizes.size() < 3 || sizes.size() > 4) {
    if (avg) check_index(sizes.size() >= 3, "Dimension out of range (expected to be in range of [",
                         -int64_t(std::max<size_t>(sizes.size(), 1)), ", ",
                         int64_t(std::max<size_t>(sizes.size(), 1)) - 1, "], but got -3)");
    else check_input(a, sizes, avg);
  }
  const size_t spatial = sizes.size() - n;
  for (size_t i = 0; i < n; ++i) p.in[3 - n + i] = sizes[spatial + i];
  check_parameters(a, p);
  check_input(a, sizes, avg);
  p.channels = sizes[spatial - 1];
  p.batch = spatial == 2 ? sizes[0] : 1;
  out = Dims(sizes.slice(0, spatial));
  bool fits = true;
  for (int d = 3 - a.dims; d < 3; ++d) {
    p.out[d] = pooled(a, p, d);
    out.push_back(p.out[d]);
    fits = fits && p.out[d] >= 1;
  }
  if (!fits && a.dims == 3 && avg)
    fail("input image (T: ", p.in[0], " H: ", p.in[1], " W: ", p.in[2],
         ") smaller than kernel size (kT: ", p.kernel[0], " kH: ", p.kernel[1], " kW: ",
         p.kernel[2], ")");
  if (!fits)
    fail("Given input size: ", sizes_by_x(p.channels, p.in, a.dims), ". Calculated output size: ",
         sizes_by_x(p.channels, p.out, a.dims), ". Output size is too small");
  return p;
}

bool pool_channels_last(const Tensor& t, int dims) {
  return t.dim() == dims + 2 && suggest_memory_format(t) != MemoryFormat::Contiguous;
}

static MemoryFormat last_format(size_t dim) {
  return dim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

Tensor pool_dense(const Tensor& t, bool last) {
  if (!last) return contiguous_tensor(t);
  const MemoryFormat f = last_format(size_t(t.dim()));
  return t.is_contiguous(f) ? t : clone_tensor(t, f);
}

Tensor pool_empty(IntRef sizes, DType dtype, Device device, bool last) {
  if (!last) return empty_tensor(sizes, dtype, device);
  return empty_format(sizes, dtype, device, last_format(sizes.size()));
}

}  // namespace rl
