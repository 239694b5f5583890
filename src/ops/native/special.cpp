// Special functions that take a number besides the tensor.
#include <cmath>

#include "gen/pointwise_special.h"
#include "ops/native.h"

namespace rl::native {

Tensor polygamma(int64_t n, const Tensor& self) {
  check(n >= 0, "polygamma(n, x) does not support negative n.");
  return _polygamma(self, n);
}

// ln Gamma_p(x) = p (p - 1) / 4 ln pi + sum of ln Gamma(x - j/2), j < p
Tensor mvlgamma(const Tensor& self, int64_t p) {
  check(p >= 1, "p has to be greater than or equal to 1");
  check(!is_complex(self.dtype()), "mvlgamma is not implemented for ", self.dtype());
  const DType d = is_integral(self.dtype(), true) ? default_dtype() : self.dtype();
  if (self.is_meta()) return empty_tensor(self.sizes(), d, self.device());
  Tensor out = empty_tensor(self.sizes(), DType::Double, self.device());
  copy_into(out, self);
  double* x = out.data<double>();
  const double constant = double(p) * double(p - 1) / 4 * std::log(3.14159265358979323846);
  for (int64_t i = 0; i < out.numel(); ++i) {
    double sum = constant;
    for (int64_t j = 0; j < p; ++j) sum += std::lgamma(x[i] - 0.5 * double(j));
    x[i] = sum;
  }
  return to_dtype(out, d);
}

}  // namespace rl::native
