#include "kernels/functors/round.h"
#include "kernels/iter/pointwise_loops.h"

namespace rl::cpu::RL_ISA {
RL_POINTWISE(round_decimals, functor::round_decimals_, RL_TYPES(float, double), scale, negative)
}
