// Maximum and average pooling, and moving values to and from the positions of the maxima.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"
#include "ops/native/pool_shape.h"

namespace rl::native {
namespace {

// What the kernels compute in.
DType pool_type(DType d) {
  if (d == DType::Double) return d;
  return is_integral(d) ? DType::Int64 : DType::Float;
}

char* bytes(const Tensor& t) { return static_cast<char*>(t.data()); }

int64_t row_grain(const cpu::Pool& p) {
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  return 1 + 32768 / (p.out[2] * taps * (p.last ? p.channels : 1) + 1);
}

std::tuple<Tensor, Tensor> max_pool(const PoolArgs& a, const Tensor& self) {
  Dims sizes;
  cpu::Pool p = pool_shape(a, self.sizes(), false, sizes);
  const DType d = self.dtype();
  if (!is_integral(d) && !(is_floating(d) && !is_float8(d))) dtype_not_implemented(a.name, d);
  p.last = pool_channels_last(self, a.dims);
  Tensor index = pool_empty(sizes, DType::Int64, self.device(), p.last);
  if (self.is_meta()) return {pool_empty(sizes, d, self.device(), p.last), index};
  check(p.in[0] * p.in[1] * p.in[2] < (int64_t(1) << 31), a.name, ": planes of 2^31 elements or "
        "more are not supported");
  const DType compute = pool_type(d);
  const Tensor x = pool_dense(rl::to_dtype(self, compute), p.last);
  Tensor y = pool_empty(sizes, compute, self.device(), p.last);
  if (y.numel() > 0) {
    parallel_for(0, p.rows(), row_grain(p), [&](int64_t begin, int64_t end) {
      cpu::max_pool_rows(compute, p, x.data(), y.data(), index.data<int64_t>(), begin, end);
    });
  }
  return {rl::to_dtype(y, d), index};
}

Tensor avg_pool(const PoolArgs& a, const Tensor& self, bool count_include_pad,
                std::optional<int64_t> divisor) {
  check(!divisor || *divisor != 0, "divisor must be not zero");
  Dims sizes;
  cpu::Pool p = pool_shape(a, self.sizes(), true, sizes);
  const DType d = self.dtype();
  if (d != DType::Int64 && !(is_floating(d) && !is_float8(d))) dtype_not_implemented(a.name, d);
  p.count_padding = count_include_pad;
  p.divisor = divisor.value_or(0);
  p.last = a.dims == 2 && pool_channels_last(self, a.dims);
  Tensor y = pool_empty(sizes, pool_type(d), self.device(), p.last);
  if (!self.is_meta() && y.numel() > 0) {
    const Tensor x = pool_dense(rl::to_dtype(self, y.dtype()), p.last);
    parallel_for(0, p.rows(), row_grain(p), [&](int64_t begin, int64_t end) {
      cpu::avg_pool_rows(y.dtype(), p, x.data(), y.data(), begin, end);
    });
  }
  return rl::to_dtype(y, d);
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntRef kernel, IntRef stride,
                                                   IntRef padding, IntRef dilation, bool ceil) {
  return max_pool({"max_pool2d", 2, kernel, stride, padding, dilation, ceil}, self);
}
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, IntRef kernel, IntRef stride,
                                                   IntRef padding, IntRef dilation, bool ceil) {
  return max_pool({"max_pool3d", 3, kernel, stride, padding, dilation, ceil}, self);
}
Tensor avg_pool2d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, bool ceil,
                  bool count_include_pad, std::optional<int64_t> divisor) {
  return avg_pool({"avg_pool2d", 2, kernel, stride, padding, {}, ceil}, self, count_include_pad,
                  divisor);
}
Tensor avg_pool3d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, bool ceil,
                  bool count_include_pad, std::optional<int64_t> divisor) {
  return avg_pool({"avg_pool3d", 3, kernel, stride, padding, {}, ceil}, self, count_include_pad,
                  divisor);
}

Tensor _avg_pool_backward(const Tensor& grad, IntRef self_size, int64_t dims, IntRef kernel,
                          IntRef stride, IntRef padding, bool ceil, bool count_include_pad,
                          std::optional<int64_t> divisor) {
  Dims sizes;
  check(dims == 2 || dims == 3, "_avg_pool_backward: of ", dims, " dimensions");
  check(!divisor || *divisor != 0, "divisor must be not zero");
  const PoolArgs a{"avg_pool", int(dims), kernel, stride, padding, {}, ceil};
  cpu::Pool p = pool_shape(a, self_size, true, sizes);
  check(grad.sizes() == IntRef(sizes), "gradient of shape ", grad.sizes(), ", not ", sizes);
  p.count_padding = count_include_pad;
  p.divisor = divisor.value_or(0);
  p.last = dims == 2 && pool_channels_last(grad, int(dims));
  Tensor dx = pool_empty(self_size, opmath(grad.dtype()), grad.device(), p.last);
  if (!dx.is_meta() && dx.numel() > 0) {
    const Tensor g = pool_dense(rl::to_dtype(grad, dx.dtype()), p.last);
    const int64_t units = p.last ? p.batch : p.batch * p.channels;
    parallel_for(0, units, 1 + 32768 * units / dx.numel(), [&](int64_t begin, int64_t end) {
      cpu::avg_pool_backward(dx.dtype(), p, g.data(), dx.data(), begin, end);
    });
  }
  return rl::to_dtype(dx, grad.dtype());
}

// ---- values at positions of planes

namespace {

using PoolTypes = TypeList<float, double, half, bfloat16, int64_t>;

struct Planes {  // the last `spatial` dimensions are a plane
  int64_t planes = 1, channels = 1, values = 1, area = 1;
  bool last = false;
  Planes(IntRef small, IntRef large, int64_t spatial, bool last) : last(last) {
    const size_t lead = small.size() - size_t(spatial);
    for (size_t i = 0; i < small.size(); ++i) (i < lead ? planes : values) *= small[i];
    for (size_t i = lead; i < large.size(); ++i) area *= large[i];
    if (last) channels = small[1];
  }
  // f(element of the small tensor, base of its plane in the large one, step of positions there)
  template <class F>
  void each(F&& f) const {
    const int64_t images = planes / std::max<int64_t>(channels, 1);
    const int64_t grain = 1 + 32768 / (values * channels + 1);
    parallel_for(0, images, grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        for (int64_t v = 0; v < values; ++v)
          for (int64_t c = 0; c < channels; ++c)
            f((n * values + v) * channels + c, n * area * channels + c, channels);
    });
  }
};

template <class T>
void add_to(T& to, T value) {
  if constexpr (is_reduced(dtype_of<T>)) to = T(float(to) + float(value));
  else to += value;
}

}  // namespace

// Indices are positions in the planes of `large`.
static void check_positions(const Tensor& indices, IntRef large, int64_t spatial) {
  check(indices.dtype() == DType::Int64, "elements in indices should be type int64 but got: ",
        indices.dtype());
  const size_t rank = size_t(indices.dim());
  check(spatial >= 1 && spatial <= 3 && rank >= size_t(spatial) && rank == large.size(),
        "indices of shape ", indices.sizes(), " do not point into planes of ", large);
  int64_t area = 1;
  for (size_t d = 0; d < rank; ++d) {
    const bool lead = d < rank - size_t(spatial);
    check(!lead || indices.sizes()[d] == large[d], "indices of shape ", indices.sizes(),
          " do not point into planes of ", large);
    if (!lead) area *= large[d];
  }
  if (indices.is_meta()) return;
  const Tensor flat = contiguous_tensor(indices);
  const int64_t* p = flat.numel() ? flat.data<int64_t>() : nullptr;
  for (int64_t i = 0; i < flat.numel(); ++i)
    check(p[i] >= 0 && p[i] < area, "Found an invalid max index: ", p[i], " (planes of ", area,
          " elements)");
}

// zeros of `size` with every value added at its position.
Tensor _pool_scatter(const Tensor& self, const Tensor& indices, IntRef size, int64_t spatial) {
  check_positions(indices, size, spatial);
  check(self.sizes() == indices.sizes(), "values and indices of different shapes");
  const bool last = pool_channels_last(self, int(spatial)) && int64_t(size.size()) == spatial + 2;
  Tensor out = pool_empty(size, self.dtype(), self.device(), last);
  if (out.is_meta()) return out;
  zero_tensor(out);
  if (self.numel() == 0) return out;
  const Tensor x = pool_dense(self, last), at = pool_dense(indices, last);
  const Planes planes(self.sizes(), size, spatial, last);
  visit(PoolTypes{}, self.dtype(), "max_pool2d_backward", [&]<class T>() {
    planes.each([&](int64_t i, int64_t base, int64_t step) {
      add_to(out.data<T>()[base + at.data<int64_t>()[i] * step], x.data<T>()[i]);
    });
  });
  return out;
}

// The values of a large tensor at the positions of a small one.
Tensor _pool_gather(const Tensor& self, const Tensor& indices, int64_t spatial) {
  check_positions(indices, self.sizes(), spatial);
  const bool last = pool_channels_last(indices, int(spatial));
  Tensor out = pool_empty(indices.sizes(), self.dtype(), self.device(), last);
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor x = pool_dense(self, last), at = pool_dense(indices, last);
  const Planes planes(indices.sizes(), self.sizes(), spatial, last);
  visit(PoolTypes{}, self.dtype(), "max_pool2d_backward", [&]<class T>() {
    planes.each([&](int64_t i, int64_t base, int64_t step) {
      out.data<T>()[i] = x.data<T>()[base + at.data<int64_t>()[i] * step];
    });
  });
  return out;
}

// ---- unpooling

namespace {

Tensor unpool(const char* name, int64_t spatial, const Tensor& self, const Tensor& indices,
              const Dims& sizes) {
  const bool last = spatial == 2 && pool_channels_last(self, int(spatial));
  const DType d = self.dtype();
  if (d != DType::Float && d != DType::Double && d != DType::Half && d != DType::BFloat16)
    dtype_not_implemented(name, d);
  Tensor out = pool_empty(sizes, d, self.device(), last);
  if (out.is_meta()) return out;
  zero_tensor(out);
  if (self.numel() == 0) return out;
  const Tensor x = pool_dense(self, last), at = pool_dense(indices, last);
  const Planes planes(self.sizes(), sizes, spatial, last);
  const int64_t* p = at.data<int64_t>();
  for (int64_t i = 0; i < at.numel(); ++i) {
    if (p[i] >= 0 && p[i] < planes.area) continue;
    std::string volume;
    for (size_t k = sizes.size() - size_t(spatial); k < sizes.size(); ++k)
      volume += (volume.empty() ? "" : "x") + std::to_string(sizes[k]);
    fail("Found an invalid max index: ", p[i], " (output volumes are of size ", volume, ")");
  }
  visit(TypeList<float, double, half, bfloat16>{}, d, name, [&]<class T>() {
    planes.each([&](int64_t i, int64_t base, int64_t step) {
      out.data<T>()[base + p[i] * step] = x.data<T>()[i];
    });
  });
  return out;
}

void check_unpool(const Tensor& self, const Tensor& indices) {
  check(indices.dtype() == DType::Int64, "elements in indices should be type int64 but got: ",
        indices.dtype());
  check(self.sizes() == indices.sizes(),
        "Expected shape of indices to be same as that of the input "
        "tensor (",
        self.sizes(), ") but got indices tensor with shape: ", indices.sizes());
}

Dims unpooled_sizes(const Tensor& self, IntRef output_size) {
  Dims sizes(self.sizes().slice(0, size_t(self.dim()) - output_size.size()));
  for (int64_t s : output_size) sizes.push_back(s);
  return sizes;
}

}  // namespace

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntRef output_size) {
  check(output_size.size() == 2, "There should be exactly two elements (height, width) in "
        "output_size, but got ", output_size.size(), " elements.");
  check(self.dim() == 3 || self.dim() == 4, "Input to max_unpooling2d should be a 3d or 4d Tensor, "
        "but got a tensor with ", self.dim(), " dimensions.");
  check_unpool(self, indices);
  return unpool("max_unpool2d", 2, self, indices, unpooled_sizes(self, output_size));
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntRef output_size, IntRef stride,
                    IntRef padding) {
  check(output_size.size() == 3, "There should be exactly three elements (depth, height, width) in "
        "output_size, but got ", output_size.size(), " elements.");
  check(self.dim() == 4 || self.dim() == 5, "Input to max_unpooling3d should be a 4d or 5d Tensor, "
        "but got a tensor with ", self.dim(), " dimensions.");
  check(stride.size() == 3, "There should be exactly three elements (depth, height, width) in "
        "stride, but got: ", stride.size(), " elements.");
  for (int64_t s : stride)
    check(s > 0, "strides should be greater than zero, but got stride: ", stride);
  check(padding.size() == 3, "There should be exactly three elements (depth, height, width) in "
        "padding, but got: ", padding.size(), " elements.");
  check_unpool(self, indices);
  return unpool("max_unpool3d", 3, self, indices, unpooled_sizes(self, output_size));
}

}  // namespace rl::native
