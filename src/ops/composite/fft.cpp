// The functions of torch.fft: defaults, checks, sizes and norms; the work is in native/fft.cpp.
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/fft.h"
#include "gen/ops/pad.h"
#include "gen/ops/views.h"

namespace rl::composite {

namespace {

using Norm = std::optional<std::string_view>;
using Sizes = std::optional<IntRef>;

// 0: no scale, 1: by the root of the number of points, 2: by the number.
int64_t normalization(Norm norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? 0 : 2;
  if (*norm == "forward") return forward ? 2 : 0;
  check(*norm == "ortho", "Invalid normalization mode: \"", *norm, "\"");
  return 1;
}

DType floating(DType d) { return is_integral(d, true) ? default_dtype() : d; }

Tensor as_complex(const Tensor& x) {
  DType d = floating(x.dtype());
  check_implemented(d == DType::Float || d == DType::Double || is_complex(d),
      "Unsupported dtype ", d);
  if (!is_complex(d)) d = d == DType::Double ? DType::ComplexDouble : DType::ComplexFloat;
  return rl::to(x, d, false, false, std::nullopt);
}

Tensor as_real(const Tensor& x, const char* name, const char* words
    = " expects a real input tensor") {
  check_type(!is_complex(x.dtype()), name, words, ", but got ", x.dtype());
  return rl::to(x, floating(x.dtype()), false, false, std::nullopt);
}

int64_t wrapped(const Tensor& x, int64_t dim) {
  check_index(x.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, x.dim());
}

// x cut or filled with zeros at the ends of dimensions.
Tensor resized(Tensor x, IntRef dims, IntRef sizes) {
  Dims pad(size_t(2 * x.dim()), 0);
  bool needs_pad = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = dims[i], n = x.size(d);
    check(sizes[i] > 0, "Invalid number of data points (", sizes[i], ") specified");
    if (sizes[i] < n) x = rl::slice(x, d, 0, sizes[i], 1);
    if (sizes[i] > n) {
      pad[size_t(2 * (x.dim() - d)) - 1] = sizes[i] - n;
      needs_pad = true;
    }
  }
  return needs_pad ? rl::constant_pad_nd(x, pad, Scalar(int64_t(0))) : x;
}

Tensor resized(const Tensor& x, int64_t dim, int64_t n) {
  return resized(x, IntRef(&dim, 1), IntRef(&n, 1));
}

struct Shape {
  Dims dims, sizes;
};

Shape shape_of(const Tensor& x, Sizes s, Sizes dim) {
  Shape r;
  if (dim) {
    for (int64_t d : *dim) {
      const int64_t w = wrapped(x, d);
      for (int64_t other : r.dims) check(other != w, "FFT dims must be unique");
      r.dims.push_back(w);
    }
    check(!s || s->size() == dim->size(),
        "When given, dim and shape arguments must have the same length");
  } else {
    const int64_t count = s ? int64_t(s->size()) : x.dim();
    check(count <= x.dim(), "Got shape with ", count, " values but input tensor only has ", x.dim(),
          " dimensions.");
    for (int64_t d = x.dim() - count; d < x.dim(); ++d) r.dims.push_back(d);
  }
  for (size_t i = 0; i < r.dims.size(); ++i) {
    const int64_t n = s && (*s)[i] != -1 ? (*s)[i] : x.size(r.dims[i]);
    check(n > 0, "Invalid number of data points (", n, ") specified");
    r.sizes.push_back(n);
  }
  return r;
}

Tensor complex_1d(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm,
    bool forward) {
  const int64_t d = wrapped(self, dim);
  const Tensor x = resized(as_complex(self), d, n.value_or(self.size(d)));
  return rl::_fft_c2c(x, IntRef(&d, 1), normalization(norm, forward), forward);
}

Tensor complex_nd(const Tensor& self, Sizes s, Sizes dim, Norm norm, bool forward) {
  const Shape shape = shape_of(self, s, dim);
  const Tensor x = resized(as_complex(self), shape.dims, shape.sizes);
  return rl::_fft_c2c(x, shape.dims, normalization(norm, forward), forward);
}

Tensor half_1d(const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim,
    Norm norm,
               bool forward) {
  const Tensor real = as_real(self, name);
  const int64_t d = wrapped(real, dim);
  const Tensor x = resized(real, d, n.value_or(real.size(d)));
  return rl::_fft_r2c(x, IntRef(&d, 1), normalization(norm, forward), true, forward);
}

Tensor half_nd(const char* name, const Tensor& self, Sizes s, Sizes dim, Norm norm, bool forward) {
  const Tensor real = as_real(self, name, " expects a real-valued input tensor");
  const Shape shape = shape_of(real, s, dim);
  check(!shape.dims.empty(), name, " must transform at least one axis");
  const Tensor x = resized(real, shape.dims, shape.sizes);
  return rl::_fft_r2c(x, shape.dims, normalization(norm, forward), true, forward);
}

// The real signal of a half spectrum; `forward` is hfft, whose input is conjugated.
Tensor real_1d(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  const int64_t d = wrapped(self, dim);
  const int64_t size = n.value_or(2 * (self.size(d) - 1));
  check(size > 0, "Invalid number of data points (", size, ") specified");
  Tensor x = resized(as_complex(self), d, size / 2 + 1);
  if (forward) x = rl::conj(x);
  return rl::_fft_c2r(x, IntRef(&d, 1), normalization(norm, forward), size);
}

Tensor real_nd(const char* name, const Tensor& self, Sizes s, Sizes dim, Norm norm, bool forward) {
  Shape shape = shape_of(self, s, dim);
  check(!shape.dims.empty(), name, " must transform at least one axis");
  int64_t last = shape.sizes.back();
  if (!s || (*s)[s->size() - 1] == -1) last = 2 * (self.size(shape.dims.back()) - 1);
  check(last > 0, "Invalid number of data points (", last, ") specified");
  shape.sizes.back() = last / 2 + 1;
  Tensor x = resized(as_complex(self), shape.dims, shape.sizes);
  if (!forward) return rl::_fft_c2r(x, shape.dims, normalization(norm, false), last);
  const int64_t scale = normalization(norm, true);
  const IntRef others(shape.dims.data(), shape.dims.size() - 1);
  if (!others.empty()) x = rl::_fft_c2c(x, others, scale, true);
  return rl::_fft_c2r(rl::conj(x), IntRef(&shape.dims.back(), 1), scale, last);
}

}  // namespace

#define RL_FFT_1D(NAME, CALL)                                                                    \
  Tensor fft_##NAME(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {      \
    return CALL;                                                                                 \
  }
#define RL_FFT_ND(NAME, CALL)                                                                    \
  Tensor fft_##NAME##n(const Tensor& self, Sizes s, Sizes dim, Norm norm) { return CALL; }       \
  Tensor fft_##NAME##2(const Tensor& self, Sizes s, IntRef dims, Norm norm) {                    \
    const Sizes dim = dims;                                                                      \
    return CALL;                                                                                 \
  }

RL_FFT_1D(fft, complex_1d(self, n, dim, norm, true))
RL_FFT_1D(ifft, complex_1d(self, n, dim, norm, false))
RL_FFT_1D(rfft, half_1d("rfft", self, n, dim, norm, true))
RL_FFT_1D(ihfft, half_1d("ihfft", self, n, dim, norm, false))
RL_FFT_1D(irfft, real_1d(self, n, dim, norm, false))
RL_FFT_1D(hfft, real_1d(self, n, dim, norm, true))
RL_FFT_ND(fft, complex_nd(self, s, dim, norm, true))
RL_FFT_ND(ifft, complex_nd(self, s, dim, norm, false))
RL_FFT_ND(rfft, half_nd("rfftn", self, s, dim, norm, true))
RL_FFT_ND(ihfft, half_nd("ihfftn", self, s, dim, norm, false))
RL_FFT_ND(irfft, real_nd("irfftn", self, s, dim, norm, false))
RL_FFT_ND(hfft, real_nd("hfftn", self, s, dim, norm, true))

}  // namespace rl::composite
