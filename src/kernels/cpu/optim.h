// One run of elements of an optimizer's step: everything is read and written once. float16 and
// bfloat16 are computed in float.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

struct GradPolicy {
  double weight_decay = 0;  // L2 penalty
  double inverse_scale = 1; // of a scaled loss: the gradient is multiplied by it and written back
  bool maximize = false;
};

struct SgdStep {
  GradPolicy grad;
  double lr, momentum, dampening;
  bool nesterov, first;  // first: the buffer has no value yet
};

struct AdamStep {
  GradPolicy grad;
  double beta1, beta2, eps;
  double step_size;    // lr / (1 - beta1^t)
  double root_scale;   // 1 / sqrt(1 - beta2^t)
  double decay = 1;    // decoupled: the parameter is multiplied by it first
};

struct AdagradStep {
  GradPolicy grad;
  double lr, eps;
};

struct RmspropStep {
  GradPolicy grad;
  double lr, alpha, eps, momentum;
};

// buffer, max_square, mean may be null: without momentum, amsgrad, centering.
RL_KERNEL(void, sgd_run, (DType dtype, const SgdStep& s, void* param, void* grad, void* buffer,
                          int64_t n));
RL_KERNEL(void, adam_run, (DType dtype, const AdamStep& s, void* param, void* grad, void* mean,
                           void* square, void* max_square, int64_t n));
RL_KERNEL(void, adagrad_run, (DType dtype, const AdagradStep& s, void* param, void* grad,
                              void* sum, int64_t n));
RL_KERNEL(void, rmsprop_run, (DType dtype, const RmspropStep& s, void* param, void* grad,
                              void* square, void* mean, void* buffer, int64_t n));

}  // namespace rl::cpu
