// Functions without a vector form: the C library's, lane by lane.
#pragma once

#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {

RL_INLINE float lgamma(float x) { return __builtin_lgammaf(x); }
RL_INLINE double lgamma(double x) { return __builtin_lgamma(x); }
template <class T> inline Vec<T> lgamma(Vec<T> x) {
  return per_lane(x, [](T t) { return lgamma(t); });
}

RL_INLINE float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
RL_INLINE double nextafter(double x, double y) { return __builtin_nextafter(x, y); }
template <class T> inline Vec<T> nextafter(Vec<T> x, Vec<T> y) {
  return per_lane(x, y, [](T t, T u) { return nextafter(t, u); });
}

template <class V> RL_INLINE V rsqrt(V x) { return V(1) / sqrt(x); }

}  // namespace rl::cpu::RL_ISA
