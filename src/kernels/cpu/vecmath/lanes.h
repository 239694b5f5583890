// Functions without a vector form: the C library's, lane by lane.
#pragma once

#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {

#define RL_LANES_1(NAME)                                                                        \
  RL_INLINE float NAME(float x) { return __builtin_##NAME##f(x); }                              \
  RL_INLINE double NAME(double x) { return __builtin_##NAME(x); }                               \
  template <class T> inline Vec<T> NAME(Vec<T> x) {                                             \
    return per_lane(x, [](T t) { return NAME(t); });                                            \
  }
#define RL_LANES_2(NAME)                                                                        \
  RL_INLINE float NAME(float x, float y) { return __builtin_##NAME##f(x, y); }                  \
  RL_INLINE double NAME(double x, double y) { return __builtin_##NAME(x, y); }                  \
  template <class T> inline Vec<T> NAME(Vec<T> x, Vec<T> y) {                                   \
    return per_lane(x, y, [](T t, T u) { return NAME(t, u); });                                 \
  }

RL_LANES_1(exp) RL_LANES_1(exp2) RL_LANES_1(expm1)
RL_LANES_1(log) RL_LANES_1(log2) RL_LANES_1(log10) RL_LANES_1(log1p)
RL_LANES_1(sin) RL_LANES_1(cos) RL_LANES_1(tan)
RL_LANES_1(asin) RL_LANES_1(acos) RL_LANES_1(atan)
RL_LANES_1(sinh) RL_LANES_1(cosh) RL_LANES_1(tanh)
RL_LANES_1(asinh) RL_LANES_1(acosh) RL_LANES_1(atanh)
RL_LANES_1(erf) RL_LANES_1(erfc)
RL_LANES_1(lgamma)
RL_LANES_2(atan2) RL_LANES_2(pow) RL_LANES_2(fmod) RL_LANES_2(hypot) RL_LANES_2(nextafter)
#undef RL_LANES_1
#undef RL_LANES_2

template <class V> RL_INLINE V sigmoid(V x) { return V(1) / (V(1) + exp(-x)); }
template <class V> RL_INLINE V rsqrt(V x) { return V(1) / sqrt(x); }

}  // namespace rl::cpu::RL_ISA
