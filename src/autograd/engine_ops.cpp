// Public operators under the names that autograd uses.
#include "autograd/engine_ops.h"

#include "gen/ops/arith.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/views.h"
#include "core/op.h"
#include "ops/backward.h"

namespace rl::engine_ops {

// A sparse and a strided gradient give a strided one, whichever came first.
Tensor add(const Tensor& a, const Tensor& b) {
  const bool swap = a->kind != ImplKind::Strided && b->kind == ImplKind::Strided;
  return swap ? rl::add(b, a, Scalar(1)) : rl::add(a, b, Scalar(1));
}
void add_into(const Tensor& a, const Tensor& b) { rl::add_(a, b, Scalar(1)); }
Tensor mul(const Tensor& a, const Tensor& b) { return rl::mul(a, b); }
Tensor clone(const Tensor& t) { return rl::clone(t, std::nullopt); }
Tensor clone_contiguous(const Tensor& t) { return rl::clone(t, MemoryFormat::Contiguous); }

Tensor clone_strided(const Tensor& t, IntRef strides) {
  Tensor out = rl::empty_strided(t.sizes(), strides, t.dtype(), t.device());
  rl::copy_(out, t);
  return out;
}

Tensor sum_to(const Tensor& t, IntRef sizes) { return rl::sum_to(t, sizes); }
Tensor to_dtype(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : rl::to(t, dtype);
}
Tensor real(const Tensor& t) { return rl::real(t); }

Tensor as_strided(const Tensor& t, IntRef sizes, IntRef strides, int64_t offset) {
  return rl::as_strided(t, sizes, strides, offset);
}
Tensor detach(const Tensor& t) {
  NoGrad no_grad;
  const bool replay = std::exchange(tls.view_replay, true);  // no view of t for autograd
  struct Restore {
    bool to;
    ~Restore() { tls.view_replay = to; }
  } restore{replay};
  return rl::detach(t);
}
Tensor view_as_self(const Tensor& t) { return rl::view_as(t, t); }
void copy_into(const Tensor& to, const Tensor& from) { rl::copy_(to, from); }
void zero_into(const Tensor& t) { rl::zero_(t); }
Tensor ones_like(const Tensor& t) { return rl::ones_like(t, {}, {}, MemoryFormat::Preserve); }
Tensor zeros_like(const Tensor& t) { return rl::zeros_like(t, {}, {}, MemoryFormat::Contiguous); }
Tensor zeros_strided(const Tensor& t) {
  Tensor out = rl::empty_strided(t.sizes(), t.strides(), t.dtype(), t.device());
  rl::zero_(out);
  return out;
}

bool has_nan(const Tensor& t) {
  if (!is_differentiable(t.dtype()) || t.is_meta() || t.numel() == 0) return false;
  ModesOff off;
  // Through the registry: which family these operators belong to does not matter here.
  static const OpInfo* isnan = find_op("isnan", "");
  static const OpInfo* any = find_op("any", "");
  check_implemented(isnan && any, "anomaly mode needs the operators isnan and any");
  Stack s{IValue(t)};
  isnan->boxed(s);
  any->boxed(s);
  return item(s[0].tensor()).to_bool();
}

}  // namespace rl::engine_ops
