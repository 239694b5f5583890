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
  R weight[4], slope[4], curve[4] = {};  // and the derivatives of the weight by the coordinate
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

// Keys' kernel with a = -0.75, and its derivatives.
template <class R> void cubic(R t, R* w, R* s, R* c) {
  const R a = R(-0.75), x[4] = {t + 1, t, 1 - t, 2 - t};
  for (int k = 0; k < 4; ++k) {
    const R y = x[k], sign = k < 2 ? R(1) : R(-1);
    if (k == 1 || k == 2) {
      w[k] = ((a + 2) * y - (a + 3)) * y * y + 1;
      s[k] = sign * (3 * (a + 2) * y - 2 * (a + 3)) * y;
      c[k] = 6 * (a + 2) * y - 2 * (a + 3);
    } else {
      w[k] = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a;
      s[k] = sign * ((3 * a * y - 10 * a) * y + 8 * a);
      c[k] = 6 * a * y - 10 * a;
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
    cubic(x - low, r.weight, r.slope, r.curve);
    for (int k = 0; k < 4; ++k) {
      R unused = 1;
      r.at[k] = inside(double(padded(low + R(k - 1), size, rule, unused)), size);
      r.slope[k] *= slope;
      r.curve[k] *= slope * slope;
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

// The first and second derivatives of a tap's weight by the coordinates: slopes contracted with v,
// and for each coordinate e the sum over d of v[d] d2w / dx_d dx_e.
template <class R> struct Bend {
  R weight, along;
  R slopes[3], curves[3];
};

template <class R>
Bend<R> bend_of(const Axis<R>* a, const int* tap, int64_t dims, const R* v) {
  Bend<R> b{1, 0, {}, {}};
  for (int64_t d = 0; d < dims; ++d) b.weight *= a[d].weight[tap[d]];
  for (int64_t d = 0; d < dims; ++d) {
    b.slopes[d] = a[d].slope[tap[d]];
    for (int64_t e = 0; e < dims; ++e)
      if (e != d) b.slopes[d] *= a[e].weight[tap[e]];
    b.along += v[d] * b.slopes[d];
    for (int64_t e = 0; e < dims; ++e) {
      R c = d == e ? a[d].curve[tap[d]] : a[d].slope[tap[d]] * a[e].slope[tap[e]];
      for (int64_t f = 0; f < dims; ++f)
        if (f != d && f != e) c *= a[f].weight[tap[f]];
      b.curves[e] += v[d] * c;
    }
  }
  return b;
}

// Calls f(offset, bend) for the taps of a point that lie inside.
template <class R, class F>
void for_bends(const Axis<R>* a, const Shapes& s, const R* v, F&& f) {
  int tap[3] = {0, 0, 0};
  const int depth = s.dims == 3 ? a[2].taps : 1;
  for (tap[2] = 0; tap[2] < depth; ++tap[2])
    for (tap[1] = 0; tap[1] < a[1].taps; ++tap[1])
      for (tap[0] = 0; tap[0] < a[0].taps; ++tap[0]) {
        int64_t offset = 0;
        bool inside_all = true;
        for (int64_t d = 0; d < s.dims; ++d) {
          inside_all &= a[d].at[tap[d]] >= 0;
          offset += a[d].at[tap[d]] * s.strides[d];
        }
        if (inside_all) f(offset, bend_of(a, tap, s.dims, v));
      }
}

// The derivatives of <u, dx> + <v, dgrid> by dy, x and grid.
template <class R> struct Second {
  const R *u, *v, *dy, *x, *grid;
  R *of_dy, *of_x, *of_grid;

  void run(const Shapes& s, const Rule& rule, int64_t i) const {
    Axis<R> a[3];
    point_axes(s, grid + i * s.dims, rule, a);
    const int64_t image = i / s.points, point = image * s.c * s.points + i % s.points;
    for_bends(a, s, v + i * s.dims, [&](int64_t offset, const Bend<R>& b) {
      const int64_t at = image * s.c * s.volume + offset;
      R with_u = 0, with_x = 0;
      for (int64_t c = 0; c < s.c; ++c) {
        const R g = dy[point + c * s.points];
        const int64_t here = at + c * s.volume;
        with_u += g * u[here];
        with_x += g * x[here];
        of_dy[point + c * s.points] += b.weight * u[here] + b.along * x[here];
        of_x[here] += b.along * g;
      }
      for (int64_t e = 0; e < s.dims; ++e)
        of_grid[i * s.dims + e] += b.slopes[e] * with_u + b.curves[e] * with_x;
    });
  }
};

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

static void check_gradient(const Tensor& grad, const Tensor& input, const Tensor& grid) {
  check(grad.dim() == input.dim() && grad.size(0) == input.size(0) && grad.size(1) == input.size(1),
        "grid_sampler(): a gradient of sizes ", grad.sizes(), " for input of sizes ",
        input.sizes());
  for (int64_t d = 2; d < grad.dim(); ++d)
    check(grad.size(d) == grid.size(d - 1), "grid_sampler(): a gradient of sizes ", grad.sizes(),
          " for a grid of sizes ", grid.sizes());
}

std::tuple<Tensor, Tensor> grid_sampler_backward(const Tensor& grad, const Tensor& input,
                                                 const Tensor& grid, int64_t interpolation_mode,
                                                 int64_t padding_mode, bool align_corners) {
  check_inputs(input, grid);
  check_gradient(grad, input, grid);
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

std::tuple<Tensor, Tensor, Tensor> grid_sampler_double_backward(
    const Tensor& grad_input, const Tensor& grad_grid, const Tensor& grad, const Tensor& input,
    const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  check_inputs(input, grid);
  check_gradient(grad, input, grid);
  check(grad_input.sizes() == input.sizes() && grad_grid.sizes() == grid.sizes(),
        "grid_sampler(): gradients of sizes ", grad_input.sizes(), " and ", grad_grid.sizes(),
        " for input of sizes ", input.sizes(), " and a grid of sizes ", grid.sizes());
  const Rule rule{interpolation_mode, padding_mode, align_corners};
  const Shapes s(input, grid);
  const DType compute = compute_of(input.dtype());
  Tensor of_dy = empty_tensor(grad.sizes(), compute, input.device());
  Tensor of_x = empty_tensor(input.sizes(), compute, input.device());
  Tensor of_grid = empty_tensor(grid.sizes(), compute, input.device());
  if (!of_dy.is_meta()) {
    for (const Tensor* t : {&of_dy, &of_x, &of_grid}) fill(*t, Scalar(int64_t(0)));
    const auto ready = [&](const Tensor& t) { return contiguous(to_dtype(t, compute)); };
    const Tensor u = ready(grad_input), v = ready(grad_grid), dy = ready(grad), x = ready(input),
                 g = ready(grid);
    visit(RealFloatTypes{}, compute, "grid_sampler_double_backward", [&]<class R>() {
      const Second<R> second{u.data<R>(), v.data<R>(), dy.data<R>(), x.data<R>(), g.data<R>(),
                             of_dy.data<R>(), of_x.data<R>(), of_grid.data<R>()};
      parallel_for(0, s.n, 1, [&](int64_t b, int64_t e) {
        for (int64_t i = b * s.points; i < e * s.points; ++i) second.run(s, rule, i);
      });
    });
  }
  return {to_dtype(of_dy, grad.dtype()), to_dtype(of_x, input.dtype()),
          to_dtype(of_grid, grid.dtype())};
}

}  // namespace rl::native
