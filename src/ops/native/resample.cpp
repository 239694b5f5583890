// Interpolation of images: tables of taps for each dimension, applied one after the other.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/native.h"
#include "ops/tap_maps.h"

namespace rl {

Tensor apply_taps(const Tensor& x, int64_t dim, const TapTable& table, int64_t n, bool transpose) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < x.dim(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : x.sizes()[size_t(d)];
  const int64_t to = transpose ? n : table.outputs(), from = transpose ? table.outputs() : n;
  Dims sizes(x.sizes());
  sizes[size_t(dim)] = to;
  Tensor y = empty_tensor(sizes, x.dtype(), x.device());
  if (y.numel() == 0) return y;
  if (transpose) native::fill(y, Scalar(int64_t(0)));
  const Taps taps{table.first.data(), table.index.data(), table.weight.data(), table.outputs()};
  const int64_t size = x.itemsize();
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, (from + to) * inner));
  parallel_for(0, outer, grain, [&](int64_t b, int64_t e) {
    const void* px = static_cast<const char*>(x.data()) + b * from * inner * size;
    void* py = static_cast<char*>(y.data()) + b * to * inner * size;
    if (transpose) cpu::spread_rows(x.dtype(), px, py, taps, e - b, n, inner);
    else cpu::resample_rows(x.dtype(), px, py, taps, e - b, n, inner);
  });
  return y;
}

namespace native {
namespace {

enum Mode { kNearest, kNearestExact, kLinear, kCubic, kLinearAA, kCubicAA, kLanczosAA };

double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }  // |x| <= 1
double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

double filter(int64_t mode, double x) {
  x = std::fabs(x);
  if (mode == kLinearAA) return x < 1 ? 1 - x : 0;
  if (mode == kCubicAA) return x < 1 ? cubic_near(x, -0.5) : x < 2 ? cubic_far(x, -0.5) : 0;
  if (x >= 3) return 0;
  if (x == 0) return 1;
  const double p = x * 3.14159265358979323846;
  return std::sin(p) / p * std::sin(p / 3) / (p / 3);
}

double step_of(int64_t in, int64_t out, bool align_corners, double scale) {
  if (align_corners) return out > 1 ? double(in - 1) / double(out - 1) : 0;
  return scale > 0 ? 1 / scale : double(in) / double(out);
}

// The positions are found in float, so that ties fall as they do elsewhere.
TapTable nearest_table(bool exact, int64_t in, int64_t out, double scale) {
  TapTable t;
  const float step = scale > 0 ? float(1 / scale) : float(in) / float(out);
  for (int64_t i = 0; i < out; ++i) {
    const float at = exact ? (float(i) + 0.5f) * step : float(i) * step;
    t.add(std::min(int64_t(std::floor(at)), in - 1), 1);
    t.close();
  }
  return t;
}

TapTable linear_table(int64_t in, int64_t out, bool align_corners, double step) {
  TapTable t;
  for (int64_t i = 0; i < out; ++i) {
    const double at = align_corners ? double(i) * step
                                    : std::max(0.0, (double(i) + 0.5) * step - 0.5);
    const int64_t low = std::min(int64_t(at), in - 1), high = std::min(low + 1, in - 1);
    const double part = std::min(std::max(at - double(low), 0.0), 1.0);
    t.add(low, 1 - part);
    t.add(high, part);
    t.close();
  }
  return t;
}

TapTable cubic_table(int64_t in, int64_t out, bool align_corners, double step) {
  constexpr double a = -0.75;
  TapTable t;
  for (int64_t i = 0; i < out; ++i) {
    const double at = align_corners ? double(i) * step : (double(i) + 0.5) * step - 0.5;
    const double low = std::floor(at), x = at - low;
    const double w[4] = {cubic_far(x + 1, a), cubic_near(x, a), cubic_near(1 - x, a),
                         cubic_far(2 - x, a)};
    for (int64_t k = 0; k < 4; ++k)
      t.add(std::clamp<int64_t>(int64_t(low) + k - 1, 0, in - 1), w[k]);
    t.close();
  }
  return t;
}

// The filter is widened by the step when shrinking.
TapTable antialias_table(int64_t mode, int64_t in, int64_t out, double step) {
  TapTable t;
  const double radius = mode == kLinearAA ? 1 : mode == kCubicAA ? 2 : 3;
  const double widen = std::max(step, 1.0), support = radius * widen;
  for (int64_t i = 0; i < out; ++i) {
    const double centre = step * (double(i) + 0.5);
    const int64_t low = std::max<int64_t>(int64_t(centre - support + 0.5), 0);
    const int64_t high = std::min(int64_t(centre + support + 0.5), in);
    double total = 0;
    for (int64_t j = low; j < high; ++j) total += filter(mode, (double(j) - centre + 0.5) / widen);
    for (int64_t j = low; j < high; ++j)
      t.add(j, filter(mode, (double(j) - centre + 0.5) / widen) / (total != 0 ? total : 1));
    t.close();
  }
  return t;
}

TapTable table_of(int64_t mode, int64_t in, int64_t out, bool align_corners, double scale) {
  const double step = step_of(in, out, align_corners, scale);
  switch (mode) {
    case kNearest:
    case kNearestExact: return nearest_table(mode == kNearestExact, in, out, scale);
    case kLinear: return linear_table(in, out, align_corners, step);
    case kCubic: return cubic_table(in, out, align_corners, step);
    default: return antialias_table(mode, in, out, step);
  }
}

bool wants_channels_last(const Tensor& t) {
  return t.dim() == 4 && !t.is_contiguous() && t.is_contiguous(MemoryFormat::ChannelsLast);
}

// A row-major tensor in the order of memory: channels last when they are. `shift` moves spatial
// dimensions to their place there.
Tensor in_memory_order(const Tensor& t, bool channels_last) {
  if (!channels_last) return contiguous(t);
  const int64_t order[] = {0, 2, 3, 1};
  return contiguous(permute(t, IntRef(order, 4)));
}
Tensor from_memory_order(const Tensor& t, bool channels_last) {
  if (!channels_last) return t;
  const int64_t order[] = {0, 3, 1, 2};
  return permute(t, IntRef(order, 4));
}

// Images of bytes are resampled in fixed point, as Pillow does: the weights of a pass become
// integers of at most 16 bits, and each pass rounds to bytes. Products and sums are whole numbers
// below 2^24, which float holds exactly. Returns the factor of the weights.
double to_fixed_point(TapTable& table) {
  TapTable t;  // each input once: those beyond the edge fold into the edge
  for (int64_t i = 0; i < table.outputs(); ++i) {
    for (int64_t k = table.first[size_t(i)]; k < table.first[size_t(i) + 1]; ++k) {
      const int64_t at = table.index[size_t(k)];
      if (int64_t(t.index.size()) > t.first.back() && t.index.back() == at)
        t.weight.back() += table.weight[size_t(k)];
      else
        t.add(at, table.weight[size_t(k)]);
    }
    t.close();
  }
  table = std::move(t);
  double largest = 0;
  for (auto w : table.weight) largest = std::max(largest, double(w));
  int bits = 0;
  while (bits < 22 && int64_t(0.5 + largest * std::ldexp(1.0, bits + 1)) < (1 << 15)) ++bits;
  const double factor = std::ldexp(1.0, bits);
  for (auto& w : table.weight) {
    const double scaled = double(w) * factor;
    w = std::trunc(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  }
  return factor;
}

void round_to_bytes(const Tensor& x, double factor) {
  float* p = x.data<float>();
  const float half = float(factor / 2), inverse = float(1 / factor);
  for (int64_t i = 0; i < x.numel(); ++i)
    p[i] = std::clamp(std::floor((p[i] + half) * inverse), 0.0f, 255.0f);
}

DType compute_type(const Tensor& t, const char* name) {
  const DType d = t.dtype();
  if (!(is_floating(d) && !is_float8(d)) && d != DType::UInt8) dtype_not_implemented(name, d);
  return d == DType::Double ? DType::Double : DType::Float;
}

const char* kernel_name(int64_t mode, size_t spatial) {
  static constexpr const char* kNames[3][3] = {
      {"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"},
      {"upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"},
      {"upsample_bicubic2d", "upsample_bicubic2d", "upsample_bicubic2d"}};
  return kNames[mode <= kNearestExact ? 0 : mode == kLinear || mode == kLinearAA ? 1
      : 2][spatial - 1];
}

void check_request(IntRef sizes, int64_t mode, ArrayRef<double> scales) {
  check(mode >= kNearest && mode <= kLanczosAA, "_resample: no mode ", mode);
  check(scales.size() >= 1 && scales.size() <= 3 && sizes.size() >= scales.size(),
        "_resample: ", scales.size(), " spatial dimensions of ", sizes.size());
  for (size_t d = sizes.size() - scales.size(); d < sizes.size(); ++d)
    check(sizes[d] > 0, "_resample: empty images");
}

}  // namespace

Tensor _resample(const Tensor& self, IntRef output_size, int64_t mode, bool align_corners,
                 ArrayRef<double> scales) {
  const size_t spatial = output_size.size(), first = size_t(self.dim()) - spatial;
  check_request(self.sizes(), mode, scales);
  check(spatial == scales.size(), "_resample: one scale for each dimension");
  const DType compute = compute_type(self, kernel_name(mode, spatial));
  const bool last = wants_channels_last(self);
  Dims sizes(self.sizes());
  for (size_t i = 0; i < spatial; ++i) sizes[first + i] = output_size[i];
  if (self.is_meta()) return empty_tensor(sizes, self.dtype(), self.device());
  Tensor x = in_memory_order(to_dtype(self, compute), last);
  for (size_t i = spatial; i-- > 0;) {
    const int64_t in = self.sizes()[first + i], out = output_size[i];
    TapTable t = table_of(mode, in, out, align_corners, scales[i]);
    const double factor = self.dtype() == DType::UInt8 ? to_fixed_point(t) : 0;
    x = apply_taps(x, int64_t(first + i) - (last ? 1 : 0), t, in, false);
    if (factor > 0) round_to_bytes(x, factor);
  }
  return from_memory_order(to_dtype(x, self.dtype()), last);
}

Tensor _resample_backward(const Tensor& grad, IntRef sizes, int64_t mode, bool align_corners,
                          ArrayRef<double> scales) {
  const size_t spatial = scales.size(), first = sizes.size() - spatial;
  check_request(sizes, mode, scales);
  check(grad.dim() == int64_t(sizes.size()), "_resample_backward: sizes of another rank");
  for (size_t d = 0; d < first; ++d)
    check(grad.sizes()[d] == sizes[d], "_resample_backward: other batches or channels");
  if (grad.is_meta()) return empty_tensor(sizes, grad.dtype(), grad.device());
  const DType compute = grad.dtype() == DType::Double ? DType::Double : DType::Float;
  const bool last = wants_channels_last(grad);
  Tensor x = in_memory_order(to_dtype(grad, compute), last);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t in = sizes[first + i], out = grad.sizes()[first + i];
    const TapTable t = table_of(mode, in, out, align_corners, scales[i]);
    x = apply_taps(x, int64_t(first + i) - (last ? 1 : 0), t, in, true);
  }
  return from_memory_order(to_dtype(x, grad.dtype()), last);
}

}  // namespace native
}  // namespace rl
