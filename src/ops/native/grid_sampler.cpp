// Sampling of images at the points of a grid, and its gradients. Each dimension contributes taps
// (positions and weights); a sample is the sum over their product.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/native.h"

namespace rl::native {
namespace {

enum Interpolation { kLinear, kNearest, kCubic };
enum Padding { kZeros, kBorder, kReflection };

struct Rule {
  int64_t interpolation, padding;
  bool align_corners;
};

template <class R> struct Axis {
  int taps = 0;
  int64_t at[4];  // -1: outside
  R weight[4], slope[4];
};

template <class R> R clip(R x, int64_t size, R& slope) {
  if (!(x > 0)) {
    slope = 0;
    return 0;
  }
  if (x >= R(size - 1)) {
    slope = 0;
    return R(size - 1);
  }
  return x;
}

template <class R> R reflect(R x, int64_t size, bool align_corners, R& slope) {
  const R low = align_corners ? R(0) : R(-0.5), span = align_corners ? R(size - 1) : R(size);
  if (span == 0) {
    slope = 0;
    return 0;
  }
  x -= low;
  if (x < 0) {
    x = -x;
    slope = -slope;
  }
  const R extra = std::fmod(x, span);
  if (int64_t(std::floor(x / span)) % 2 == 0) return extra + low;
  slope = -slope;
  return span - extra + low;
}

template <class R> R padded(R x, int64_t size, const Rule& rule, R& slope) {
  if (rule.padding == kReflection) x = reflect(x, size, rule.align_corners, slope);
  return rule.padding == kZeros ? x : clip(x, size, slope);
}

int64_t inside(double x, int64_t size) {
  return x >= 0 && x < double(size) ? int64_t(x) : -1;
}

// Keys' kernel with a = -0.75, and its derivative.
template <class R> void cubic(R t, R* w, R* s) {
  const R a = R(-0.75), x[4] = {t + 1, t, 1 - t, 2 - t};
  for (int k = 0; k < 4; ++k) {
    const R y = x[k], sign = k < 2 ? R(1) : R(-1);
    if (k == 1 || k == 2) {
      w[k] = ((a + 2) * y - (a + 3)) * y * y + 1;
      s[k] = sign * (3 * (a + 2) * y - 2 * (a + 3)) * y;
    } else {
      w[k] = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a;
      s[k] = sign * ((3 * a * y - 10 * a) * y + 8 * a);
    }
  }
}

template <class R> Axis<R> axis(R g, int64_t size, const Rule& rule) {
  Axis<R> r;
  R slope = rule.align_corners ? R(size - 1) / 2 : R(size) / 2;
  R x = rule.align_corners ? (g + 1) / 2 * R(size - 1) : ((g + 1) * R(size) - 1) / 2;
  if (rule.interpolation == kCubic) {
    const R low = std::floor(x);
    r.taps = 4;
    cubic(x - low, r.weight, r.slope);
    for (int k = 0; k < 4; ++k) {
      R unused = 1;
      r.at[k] = inside(double(padded(low + R(k - 1), size, rule, unused)), size);
      r.slope[k] *= slope;
    }
    return r;
  }
  x = padded(x, size, rule, slope);
  if (rule.interpolation == kNearest) {
    r.taps = 1;
    r.at[0] = inside(double(std::nearbyint(x)), size);
    r.weight[0] = 1;
    r.slope[0] = 0;
    return r;
  }
  const R low = std::floor(x), t = x - low;
  r.taps = 2;
  r.at[0] = inside(double(low), size);
  r.at[1] = inside(double(low) + 1, size);
  r.weight[0] = 1 - t;
  r.weight[1] = t;
  r.slope[0] = -slope;
  r.slope[1] = slope;
  return r;
}

// Calls f(offset, weight, slopes) for the taps of a point; slopes[d] belongs to coordinate d.
template <class R, class F>
void for_taps(const Axis<R>* a, int64_t dims, const int64_t* strides, F&& f) {
  const Axis<R> one{1, {0}, {R(1)}, {R(0)}};
  const Axis<R>& az = dims == 3 ? a[2] : one;
  for (int k = 0; k < az.taps; ++k)
    for (int j = 0; j < a[1].taps; ++j)
      for (int i = 0; i < a[0].taps; ++i) {
        if (a[0].at[i] < 0 || a[1].at[j] < 0 || az.at[k] < 0) continue;
        const R x = a[0].weight[i], y = a[1].weight[j], z = az.weight[k];
        const R slopes[3] = {a[0].slope[i] * y * z, x * a[1].slope[j] * z, x * y * az.slope[k]};
        int64_t offset = a[0].at[i] * strides[0] + a[1].at[j] * strides[1];
        if (dims == 3) offset += az.at[k] * strides[2];
        f(offset, x * y * z, slopes);
      }
}

struct Shapes {
  int64_t n, c, dims, points = 1, volume = 1;
  int64_t sizes[3], strides[3];  // x, y, z
  Shapes(const Tensor& input, const Tensor& grid) {
    n = input.sizes()[0];
    c = input.sizes()[1];
    dims = input.dim() - 2;
    for (int64_t d = 0; d < dims; ++d) {
      sizes[d] = input.sizes()[size_t(input.dim() - 1 - d)];
      strides[d] = volume;
      volume *= sizes[d];
      points *= grid.sizes()[size_t(d + 1)];
    }
  }
};

template <class R>
void point_axes(const Shapes& s, const R* g, const Rule& rule, Axis<R>* a) {
  for (int64_t d = 0; d < s.dims; ++d) a[d] = axis(g[d], s.sizes[d], rule);
}

template <class R>
void sample(const Shapes& s, const R* x, const R* grid, R* y, const Rule& rule) {
  const int64_t grain = std::max<int64_t>(1, 2048 / std::max<int64_t>(s.c, 1));
  parallel_for(0, s.n * s.points, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      Axis<R> a[3];
      point_axes(s, grid + i * s.dims, rule, a);
      const int64_t image = i / s.points, point = i % s.points;
      R* to = y + image * s.c * s.points + point;
      for (int64_t c = 0; c < s.c; ++c) to[c * s.points] = 0;
      for_taps(a, s.dims, s.strides, [&](int64_t offset, R w, const R*) {
        const R* from = x + image * s.c * s.volume + offset;
        for (int64_t c = 0; c < s.c; ++c) to[c * s.points] += w * from[c * s.volume];
      });
    }
  });
}

template <class R>
void sample_backward(const Shapes& s, const R* dy, const R* x, const R* grid, R* dx, R* dgrid,
                     const Rule& rule) {
  parallel_for(0, s.n, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b * s.points; i < e * s.points; ++i) {
      Axis<R> a[3];
      point_axes(s, grid + i * s.dims, rule, a);
      const int64_t image = i / s.points;
      const R* g = dy + image * s.c * s.points + i % s.points;
      R slope[3] = {0, 0, 0};
      for_taps(a, s.dims, s.strides, [&](int64_t offset, R w, const R* slopes) {
        const int64_t at = image * s.c * s.volume + offset;
        R dot = 0;
        for (int64_t c = 0; c < s.c; ++c) {
          dot += g[c * s.points] * x[at + c * s.volume];
          dx[at + c * s.volume] += w * g[c * s.points];
        }
        for (int64_t d = 0; d < s.dims; ++d) slope[d] += slopes[d] * dot;
      });
      for (int64_t d = 0; d < s.dims; ++d) dgrid[i * s.dims + d] = slope[d];
    }
  });
}

void check_inputs(const Tensor& input, const Tensor& grid) {
  check(input.dim() > 0 && grid.dim() > 0, "grid_sampler(): expected input and grid to have at "
        "least one dimension");
  check(input.size(0) == grid.size(0),
        "grid_sampler(): expected grid and input to have same batch size, but got input with "
        "sizes ",
        input.sizes(), " and grid with sizes ", grid.sizes());
  const bool dims = (input.dim() == 4 || input.dim() == 5) && input.dim() == grid.dim();
  check(dims,
      "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got "
        "input with sizes ", input.sizes(), " and grid with sizes ", grid.sizes());
  check(grid.size(-1) == input.dim() - 2, "grid_sampler(): expected grid to have size ",
      input.dim() - 2,
        " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d)
    check(input.size(d) > 0,
        "grid_sampler(): expected input to have non-empty spatial dimensions, but "
          "input has sizes ", input.sizes(), " with dimension ", d, " being empty");
  check(input.dtype() == grid.dtype(), "expected scalar type ", input.dtype(), " but found ",
        grid.dtype());
  if (!is_floating(input.dtype())) dtype_not_implemented("grid_sampler_2d_cpu_kernel_impl",
      input.dtype());
}

DType compute_of(DType d) { return d == DType::Double ? d : DType::Float; }

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                    int64_t padding_mode, bool align_corners) {
  check_inputs(input, grid);
  const Rule rule{interpolation_mode, padding_mode, align_corners};
  const Shapes s(input, grid);
  Dims sizes{s.n, s.c};
  for (int64_t d = 1; d < grid.dim() - 1; ++d) sizes.push_back(grid.size(d));
  const DType compute = compute_of(input.dtype());
  Tensor out = empty_tensor(sizes, compute, input.device());
  if (out.is_meta()) return empty_tensor(sizes, input.dtype(), input.device());
  if (out.numel() == 0) return to_dtype(out, input.dtype());
  const Tensor x = contiguous(to_dtype(input, compute));
  const Tensor g = contiguous(to_dtype(grid, compute));
  if (compute == DType::Double)
    sample(s, x.data<double>(), g.data<double>(), out.data<double>(), rule);
  else
    sample(s, x.data<float>(), g.data<float>(), out.data<float>(), rule);
  return to_dtype(out, input.dtype());
}

std::tuple<Tensor, Tensor> grid_sampler_backward(const Tensor& grad, const Tensor& input,
                                                 const Tensor& grid, int64_t interpolation_mode,
                                                 int64_t padding_mode, bool align_corners) {
  check_inputs(input, grid);
  check(grad.dim() == input.dim() && grad.size(0) == input.size(0) && grad.size(1) == input.size(1),
        "grid_sampler(): a gradient of sizes ", grad.sizes(), " for input of sizes ",
        input.sizes());
  for (int64_t d = 2; d < grad.dim(); ++d)
    check(grad.size(d) == grid.size(d - 1), "grid_sampler(): a gradient of sizes ", grad.sizes(),
          " for a grid of sizes ", grid.sizes());
  const Rule rule{interpolation_mode, padding_mode, align_corners};
  const Shapes s(input, grid);
  const DType compute = compute_of(input.dtype());
  Tensor dx = empty_tensor(input.sizes(), compute, input.device());
  Tensor dgrid = empty_tensor(grid.sizes(), compute, grid.device());
  if (!dx.is_meta()) {
    fill(dx, Scalar(int64_t(0)));
    const Tensor dy = contiguous(to_dtype(grad, compute));
    const Tensor x = contiguous(to_dtype(input, compute));
    const Tensor g = contiguous(to_dtype(grid, compute));
    if (compute == DType::Double)
      sample_backward(s, dy.data<double>(), x.data<double>(), g.data<double>(), dx.data<double>(),
                      dgrid.data<double>(), rule);
    else
      sample_backward(s, dy.data<float>(), x.data<float>(), g.data<float>(), dx.data<float>(),
                      dgrid.data<float>(), rule);
  }
  return {to_dtype(dx, input.dtype()), to_dtype(dgrid, grid.dtype())};
}

}  // namespace rl::native
