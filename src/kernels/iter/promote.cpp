// Type promotion over several operands (see promote.h).
#include "kernels/iter/promote.h"

namespace rl {
namespace {

int category(DType d) {
  if (d == DType::Undefined) return -1;
  if (is_complex(d)) return 3;
  if (is_floating(d)) return 2;
  return d == DType::Bool ? 0 : 1;
}

// `weak` decides only when it is of a higher category; a complex weak operand beside a floating
// strong one keeps the strong one's precision.
DType join(DType strong, DType weak) {
  if (strong == DType::Undefined) return weak;
  if (weak == DType::Undefined || category(strong) >= category(weak)) return strong;
  if (category(strong) == 2) return to_complex(strong);
  return weak;
}

}  // namespace

DType dtype_in_promotion(const Tensor& t) {
  const DType d = t.dtype();
  if (!t.is_wrapped_number()) return d;
  if (is_complex(d)) return default_complex_dtype();
  return is_floating(d) ? default_dtype() : d;
}

void Promotion::add(const Tensor& t) {
  const DType d = dtype_in_promotion(t);
  DType& slot = t.dim() > 0 ? dimensioned : t.is_wrapped_number() ? number : zero_dim;
  slot = slot == DType::Undefined ? d : promote_types(slot, d);
}

DType Promotion::result() const { return join(dimensioned, join(zero_dim, number)); }

DType result_type(const Tensor* const* tensors, int n) {
  Promotion p;
  for (int i = 0; i < n; ++i) p.add(*tensors[i]);
  return p.result();
}

DType result_type(TensorList tensors) {
  Promotion p;
  for (const Tensor& t : tensors) p.add(t);
  return p.result();
}

}  // namespace rl
