// Shared by the files of the random streams: draws in bulk, transformed in parallel.
#pragma once
#include <algorithm>
#include <memory>
#include <type_traits>

#include "base/half.h"
#include "base/parallel.h"
#include "core/generator.h"
#include "core/random_loops.h"

namespace rl::random_detail {

constexpr int64_t kChunk = 2048;       // draws converted at a time: they stay in the first cache
constexpr int64_t kBatch = 1 << 18;    // uniforms transformed at a time, by all threads
constexpr int64_t kGrain = 1 << 15;    // transforms for one thread: a millisecond or less

template <class T>
inline constexpr bool is_reduced_v = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <class T>  // the type arithmetic is done in
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Double to T as PyTorch converts: through float for the 16-bit formats.
template <class T>
inline T narrow(double x) {
  if constexpr (is_reduced_v<T>) {
    return T(float(x));
  } else {
    return T(x);
  }
}
template <class T>
inline T from_int(int64_t x) {
  if constexpr (is_reduced_v<T>) {
    return T(float(x));
  } else {
    return T(x);
  }
}

template <class T>
inline void narrow_block(const float* x, T* out, int64_t count) {
  static_assert(is_reduced_v<T> && sizeof(T) == 2);
  auto* bits = reinterpret_cast<uint16_t*>(out);
  if constexpr (std::is_same_v<T, half>) {
    random_loops().to_half(x, bits, count);
  } else {
    random_loops().to_bfloat16(x, bits, count);
  }
}

// Uniforms of [from, to) as `count` calls of uniform_float() or uniform_double() give them.
inline void uniforms(Generator& gen, float* out, int64_t count, float from = 0, float to = 1) {
  uint32_t draws[kChunk];
  for (int64_t i = 0; i < count; i += kChunk) {
    int64_t m = std::min(kChunk, count - i);
    gen.random_block(draws, m);
    random_loops().uniform_float(draws, out + i, m, from, to);
  }
}
inline void uniforms(Generator& gen, double* out, int64_t count, double from = 0, double to = 1) {
  uint32_t draws[kChunk];
  for (int64_t i = 0; i < count; i += kChunk / 2) {
    int64_t m = std::min(kChunk / 2, count - i);
    gen.random_block(draws, 2 * m);
    random_loops().uniform_double(draws, out + i, m, from, to);
  }
}

// out[i] = f(u), u one double uniform for each element.
template <class T, class F>
void transform_uniforms(Generator& gen, T* out, int64_t n, const F& f) {
  std::unique_ptr<double[]> u(new double[std::min(n, kBatch)]);
  for (int64_t i = 0; i < n; i += kBatch) {
    int64_t m = std::min(kBatch, n - i);
    uniforms(gen, u.get(), m);
    parallel_for(0, m, kGrain, [&](int64_t b, int64_t e) {
      for (int64_t k = b; k < e; ++k) out[i + k] = f(u[k]);
    });
  }
}

}  // namespace rl::random_detail
