// Choice between two values by a condition.
#pragma once

#include "core/dtype.h"
#include "kernels/functors/common.h"

namespace rl::cpu::RL_ISA::functor {

template <class T> struct where_ {
  using inputs = TypeList<bool, T, T>;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(mask_t<V> condition, V a, V b) const {
    if constexpr (is_vec<V>) return select(condition, a, b);
    else return condition ? a : b;
  }
};

}  // namespace rl::cpu::RL_ISA::functor
