// Gradients of Fourier transforms.
#include "gen/ops/arith.h"
#include "gen/ops/complex.h"
#include "gen/ops/fft.h"
#include "gen/ops/pad.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

// The adjoint of cutting the spectrum is to fill it with zeros.
Tensor fft_r2c_grad(const Tensor& grad, IntRef dim, int64_t normalization, bool onesided,
    bool forward,
                    IntRef sizes) {
  Tensor full = grad;
  if (onesided) {
    const int64_t last = wrap_dim(dim[dim.size() - 1], grad.dim());
    Dims pad(size_t(2 * (grad.dim() - last)), 0);
    pad[pad.size() - 1] = sizes[size_t(last)] - grad.size(last);
    full = rl::constant_pad_nd(grad, pad, Scalar(int64_t(0)));
  }
  return rl::real(rl::_fft_c2c(full, dim, normalization, !forward));
}

// Every frequency but the first, and the last of an even length, stood for two.
Tensor fft_c2r_grad(const Tensor& grad, IntRef dim, int64_t normalization) {
  const Tensor half = rl::_fft_r2c(grad, dim, normalization, true, true);
  const int64_t last = wrap_dim(dim[dim.size() - 1], grad.dim());
  const int64_t n = half.size(last), twice = grad.size(last) - n;
  Tensor weights = empty_tensor(IntRef(&n, 1), grad.dtype());
  for (int64_t k = 0; k < n; ++k) {
    const double w = k >= 1 && k < 1 + twice ? 2 : 1;
    if (grad.dtype() == DType::Float) weights.data<float>()[k] = float(w);
    else weights.data<double>()[k] = w;
  }
  Dims sizes(size_t(grad.dim()), 1), strides(size_t(grad.dim()), 0);
  sizes[size_t(last)] = n;
  strides[size_t(last)] = 1;
  return half * alias(weights, sizes, strides, 0);
}

}  // namespace rl
