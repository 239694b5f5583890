// Adaptive pooling (windows that divide the input into a given number of parts) and fractional
// maximum pooling (Graham 2014: window positions from random samples).
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"
#include "ops/native/pool_shape.h"

namespace rl::native {
namespace {

// Window of output o of n over `size` inputs.
int64_t begin_of(int64_t o, int64_t n, int64_t size) { return o * size / n; }
int64_t end_of(int64_t o, int64_t n, int64_t size) { return ((o + 1) * size + n - 1) / n; }

struct Shape {
  int64_t units = 1, channels = 1;  // planes; with channels last, images of `channels` planes
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  bool last = false;
  int64_t area() const { return in[0] * in[1] * in[2]; }
  int64_t values() const { return out[0] * out[1] * out[2]; }
};

Shape shape_of(IntRef sizes, IntRef output, bool last) {
  Shape s;
  const size_t n = output.size(), lead = sizes.size() - n;
  for (size_t i = 0; i < lead; ++i) s.units *= sizes[i];
  for (size_t i = 0; i < n; ++i) s.in[3 - n + i] = sizes[lead + i], s.out[3 - n + i] = output[i];
  s.last = last;
  if (last) s.channels = sizes[1], s.units = sizes[0];
  return s;
}

// f(first input element of the unit, output element, window) for every window.
struct Window {
  int64_t begin[3], end[3];
  int64_t count() const {
    return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
};
template <class F>
void for_windows(const Shape& s, F&& f) {
  const int64_t grain = 1 + 32768 / (s.area() * s.channels + 1);
  parallel_for(0, s.units, grain, [&](int64_t from, int64_t to) {
    for (int64_t u = from; u < to; ++u) {
      int64_t o[3], v = 0;
      for (o[0] = 0; o[0] < s.out[0]; ++o[0])
        for (o[1] = 0; o[1] < s.out[1]; ++o[1])
          for (o[2] = 0; o[2] < s.out[2]; ++o[2], ++v) {
            Window w;
            for (int d = 0; d < 3; ++d) {
              w.begin[d] = begin_of(o[d], s.out[d], s.in[d]);
              w.end[d] = end_of(o[d], s.out[d], s.in[d]);
            }
            f(u * s.area() * s.channels, (u * s.values() + v) * s.channels, w);
          }
    }
  });
}
template <class F>
void for_positions(const Shape& s, const Window& w, F&& f) {
  for (int64_t z = w.begin[0]; z < w.end[0]; ++z)
    for (int64_t y = w.begin[1]; y < w.end[1]; ++y)
      for (int64_t x = w.begin[2]; x < w.end[2]; ++x) f((z * s.in[1] + y) * s.in[2] + x);
}

void check_adaptive(const char* name, const Tensor& self, size_t dims, const char* colon) {
  check(self.dim() == int64_t(dims) + 1 || self.dim() == int64_t(dims) + 2, name, "(): Expected ",
        dims + 1, "D or ", dims + 2, "D tensor, but got", colon, " ", self.sizes());
  for (int64_t d = self.dim() - int64_t(dims); d < self.dim(); ++d)
    check(self.size(d) > 0, name, "(): Expected input to have non-zero size for non-batch "
          "dimensions, but input has sizes ", self.sizes(), " with dimension ", d, " being empty");
}

Dims adaptive_sizes(const Tensor& self, IntRef output) {
  Dims sizes(self.sizes().slice(0, size_t(self.dim()) - output.size()));
  for (int64_t s : output) sizes.push_back(s);
  return sizes;
}

bool is_pool_float(DType d) { return is_floating(d) && !is_float8(d); }

Tensor adaptive_avg(const char* name, const char* kernel, const Tensor& self, IntRef output,
                    size_t dims, bool allow_last) {
  check(output.size() == dims, name, ": output_size must be ", dims);
  check_adaptive(name, self, dims, "");
  const Dims sizes = adaptive_sizes(self, output);
  const DType d = self.dtype();
  if (!is_pool_float(d)) dtype_not_implemented(kernel, d);
  const bool last = allow_last && pool_channels_last(self, int(output.size()));
  Tensor y = pool_empty(sizes, opmath(d), self.device(), last);
  if (!self.is_meta() && y.numel() > 0) {
    const Tensor x = pool_dense(rl::to_dtype(self, opmath(d)), last);
    const Shape s = shape_of(self.sizes(), output, last);
    visit(RealFloatTypes{}, opmath(d), kernel, [&]<class T>() {
      for_windows(s, [&](int64_t base, int64_t out, const Window& w) {
        T* sum = y.data<T>() + out;
        std::fill(sum, sum + s.channels, T(0));
        for_positions(s, w, [&](int64_t p) {
          const T* from = x.data<T>() + base + p * s.channels;
          for (int64_t c = 0; c < s.channels; ++c) sum[c] += from[c];
        });
        for (int64_t c = 0; c < s.channels; ++c) sum[c] /= T(w.count());
      });
    });
  }
  return rl::to_dtype(y, d);
}

std::tuple<Tensor, Tensor> adaptive_max(const char* name, const char* kernel, const Tensor& self,
                                        IntRef output, size_t dims) {
  check_adaptive(name, self, dims, ":");
  check(output.size() == dims, name, "(): internal error: output_size.size() must be ", dims);
  const Dims sizes = adaptive_sizes(self, output);
  const DType d = self.dtype();
  numel_of(sizes);
  if (!is_pool_float(d)) dtype_not_implemented(kernel, d);
  const bool last = dims == 2 && pool_channels_last(self, int(dims));
  Tensor y = pool_empty(sizes, opmath(d), self.device(), last);
  Tensor index = pool_empty(sizes, DType::Int64, self.device(), last);
  if (!self.is_meta() && y.numel() > 0) {
    const Tensor x = pool_dense(rl::to_dtype(self, opmath(d)), last);
    const Shape s = shape_of(self.sizes(), output, last);
    visit(RealFloatTypes{}, opmath(d), kernel, [&]<class T>() {
      for_windows(s, [&](int64_t base, int64_t out, const Window& w) {
        T* best = y.data<T>() + out;
        int64_t* at = index.data<int64_t>() + out;
        std::fill(at, at + s.channels, -1);
        for_positions(s, w, [&](int64_t p) {
          const T* from = x.data<T>() + base + p * s.channels;
          for (int64_t c = 0; c < s.channels; ++c) {
            if (at[c] >= 0 && !(from[c] > best[c]) && !std::isnan(from[c])) continue;
            best[c] = from[c], at[c] = p;
          }
        });
      });
    });
  }
  return {rl::to_dtype(y, d), index};
}

}  // namespace

Tensor _adaptive_avg_pool2d(const Tensor& self, IntRef output_size) {
  return adaptive_avg("adaptive_avg_pool2d", "adaptive_avg_pool2d", self, output_size, 2, true);
}
Tensor _adaptive_avg_pool3d(const Tensor& self, IntRef output_size) {
  return adaptive_avg("adaptive_avg_pool3d", "adaptive_avg_pool3d_cpu", self, output_size, 3,
                      false);
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, IntRef output_size) {
  return adaptive_max("adaptive_max_pool2d", "adaptive_max_pool2d", self, output_size, 2);
}
std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, IntRef output_size) {
  return adaptive_max("adaptive_max_pool3d", "adaptive_max_pool3d_cpu", self, output_size, 3);
}

Tensor _adaptive_avg_backward(const Tensor& grad, IntRef self_size, int64_t dims) {
  check(dims >= 1 && dims <= 3 && grad.dim() >= dims && grad.dim() == int64_t(self_size.size()),
        "_adaptive_avg_backward: ", dims, " dimensions of ", self_size);
  for (size_t d = 0; d < size_t(grad.dim() - dims); ++d)
    check(grad.sizes()[d] == self_size[d], "_adaptive_avg_backward: other batches or channels");
  const bool last = dims == 2 && pool_channels_last(grad, int(dims));
  Tensor dx = pool_empty(self_size, opmath(grad.dtype()), grad.device(), last);
  if (dx.is_meta() || dx.numel() == 0) return rl::to_dtype(dx, grad.dtype());
  zero_tensor(dx);
  const Tensor g = pool_dense(rl::to_dtype(grad, dx.dtype()), last);
  const Shape s = shape_of(self_size, grad.sizes().slice(size_t(grad.dim() - dims)), last);
  visit(RealFloatTypes{}, dx.dtype(), "adaptive_avg_pool2d_backward", [&]<class T>() {
    for_windows(s, [&](int64_t base, int64_t out, const Window& w) {
      const T* from = g.data<T>() + out;
      const T scale = T(1) / T(w.count());
      for_positions(s, w, [&](int64_t p) {
        T* to = dx.data<T>() + base + p * s.channels;
        for (int64_t c = 0; c < s.channels; ++c) to[c] += from[c] * scale;
      });
    });
  });
  return rl::to_dtype(dx, grad.dtype());
}

// ---- fractional

namespace {

constexpr const char* kSides[] = {"time", "height", "width"};

int64_t fractional_begin(double sample, int64_t o, int64_t in, int64_t out, int64_t kernel) {
  if (o == out - 1) return in - kernel;
  const double step = double(in - kernel) / double(out - 1);
  return int64_t((double(o) + sample) * step) - int64_t(sample * step);
}

struct Fractional {
  Shape shape;
  int64_t kernel[3] = {1, 1, 1};
  int dims;
};

// The windows of one plane; samples are (W, H) in two dimensions and (T, H, W) in three.
template <class T>
void fractional_plane(const Fractional& f, const T* x, const double* samples, T* y,
                      int64_t* index) {
  const Shape& s = f.shape;
  int64_t o[3], v = 0;
  for (o[0] = 0; o[0] < s.out[0]; ++o[0])
    for (o[1] = 0; o[1] < s.out[1]; ++o[1])
      for (o[2] = 0; o[2] < s.out[2]; ++o[2], ++v) {
        Window w;
        for (int d = 0; d < 3; ++d) {
          const double sample = f.dims == 3 ? samples[d] : d == 0 ? 0 : samples[2 - d];
          w.begin[d] = fractional_begin(sample, o[d], s.in[d], s.out[d], f.kernel[d]);
          w.end[d] = w.begin[d] + f.kernel[d];
        }
        int64_t at = -1;
        for_positions(s, w, [&](int64_t p) {
          if (at < 0 || x[p] > x[at] || std::isnan(x[p])) at = p;
        });
        y[v] = x[at], index[v] = at;
      }
}

std::tuple<Tensor, Tensor> fractional(const char* name, int dims, const Tensor& self, IntRef kernel,
                                      IntRef output, const Tensor& samples) {
  check(int(kernel.size()) == dims, name,
        ": kernel_size must either be a single Int or tuple of Ints");
  check(int(output.size()) == dims, name,
        ": output_size must either be a single Int or tuple of Ints");
  check(self.dim() == dims + 1 || self.dim() == dims + 2, name, "(): Expected ", dims + 1, "D or ",
        dims + 2, "D tensor, but got: ", self.sizes());
  Fractional f;
  f.dims = dims;
  f.shape = shape_of(self.sizes(), output, false);
  for (int i = 0; i < dims; ++i) {
    const int d = 3 - dims + i;
    f.kernel[d] = kernel[size_t(i)];
    check(kernel[size_t(i)] > 0 && output[size_t(i)] > 0, name,
          "(): kernel_size and output_size must be positive, but got ", kernel, " and ", output);
    check(kernel[size_t(i)] <= f.shape.in[d] && output[size_t(i)] <= f.shape.in[d] &&
          output[size_t(i)] + kernel[size_t(i)] - 1 <= f.shape.in[d], name, "(): pool ", kSides[d],
          " ", kernel[size_t(i)], " too large relative to input ", kSides[d], " ", f.shape.in[d]);
  }
  const DType d = self.dtype();
  if (!is_pool_float(d)) dtype_not_implemented(name, d);
  const Dims sizes = adaptive_sizes(self, output);
  Tensor y = empty_tensor(sizes, opmath(d), self.device());
  Tensor index = empty_tensor(sizes, DType::Int64, self.device());
  if (!self.is_meta() && y.numel() > 0) {
    const Tensor x = contiguous_tensor(rl::to_dtype(self, opmath(d)));
    const Tensor random = contiguous_tensor(rl::to_dtype(samples, DType::Double));
    const Shape& s = f.shape;
    check(random.numel() >= s.units * dims, name, ": Expect _random_samples to have ", dims,
          " values for each plane");
    visit(RealFloatTypes{}, opmath(d), name, [&]<class T>() {
      for (int64_t u = 0; u < s.units; ++u)
        fractional_plane(f, x.data<T>() + u * s.area(), random.data<double>() + u * dims,
                         y.data<T>() + u * s.values(), index.data<int64_t>() + u * s.values());
    });
  }
  return {rl::to_dtype(y, d), index};
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntRef kernel, IntRef output,
                                                 const Tensor& samples) {
  return fractional("fractional_max_pool2d", 2, self, kernel, output, samples);
}
std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntRef kernel, IntRef output,
                                                 const Tensor& samples) {
  return fractional("fractional_max_pool3d", 3, self, kernel, output, samples);
}

}  // namespace rl::native
