// Gradients of a scaled loss: unscaled, checked for overflow; and the scale's next value.
#include <atomic>
#include <cmath>

#include "base/check.h"
#include "base/half.h"
#include "base/parallel.h"
#include "core/tensor.h"
#include "core/tls.h"
#include "gen/ops/create.h"
#include "gen/ops/optim.h"

namespace rl::composite {
namespace {

void check_float_scalar(const Tensor& t, const char* name) {
  check(t.numel() == 1, name, " must be a 1-element tensor.");
  check(t.dtype() == DType::Float, name, " must be a float tensor.");
}

// x * 0 is 0 for finite x only, and a sum of zeros stays 0.
template <class T>
bool scale_run(T* x, int64_t n, float factor) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float v = float(x[i]);
    sum += v * 0.0f;
    x[i] = T(factor == 1.0f ? v : v * factor);
  }
  return sum == 0;
}
template <>
bool scale_run(double* x, int64_t n, float factor) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += x[i] * 0.0;
    if (factor != 1.0f) x[i] *= double(factor);
  }
  return sum == 0;
}

bool scale_bytes(DType d, char* p, int64_t from, int64_t n, float factor) {
  switch (d) {
    case DType::Float: return scale_run(reinterpret_cast<float*>(p) + from, n, factor);
    case DType::Double: return scale_run(reinterpret_cast<double*>(p) + from, n, factor);
    case DType::Half: return scale_run(reinterpret_cast<half*>(p) + from, n, factor);
    case DType::BFloat16: return scale_run(reinterpret_cast<bfloat16*>(p) + from, n, factor);
    default:
      fail_as(ErrorKind::NotImplemented,
              "\"_amp_foreach_non_finite_check_and_unscale_cpu\" not implemented for '",
              scalar_type_name(d), "'");
  }
}

bool scale_dense(const Tensor& t, float factor) {
  std::atomic<bool> finite{true};
  char* p = static_cast<char*>(t.data());
  parallel_for(0, t.numel(), 32768, [&](int64_t begin, int64_t end) {
    if (!scale_bytes(t.dtype(), p, begin, end - begin, factor)) finite = false;
  });
  return finite;
}

}  // namespace

void _amp_foreach_non_finite_check_and_unscale_(TensorList self, const Tensor& found_inf,
                                                const Tensor& inv_scale) {
  if (self.empty()) return;
  check_float_scalar(inv_scale, "inv_scale");
  check_float_scalar(found_inf, "found_inf");
  const float factor = *inv_scale.data<float>();
  NoGrad no_grad;
  bool finite = true;
  for (const Tensor& t : self) {
    check(t->kind == ImplKind::Strided && t.device().is_cpu(),
          "_amp_foreach_non_finite_check_and_unscale_: expected dense tensors on the CPU");
    if (is_non_overlapping_and_dense(t.sizes(), t.strides())) {
      finite &= scale_dense(t, factor);
    } else {
      Tensor copy = empty_tensor(t.sizes(), t.dtype());
      copy_(copy, t);
      finite &= scale_dense(copy, factor);
      copy_(t, copy);
    }
    bump_version(t);
  }
  if (!finite) *found_inf.data<float>() = 1;
  bump_version(found_inf);
}

Tensor _amp_update_scale_(const Tensor& self, const Tensor& growth_tracker,
                          const Tensor& found_inf, double growth_factor, double backoff_factor,
                          int64_t growth_interval) {
  check(growth_tracker.numel() == 1, "growth_tracker must be a 1-element tensor.");
  check(growth_tracker.dtype() == DType::Int32, "growth_tracker must be an int tensor.");
  check_float_scalar(self, "current_scale");
  check_float_scalar(found_inf, "found_inf");
  float& scale = *self.data<float>();
  int32_t& steps = *growth_tracker.data<int32_t>();
  if (*found_inf.data<float>() != 0) {
    scale = float(scale * backoff_factor);
    steps = 0;
  } else if (steps + 1 == growth_interval) {
    const float grown = float(scale * growth_factor);
    if (std::isfinite(grown)) scale = grown;
    steps = 0;
  } else {
    ++steps;
  }
  bump_version(self);
  bump_version(growth_tracker);
  return self;
}

}  // namespace rl::composite
