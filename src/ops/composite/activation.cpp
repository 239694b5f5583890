// Activations made of other operators.
#include <limits>

#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/math.h"
#include "gen/ops/softmax.h"
#include "gen/ops/views.h"
#include "ops/formula.h"

namespace rl::composite {

namespace {
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;
}  // namespace

Tensor elu(const Tensor& self, const Scalar& alpha) {
  return rl::elu_scaled(self, alpha, Scalar(1.0), Scalar(1.0));
}
Tensor elu_inplace(const Tensor& self, const Scalar& alpha) {
  return rl::elu_scaled_(self, alpha, Scalar(1.0), Scalar(1.0));
}
Tensor selu(const Tensor& self) {
  return rl::elu_scaled(self, Scalar(kSeluAlpha), Scalar(kSeluScale), Scalar(1.0));
}
Tensor selu_inplace(const Tensor& self) {
  return rl::elu_scaled_(self, Scalar(kSeluAlpha), Scalar(kSeluScale), Scalar(1.0));
}
static Scalar celu_scale(const Scalar& alpha) {
  check(!alpha.equal(0), "ZeroDivisionError: alpha cannot be 0 for CELU");
  return Scalar(1.0 / alpha.to_double());
}
Tensor celu(const Tensor& self, const Scalar& alpha) {
  return rl::elu_scaled(self, alpha, Scalar(1.0), celu_scale(alpha));
}
Tensor celu_inplace(const Tensor& self, const Scalar& alpha) {
  return rl::elu_scaled_(self, alpha, Scalar(1.0), celu_scale(alpha));
}

Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  const bool wide = self.dtype() == DType::Double;
  const double most = wide ? std::numeric_limits<double>::max()
                           : double(std::numeric_limits<float>::max());
  check(lambd.to_double() >= 0 && lambd.to_double() <= most, "lambda must be in range [0, ", most,
        "] for input dtype ", self.dtype(), ", but found ", lambd.to_double());
  return rl::_softshrink(self, lambd);
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  check(self.dtype() == weight.dtype(), "prelu: Type promoting not supported. Got ", self.dtype(),
        " and ", weight.dtype());
  if (weight.numel() == 1 && weight.dim() != 1) return rl::_prelu_kernel(self, weight);
  check(weight.dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ",
        weight.dim());
  if (weight.numel() != 1) {
    check(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    check(channels == weight.numel(), "Mismatch of parameter numbers and input channel size. Found "
          "parameter numbers = ", weight.numel(), " and channel size = ", channels, ".");
  }
  Dims shape(size_t(self.dim()), 1);
  if (self.dim() > 1) shape[1] = weight.numel();
  return rl::_prelu_kernel(self, rl::view(weight, shape));
}

Tensor glu(const Tensor& self, int64_t dim) {
  check(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  check(n % 2 == 0, "Halving dimension must be even, but dimension ", d, " is size ", n);
  auto halves = rl::split(self, n / 2, d);
  if (n == 0) halves = {self, self};
  return rl::mul(halves[0], rl::sigmoid(halves[1]));
}

Tensor softsign(const Tensor& self) { return self / (rl::abs(self) + Scalar(1)); }
Tensor tanhshrink(const Tensor& self) { return self - rl::tanh(self); }
Tensor softmin(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return rl::softmax(-self, dim, dtype);
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return rl::_softmax(self, dim, dtype);
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return rl::_log_softmax(self, dim, dtype);
}

}  // namespace rl::composite
