// Complex operators made of views.
#include "gen/ops/complex.h"
#include "gen/ops/views.h"

namespace rl::composite {

Tensor conj(const Tensor& self) { return self.is_complex() ? rl::conj_physical(self) : self; }

Tensor real(const Tensor& self) {
  return self.is_complex() ? rl::select(rl::view_as_real(self), -1, 0) : self;
}

Tensor imag(const Tensor& self) {
  check(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  return rl::select(rl::view_as_real(self), -1, 1);
}

}  // namespace rl::composite
