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

// The value where the mask is set, the element elsewhere.
template <class T> struct masked_fill_ {
  using inputs = TypeList<T, bool>;
  static constexpr bool vectorized = vectorizable<T>;
  T value;
  template <class V> RL_INLINE V operator()(V a, mask_t<V> mask) const {
    if constexpr (is_vec<V>) return select(mask, V(value), a);
    else return mask ? value : a;
  }
};

}  // namespace rl::cpu::RL_ISA::functor
