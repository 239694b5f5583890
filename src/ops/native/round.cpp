// round(decimals=): the scale is found once, then the loop of a pointwise operator runs.
#include <cmath>

#include "kernels/iter/pointwise.h"
#include "ops/native.h"

namespace rl {
namespace cpu {
RL_POINTWISE_DECLARE(round_decimals);
}

namespace native {

Tensor round_decimals(const Tensor& self, int64_t decimals) {
  static constexpr PointwiseOp op = {.name = "round", .error_name = "round_cpu", .inputs = 1,
                                     .dtypes = kFloatDTypes, .loop = &cpu::round_decimals_loop};
  const Scalar attrs[] = {Scalar(std::pow(10.0, double(std::abs(decimals)))), Scalar(decimals < 0)};
  return run_pointwise(op, {&self}, attrs);
}

}  // namespace native
}  // namespace rl
