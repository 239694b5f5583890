// Activation functions and their backward functions. A backward functor takes the gradient first,
// then the input (or, where its comment says so, the result), as PyTorch's operators do.
// At the kinks the derivative is the one that PyTorch chose; at NaN too.
#pragma once

#include "kernels/functors/complex.h"

namespace rl::cpu::RL_ISA::functor {

// ---- piecewise linear --------------------------------------------------------------------------

template <class T> struct relu_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const { return maximum(V(T(0)), x); }
};
template <class T> struct relu6_ {
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return minimum(V(T(6)), maximum(V(T(0)), x));
  }
};
template <class T> struct hardtanh_ {
  T min_val = T(-1), max_val = T(1);
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return minimum(V(max_val), maximum(V(min_val), x));
  }
};
template <class T> struct hardtanh_backward_ {
  T min_val, max_val;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    return select((x > V(min_val)) & (x < V(max_val)), g, V(T(0)));
  }
};
template <class T> struct threshold_ {
  T threshold, value;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return select(x <= V(threshold), V(value), x);
  }
};
template <class T> struct threshold_backward_ {  // grad, input or result
  T threshold;
  static constexpr bool vectorized = vectorizable<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    return select(x <= V(threshold), V(T(0)), g);
  }
};
template <class T> struct leaky_relu_ {
  T negative_slope = T(0.01);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return select(x > V(0), x, x * V(negative_slope));
  }
};
template <class T> struct leaky_relu_backward_ {  // grad, input (or result if the slope is >= 0)
  T negative_slope;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    return select(x > V(0), g, g * V(negative_slope));
  }
};
template <class T> struct prelu_ {  // input, weight
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x, V w) const { return select(x > V(0), x, w * x); }
};
template <class T> struct prelu_input_backward_ {  // grad, input, weight
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x, V w) const {
    return select(x > V(0), g, w * g);
  }
};
template <class T> struct prelu_weight_backward_ {  // grad, input; before the sum over elements
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    return select(x > V(0), V(0), x * g);
  }
};
template <class T> struct hardsigmoid_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return minimum(maximum(x + V(3), V(0)), V(6)) / V(6);
  }
};
template <class T> struct hardsigmoid_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    return select((x > V(-3)) & (x < V(3)), g * V(T(1) / T(6)), V(0));
  }
};
template <class T> struct hardswish_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return x * minimum(maximum(x + V(3), V(0)), V(6)) / V(6);
  }
};
template <class T> struct hardswish_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V r = select(x >= V(3), g, g * (x / V(3) + V(0.5)));
    return select(x <= V(-3), V(0), r);
  }
};
template <class T> struct softshrink_ {
  T lambd = T(0.5);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    V r = select(x < V(-lambd), x + V(lambd), abs(x) * V(0));  // NaN stays NaN
    return select(x > V(lambd), x - V(lambd), r);
  }
};
template <class T> struct hardshrink_ {
  T lambd = T(0.5);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return select((x >= V(-lambd)) & (x <= V(lambd)), V(0), x);
  }
};
template <class T> struct shrink_backward_ {  // of both
  T lambd;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    return select((x > V(lambd)) | (x < V(-lambd)), g, V(0));
  }
};

// ---- exponential -------------------------------------------------------------------------------

// elu, celu and selu: x * scale above zero, expm1(x * input_scale) * alpha * scale below.
template <class T> struct elu_ {
  T alpha = T(1), scale = T(1), input_scale = T(1);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    V low = expm1(x * V(input_scale)) * V(alpha * scale);
    return select(x < V(0), low, x * V(scale));
  }
};
template <class T> struct elu_backward_ {  // grad, result if is_result, else input
  T alpha, scale, input_scale;
  bool is_result;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V low;
    if (is_result) low = g * V(input_scale) * (x + V(alpha * scale));
    else low = g * V(input_scale * alpha * scale) * exp(x * V(input_scale));
    return select(x > V(0), g * V(scale), low);
  }
};
template <class T> struct silu_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    if constexpr (is_complex_type<T>) return quotient(x, V(1) + exp(-x));
    else return x / (V(1) + exp(-x));
  }
};
template <class T> struct silu_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V s = sigmoid(x);
    if constexpr (is_complex_type<T>) {  // without the conjugate, as PyTorch 2.15
      return times(times(g, s), V(1) + times(x, V(1) - s));
    } else {
      return g * s * (V(1) + x * (V(1) - s));
    }
  }
};
// mish = x tanh(log(1 + e)), e = exp(x). With w = e (e + 2) the tanh is w / (w + 2); from x = 20
// on it is 1 to double precision, and holding x there keeps w finite.
template <class T> struct mish_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    V e = exp(min_fast(V(20), x)), w = e * (e + V(2));
    return x * (w / (w + V(2)));
  }
};
template <class T> struct mish_backward_ {  // tanh + x sigmoid(x) (1 - tanh^2)
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V held = min_fast(V(20), x), e = exp(held), w = e * (e + V(2)), d = w + V(2);
    return g * (w / d + held * (V(4) * e * (e + V(1)) / (d * d)));
  }
};
template <class T> struct softplus_ {
  T beta = T(1), threshold = T(20);
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    V z = x * V(beta);
    return select(z > V(threshold), x, log1p(exp(z)) / V(beta));
  }
};
template <class T> struct softplus_backward_ {
  T beta, threshold;
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V a = x * V(beta), z = exp(a);
    return select(a > V(threshold), g, g * z / (z + V(1)));
  }
};
template <class T> struct logsigmoid_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return minimum(x, V(0)) - log1p(exp(-abs(x)));
  }
};
template <class T> struct logsigmoid_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V z = exp(-abs(x));
    V s = z / (V(1) + z);
    return g * select(x < V(0), V(1) - s, s);
  }
};

// ---- gelu --------------------------------------------------------------------------------------

template <class T> struct gelu_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    return x * V(0.5) * (V(1) + erf(x * V(0.70710678118654752440)));
  }
};
template <class T> struct gelu_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V cdf = V(0.5) * (V(1) + erf(x * V(0.70710678118654752440)));
    V pdf = exp(x * x * V(-0.5)) * V(0.39894228040143267794);
    return g * (cdf + x * pdf);
  }
};
// The tanh form of Hendrycks and Gimpel (arXiv:1606.08415).
template <class T> struct gelu_tanh_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V x) const {
    V inner = V(0.79788456080286535588) * (x + V(0.044715) * x * x * x);
    return V(0.5) * x * (V(1) + tanh(inner));
  }
};
template <class T> struct gelu_tanh_backward_ {
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V x) const {
    V beta = V(0.79788456080286535588), cube = V(0.044715);
    V t = tanh(beta * (x + cube * x * x * x));
    V slope = beta * (V(1) + V(3) * cube * x * x);
    V left = V(0.5) * (V(1) + t);
    V right = V(0.5) * x * (V(1) - t * t) * slope;
    return g * (left + right);
  }
};

// ---- gates -------------------------------------------------------------------------------------

template <class T> struct glu_ {  // first half, second half
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V a, V b) const { return a * sigmoid(b); }
};
template <class T> struct glu_gate_backward_ {  // grad, first half, second half -> second half's
  static constexpr bool vectorized = is_real_float<T>;
  template <class V> RL_INLINE V operator()(V g, V a, V b) const {
    V s = sigmoid(b);
    return g * a * s * (V(1) - s);
  }
};

}  // namespace rl::cpu::RL_ISA::functor
