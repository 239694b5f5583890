// Loops over a contiguous row in whole registers and one partial one, and sums in double.
#pragma once
#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {
namespace rows {

// Calls f(i, count) for whole registers and then for the tail.
template <class T, class F>
RL_INLINE void for_vectors(int64_t n, F&& f) {
  constexpr int64_t w = Vec<T>::size;
  int64_t i = 0;
  for (; i + w <= n; i += w) f(i, w);
  if (i < n) f(i, n - i);
}
template <class T>
RL_INLINE Vec<T> load(const T* p, int64_t count, T fill = T(0)) {
  return count == Vec<T>::size ? Vec<T>::load(p) : Vec<T>::load_partial(p, count, fill);
}
template <class T>
RL_INLINE void store(T* p, Vec<T> v, int64_t count) {
  if (count == Vec<T>::size) v.store(p);
  else v.store_partial(p, count);
}

// A running sum of vectors, kept in double.
struct WideSum {
  Vec<double> low{0.0}, high{0.0};
  RL_INLINE void add(Vec<float> x) {
    low += widen_low(x);
    high += widen_high(x);
  }
  RL_INLINE void add(Vec<double> x) { low += x; }
  RL_INLINE double total() const { return hsum(low + high); }
};

// Sum of f(i, count) over a row; lanes past the end must be zero.
template <class T, class F>
RL_INLINE double sum(int64_t n, F&& f) {
  constexpr int64_t w = Vec<T>::size;
  WideSum a, b;
  int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    a.add(f(i, w));
    b.add(f(i + w, w));
  }
  for (; i + w <= n; i += w) a.add(f(i, w));
  if (i < n) b.add(f(i, n - i));
  a.low += b.low;
  a.high += b.high;
  return a.total();
}

}  // namespace rows
}  // namespace rl::cpu::RL_ISA
