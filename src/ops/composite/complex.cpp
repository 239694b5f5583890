// Complex operators made of views.
#include "gen/ops/complex.h"
#include "gen/ops/views.h"

namespace rl::composite {

// Expanded dimensions stay expanded.
Tensor conj(const Tensor& self) {
  if (!self.is_complex()) return self;
  if (self->kind != ImplKind::Strided) return rl::conj_physical(self);
  Tensor base = self;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.size(d) > 1 && self.stride(d) == 0) base = rl::narrow(base, d, 0, 1);
  const Tensor out = rl::conj_physical(base);
  return base.is_same(self) ? out : rl::expand(out, self.sizes(), false);
}

Tensor real(const Tensor& self) {
  return self.is_complex() ? rl::select(rl::view_as_real(self), -1, 0) : self;
}

Tensor imag(const Tensor& self) {
  check(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  return rl::select(rl::view_as_real(self), -1, 1);
}

}  // namespace rl::composite
