// Fourier transforms over dimensions: complex to complex, real to half complex and back. Blocks of
// lines are gathered side by side, transformed by cpu::fft_columns and written out.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "base/parallel.h"
#include "kernels/cpu/fft.h"
#include "ops/native.h"

namespace rl::native {
namespace {

enum class Kind { Complex, ToComplex, ToReal };

constexpr int64_t kMaxBlock = 16;

DType real_of(DType d) {
  return d == DType::ComplexFloat || d == DType::Float ? DType::Float : DType::Double;
}
DType complex_of(DType d) {
  return real_of(d) == DType::Float ? DType::ComplexFloat : DType::ComplexDouble;
}

void check_fft_dtype(DType d) {
  check_implemented(d == DType::Float || d == DType::Double || d == DType::ComplexFloat ||
                        d == DType::ComplexDouble,
                    "Unsupported dtype ", d);
}

// New memory with the transformed dimensions innermost and the others in the order of the input.
Tensor empty_for_lines(const Tensor& like, Dims sizes, IntRef dims, DType dtype) {
  Dims order, strides(sizes.size(), 0);
  for (int64_t d = 0; d < like.dim(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return like.strides()[size_t(a)] > like.strides()[size_t(b)];
  });
  for (int64_t d : dims) order.push_back(d);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[size_t(order[i])] = stride;
    stride *= std::max<int64_t>(sizes[size_t(order[i])], 1);
  }
  return empty_strided_tensor(sizes, strides, dtype, like.device());
}

// The lines of two tensors along a dimension.
struct Lines {
  Dims sizes, in_strides, out_strides;
  int64_t count = 1;
  Lines(const Tensor& in, const Tensor& out, int64_t dim) {
    Dims order;
    for (int64_t d = 0; d < in.dim(); ++d)
      if (d != dim) order.push_back(d);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return out.strides()[size_t(a)] > out.strides()[size_t(b)];
    });
    for (int64_t d : order) {
      sizes.push_back(in.sizes()[size_t(d)]);
      in_strides.push_back(in.strides()[size_t(d)]);
      out_strides.push_back(out.strides()[size_t(d)]);
      count *= in.sizes()[size_t(d)];
    }
  }
  void offsets(int64_t line, int64_t& in, int64_t& out) const {
    in = out = 0;
    for (size_t i = sizes.size(); i-- > 0; line /= sizes[i]) {
      in += line % sizes[i] * in_strides[i];
      out += line % sizes[i] * out_strides[i];
    }
  }
};

// f(j, l) for all elements j < n of all lines l < w, a few elements of a line at a time: lines that
// lie a power of two apart fall on the same places of the cache.
template <class F>
inline void by_tiles(int64_t n, int64_t w, F&& f) {
  constexpr int64_t kTile = 16;
  for (int64_t first = 0; first < n; first += kTile)
    for (int64_t l = 0; l < w; ++l)
      for (int64_t j = first; j < std::min(n, first + kTile); ++j) f(j, l);
}

template <class R>
struct Block {
  std::vector<R> memory;
  void* buffers[4];
  int64_t lines = 0, in[kMaxBlock], out[kMaxBlock];
  Block(int64_t rows, int64_t width) : memory(size_t(4 * rows * width)) {
    for (int i = 0; i < 4; ++i) buffers[i] = memory.data() + i * rows * width;
  }
  R* re() { return static_cast<R*>(buffers[0]); }
  R* im() { return static_cast<R*>(buffers[1]); }
};

template <class R>
struct Transform {
  using C = std::complex<R>;
  Kind kind;
  bool forward;
  R scale;
  int64_t n;               // length in the real or complex domain
  bool halved;             // a real transform of even length, by a complex one of half the length
  int64_t in_size, out_size, in_stride, out_stride;
  std::shared_ptr<const FftPlan> plan;

  void gather(const void* from, Block<R>& b) const {
    const int64_t w = b.lines;
    R *re = b.re(), *im = b.im();
    if (kind == Kind::Complex) {
      auto* x = static_cast<const C*>(from);
      if (!forward) std::swap(re, im);
      by_tiles(n, w, [&](int64_t j, int64_t l) {
        const C v = x[b.in[l] + j * in_stride];
        re[j * w + l] = v.real();
        im[j * w + l] = v.imag();
      });
    } else if (kind == Kind::ToComplex) {
      gather_real(static_cast<const R*>(from), b);
    } else {
      gather_half(static_cast<const C*>(from), b);
    }
  }

  void gather_real(const R* x, Block<R>& b) const {
    const int64_t w = b.lines, step = halved ? 2 : 1;
    R *re = b.re(), *im = b.im();
    by_tiles(n / step, w, [&](int64_t j, int64_t l) {
      const R* p = x + b.in[l] + j * step * in_stride;
      re[j * w + l] = *p;
      im[j * w + l] = halved ? p[in_stride] : R(0);
    });
  }

  // An inverse transform, hence the parts exchanged. X_0 and X_{n/2} count as real.
  void gather_half(const C* x, Block<R>& b) const {
    const int64_t w = b.lines, m = n / 2;
    R *re = b.im(), *im = b.re();
    auto at = [&](int64_t l, int64_t k) {
      const C v = x[b.in[l] + k * in_stride];
      return k == 0 || 2 * k == n ? C(v.real(), 0) : v;
    };
    if (!halved) {
      by_tiles(n, w, [&](int64_t k, int64_t l) {
        const C v = 2 * k <= n ? at(l, k) : std::conj(at(l, n - k));
        re[k * w + l] = v.real();
        im[k * w + l] = v.imag();
      });
      return;
    }
    const R* hr = plan->half.template data<R>();
    const R* hi = hr + plan->half.imag;
    by_tiles(m, w, [&](int64_t k, int64_t l) {
        const C a = at(l, k), c = std::conj(at(l, m - k)), s = a + c, d = a - c;
        // s + i exp(+2 pi i k / n) d
        const R tr = hr[k] * d.real() + hi[k] * d.imag(), ti = hr[k] * d.imag() - hi[k] * d.real();
        re[k * w + l] = s.real() - ti;
        im[k * w + l] = s.imag() + tr;
    });
  }

  void scatter(void* to, Block<R>& b) const {
    const int64_t w = b.lines;
    R *re = b.re(), *im = b.im();
    if (kind == Kind::ToReal) {
      std::swap(re, im);
      auto* y = static_cast<R*>(to);
      by_tiles(halved ? n / 2 : n, w, [&](int64_t j, int64_t l) {
        R* p = y + b.out[l] + j * (halved ? 2 : 1) * out_stride;
        *p = re[j * w + l] * scale;
        if (halved) p[out_stride] = im[j * w + l] * scale;
      });
      return;
    }
    auto* y = static_cast<C*>(to);
    if (kind == Kind::ToComplex && halved) return scatter_half(y, b);
    if (kind == Kind::Complex && !forward) std::swap(re, im);
    by_tiles(out_size, w, [&](int64_t j, int64_t l) {
        const R i = kind == Kind::ToComplex && !forward ? -im[j * w + l] : im[j * w + l];
        y[b.out[l] + j * out_stride] = C(re[j * w + l] * scale, i * scale);
    });
  }

  // Even and odd elements were transformed together. Rows behind the middle mirror those before.
  void scatter_half(C* y, Block<R>& b) const {
    const int64_t w = b.lines, m = n / 2;
    const R *re = b.re(), *im = b.im();
    cpu::fft_join_halves(sizeof(R) == 4 ? DType::Float : DType::Double, plan->half, b.re(), b.im(),
                         m, w);
    const R sign = forward ? scale : -scale;
    by_tiles(std::min(out_size, m + 1), w, [&](int64_t k, int64_t l) {
      y[b.out[l] + k * out_stride] = C(re[k * w + l] * scale, im[k * w + l] * sign);
    });
    by_tiles(out_size - std::min(out_size, m + 1), w, [&](int64_t i, int64_t l) {
      const int64_t k = m + 1 + i, from = (n - k) * w + l;
      y[b.out[l] + k * out_stride] = C(re[from] * scale, -im[from] * sign);
    });
  }
};

template <class R>
void transform_dim(Kind kind, const Tensor& in, const Tensor& out, int64_t dim, int64_t n,
                   bool forward, double scale) {
  Transform<R> t;
  t.kind = kind;
  t.forward = forward;
  t.scale = R(scale);
  t.n = n;
  t.halved = kind != Kind::Complex && n % 2 == 0;
  t.in_size = in.sizes()[size_t(dim)];
  t.out_size = out.sizes()[size_t(dim)];
  t.in_stride = in.strides()[size_t(dim)];
  t.out_stride = out.strides()[size_t(dim)];
  t.plan = fft_plan(t.halved ? n / 2 : n, sizeof(R) == 4 ? DType::Float : DType::Double);
  const Lines lines(in, out, dim);
  const int64_t rows = t.plan->extent();
  const int64_t fit = std::max<int64_t>(1, int64_t(131072 / (sizeof(R) * size_t(rows))));
  const int64_t width = std::min({kMaxBlock, fit, std::max<int64_t>(lines.count, 1)});
  const int64_t blocks = (lines.count + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, 32768 / (width * rows * 4));
  parallel_for(0, blocks, grain, [&](int64_t first, int64_t last) {
    Block<R> b(rows + 1, width);  // one more row for the middle of a half transform
    for (int64_t i = first; i < last; ++i) {
      b.lines = std::min(width, lines.count - i * width);
      for (int64_t l = 0; l < b.lines; ++l) lines.offsets(i * width + l, b.in[l], b.out[l]);
      t.gather(in.data(), b);
      cpu::fft_columns(sizeof(R) == 4 ? DType::Float : DType::Double, *t.plan, b.buffers, b.lines);
      t.scatter(out.data(), b);
    }
  });
}

void transform(Kind kind, const Tensor& in, const Tensor& out, int64_t dim, int64_t n, bool forward,
               double scale) {
  if (out.numel() == 0) return;
  if (real_of(in.dtype()) == DType::Float)
    transform_dim<float>(kind, in, out, dim, n, forward, scale);
  else
    transform_dim<double>(kind, in, out, dim, n, forward, scale);
}

// normalization: 0 none, 1 by the root of the number of points, 2 by the number
double scale_of(int64_t normalization, double points) {
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(points) : 1 / points;
}

double points_of(IntRef sizes, IntRef dims) {
  double points = 1;
  for (int64_t d : dims) points *= double(sizes[size_t(d)]);
  return points;
}

// Complex transforms in place over dims.
void transform_all(const Tensor& x, IntRef dims, bool forward, double scale) {
  for (size_t i = dims.size(); i-- > 0;)
    transform(Kind::Complex, x, x, dims[i], x.sizes()[size_t(dims[i])], forward,
              i == 0 ? scale : 1);
}

Dims wrapped(IntRef dims, int64_t ndim) {
  check(ndim > 0 && !dims.empty(), "FFT: expected at least one dimension to transform");
  Dims out;
  for (int64_t d : dims) out.push_back(wrap_dim(d, ndim));
  return out;
}

}  // namespace

Tensor _fft_c2c(const Tensor& self, IntRef dim, int64_t normalization, bool forward) {
  check_fft_dtype(self.dtype());
  const Dims dims = wrapped(dim, self.dim());
  Tensor out = empty_for_lines(self, Dims(self.sizes()), dims, complex_of(self.dtype()));
  if (out.is_meta()) return out;
  copy_into(out, self);
  transform_all(out, dims, forward, scale_of(normalization, points_of(self.sizes(), dims)));
  return out;
}

Tensor _fft_r2c(const Tensor& self, IntRef dim, int64_t normalization, bool onesided,
    bool forward) {
  check_fft_dtype(self.dtype());
  const Dims dims = wrapped(dim, self.dim());
  const int64_t last = dims.back(), n = self.sizes()[size_t(last)];
  Dims sizes(self.sizes());
  if (onesided) sizes[size_t(last)] = n / 2 + 1;
  Tensor out = empty_for_lines(self, sizes, dims, complex_of(self.dtype()));
  if (out.is_meta()) return out;
  const double scale = scale_of(normalization, points_of(self.sizes(), dims));
  const bool single = dims.size() == 1;
  transform(Kind::ToComplex, self, out, last, n, forward, single ? scale : 1);
  if (!single) transform_all(out, IntRef(dims.data(), dims.size() - 1), forward, scale);
  return out;
}

Tensor _fft_c2r(const Tensor& self, IntRef dim, int64_t normalization, int64_t last_dim_size) {
  check_fft_dtype(self.dtype());
  const Dims dims = wrapped(dim, self.dim());
  const int64_t last = dims.back();
  check(last_dim_size >= 1, "Invalid number of data points (", last_dim_size, ") specified");
  check(self.sizes()[size_t(last)] > last_dim_size / 2, "FFT: ", last_dim_size, " points need ",
        last_dim_size / 2 + 1, " coefficients, got ", self.sizes()[size_t(last)]);
  Dims sizes(self.sizes());
  sizes[size_t(last)] = last_dim_size;
  Tensor out = empty_for_lines(self, sizes, dims, real_of(self.dtype()));
  if (out.is_meta()) return out;
  Tensor x = self;
  if (dims.size() > 1) {
    x = empty_for_lines(self, Dims(self.sizes()), dims, self.dtype());
    copy_into(x, self);
    transform_all(x, IntRef(dims.data(), dims.size() - 1), false, 1);
  }
  transform(Kind::ToReal, x, out, last, last_dim_size, false,
            scale_of(normalization, points_of(sizes, dims)));
  return out;
}

}  // namespace rl::native
