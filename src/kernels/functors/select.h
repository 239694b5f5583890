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

// x * scale where the mask is set, x * 0 elsewhere (infinities become NaN).
template <class T> struct scale_kept_ {
  using inputs = TypeList<T, bool>;
  static constexpr bool vectorized = vectorizable<T>;
  T scale;
  template <class V> RL_INLINE V operator()(V x, mask_t<V> kept) const {
    if constexpr (is_vec<V>) return x * select(kept, V(scale), V(T(0)));
    else return x * (kept ? scale : T(0));
  }
};
// x where positive, x * slope elsewhere.
template <class T> struct leaky_ {
  static constexpr bool vectorized = vectorizable<T>;
  T slope;
  template <class V> RL_INLINE V operator()(V x) const {
    return select(x > V(T(0)), x, x * V(slope));
  }
};
template <class T> struct leaky_grad_ {  // gradient, x
  static constexpr bool vectorized = vectorizable<T>;
  T slope;
  template <class V> RL_INLINE V operator()(V grad, V x) const {
    return select(x > V(T(0)), grad, grad * V(slope));
  }
};

}  // namespace rl::cpu::RL_ISA::functor
