// Steps of optimizers over contiguous runs (see optim.h).
#include "kernels/cpu/optim.h"

#include "kernels/cpu/rows.h"
#include "kernels/cpu/vec_convert.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace {

// S is what is stored, compute_t<S> what is computed in.
template <class S>
using compute_t = std::conditional_t<std::is_same_v<S, double>, double, float>;

template <class S>
RL_INLINE Vec<compute_t<S>> get(const S* p, int64_t i, int64_t count) {
  if constexpr (is_small_float<S>)
    return count == Vec<float>::size ? load_float(p + i) : load_float_partial(p + i, count);
  else
    return rows::load(p + i, count);
}
template <class S>
RL_INLINE void put(S* p, int64_t i, Vec<compute_t<S>> v, int64_t count) {
  if constexpr (is_small_float<S>) {
    if (count == Vec<float>::size) store_float(p + i, v);
    else store_float_partial(p + i, v, count);
  } else {
    rows::store(p + i, v, count);
  }
}

// The gradient after unscaling, sign and L2 penalty.
template <class S>
struct GradReader {
  using T = compute_t<S>;
  S* grad;
  Vec<T> weight_decay, inverse_scale, sign;
  bool decays, scaled;
  GradReader(const GradPolicy& p, void* g)
      : grad(static_cast<S*>(g)), weight_decay(T(p.weight_decay)),
        inverse_scale(T(p.inverse_scale)), sign(T(p.maximize ? -1 : 1)),
        decays(p.weight_decay != 0), scaled(p.inverse_scale != 1) {}
  RL_INLINE Vec<T> operator()(Vec<T> param, int64_t i, int64_t count) const {
    Vec<T> g = get(grad, i, count);
    if (scaled) {
      g = g * inverse_scale;
      put(grad, i, g, count);
    }
    g = g * sign;
    if (decays) g = g + weight_decay * param;
    return g;
  }
};

template <class F>
void typed(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float: return f.template operator()<float>();
    case DType::Double: return f.template operator()<double>();
    case DType::BFloat16: return f.template operator()<bfloat16>();
    default: return f.template operator()<half>();
  }
}

template <class S>
void sgd_as(const SgdStep& s, S* param, void* grad, S* buffer, int64_t n) {
  using T = compute_t<S>;
  const GradReader<S> read(s.grad, grad);
  const Vec<T> lr{T(s.lr)}, momentum{T(s.momentum)}, keep{T(1 - s.dampening)};
  rows::for_vectors<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> p = get(param, i, count);
    Vec<T> g = read(p, i, count);
    if (buffer) {
      const Vec<T> b = s.first ? g : get(buffer, i, count) * momentum + g * keep;
      put(buffer, i, b, count);
      g = s.nesterov ? g + b * momentum : b;
    }
    put(param, i, p - lr * g, count);
  });
}

template <class S>
void adam_as(const AdamStep& s, S* param, void* grad, S* mean, S* square, S* max_square,
             int64_t n) {
  using T = compute_t<S>;
  const GradReader<S> read(s.grad, grad);
  const Vec<T> gain1{T(1 - s.beta1)}, beta2{T(s.beta2)}, gain2{T(1 - s.beta2)}, eps{T(s.eps)},
      step_size{T(s.step_size)}, root_scale{T(s.root_scale)}, decay{T(s.decay)};
  rows::for_vectors<T>(n, [&](int64_t i, int64_t count) {
    Vec<T> p = get(param, i, count);
    const Vec<T> g = read(p, i, count);
    p = p * decay;
    Vec<T> m = get(mean, i, count), v = get(square, i, count);
    m = m + (g - m) * gain1;
    v = v * beta2 + g * g * gain2;
    put(mean, i, m, count);
    put(square, i, v, count);
    if (max_square) {
      v = maximum(get(max_square, i, count), v);
      put(max_square, i, v, count);
    }
    put(param, i, p - step_size * m / (sqrt(v) * root_scale + eps), count);
  });
}

template <class S>
void adagrad_as(const AdagradStep& s, S* param, void* grad, S* sum, int64_t n) {
  using T = compute_t<S>;
  const GradReader<S> read(s.grad, grad);
  const Vec<T> lr{T(s.lr)}, eps{T(s.eps)};
  rows::for_vectors<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> p = get(param, i, count), g = read(p, i, count);
    const Vec<T> total = get(sum, i, count) + g * g;
    put(sum, i, total, count);
    put(param, i, p - lr * (g / (sqrt(total) + eps)), count);
  });
}

template <class S>
void rmsprop_as(const RmspropStep& s, S* param, void* grad, S* square, S* mean, S* buffer,
                int64_t n) {
  using T = compute_t<S>;
  const GradReader<S> read(s.grad, grad);
  const Vec<T> lr{T(s.lr)}, alpha{T(s.alpha)}, gain{T(1 - s.alpha)}, eps{T(s.eps)},
      momentum{T(s.momentum)};
  rows::for_vectors<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> p = get(param, i, count), g = read(p, i, count);
    Vec<T> v = get(square, i, count) * alpha + g * g * gain;
    put(square, i, v, count);
    if (mean) {
      Vec<T> m = get(mean, i, count);
      m = m + (g - m) * gain;
      put(mean, i, m, count);
      v = v - m * m;
    }
    Vec<T> d = g / (sqrt(v) + eps);
    if (buffer) {
      d = get(buffer, i, count) * momentum + d;
      put(buffer, i, d, count);
    }
    put(param, i, p - lr * d, count);
  });
}

template <class S>
S* at(void* p) {
  return static_cast<S*>(p);
}

}  // namespace

void sgd_run(DType dtype, const SgdStep& s, void* param, void* grad, void* buffer, int64_t n) {
  typed(dtype, [&]<class S>() { sgd_as<S>(s, at<S>(param), grad, at<S>(buffer), n); });
}

void adam_run(DType dtype, const AdamStep& s, void* param, void* grad, void* mean, void* square,
              void* max_square, int64_t n) {
  typed(dtype, [&]<class S>() {
    adam_as<S>(s, at<S>(param), grad, at<S>(mean), at<S>(square), at<S>(max_square), n);
  });
}

void adagrad_run(DType dtype, const AdagradStep& s, void* param, void* grad, void* sum,
                 int64_t n) {
  typed(dtype, [&]<class S>() { adagrad_as<S>(s, at<S>(param), grad, at<S>(sum), n); });
}

void rmsprop_run(DType dtype, const RmspropStep& s, void* param, void* grad, void* square,
                 void* mean, void* buffer, int64_t n) {
  typed(dtype, [&]<class S>() {
    rmsprop_as<S>(s, at<S>(param), grad, at<S>(square), at<S>(mean), at<S>(buffer), n);
  });
}

}  // namespace rl::cpu::RL_ISA
