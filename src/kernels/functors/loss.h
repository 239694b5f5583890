// Element-wise losses before reduction, and their backward: functors of (grad, input, target).
#pragma once

#include "kernels/functors/complex.h"

namespace rl::cpu::RL_ISA::functor {

template <class T> struct mse_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    V d = x - y;
    return times(d, d);
  }
};
template <class T> struct mse_backward_ {
  T scale = T(1);  // 1/n for the mean
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const {
    return times(times(V(T(2) * scale), x - y), g);
  }
};
template <class T> struct l1_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE auto operator()(V x, V y) const { return abs(x - y); }
};
template <class T> struct l1_backward_ {
  T scale = T(1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const {
    V sign = select(x > y, V(1), select(x < y, V(-1), V(0)));
    return sign * V(scale) * g;
  }
};
template <class T> struct smooth_l1_ {
  T beta = T(1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    V z = abs(x - y);
    return select(z < V(beta), V(0.5) * z * z / V(beta), z - V(T(0.5) * beta));
  }
};
template <class T> struct smooth_l1_backward_ {
  T scale, beta;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const {
    V d = x - y, n = V(scale);
    V r = select(d >= V(beta), n * g, n * d * g / V(beta));
    return select(d <= V(-beta), -n * g, r);
  }
};
template <class T> struct huber_ {
  T delta = T(1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    V z = abs(x - y);
    return select(z < V(delta), V(0.5) * z * z, V(delta) * (z - V(T(0.5) * delta)));
  }
};
template <class T> struct huber_backward_ {
  T scale, delta;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const {
    V d = x - y, n = V(scale);
    V r = select(d >= V(delta), n * g * V(delta), n * d * g);
    return select(d <= V(-delta), -n * g * V(delta), r);
  }
};
// Logarithms are held above -100, so that a sure and wrong answer costs a finite amount.
template <class T> struct bce_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    V floor_value(-100);
    return (y - V(1)) * maximum(log1p(-x), floor_value) - y * maximum(log(x), floor_value);
  }
};
template <class T> struct bce_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const {
    return g * (x - y) / maximum((V(1) - x) * x, V(1e-12));
  }
};
// (1 - y) x + log(1 + exp(-x)), written so that exp() cannot overflow.
template <class T> struct bce_with_logits_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    return (V(1) - y) * x + log1p(exp(-abs(x))) - minimum(x, V(0));
  }
};
template <class T> struct bce_with_logits_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const { return g * (sigmoid(x) - y); }
};
template <class T> struct soft_margin_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const { return log1p(exp(-y * x)); }
};
template <class T> struct soft_margin_backward_ {
  T scale = T(1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V y) const {
    V z = exp(-y * x);
    return V(-scale) * y * z / (z + V(1)) * g;
  }
};
template <class T> struct kl_div_ {  // input holds log-probabilities, target probabilities
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const {
    return select(y == V(0), V(0), y * log(y)) - y * x;
  }
};
template <class T> struct kl_div_log_target_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V y) const { return exp(y) * (y - x); }
};

}  // namespace rl::cpu::RL_ISA::functor
