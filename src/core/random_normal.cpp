// Normal numbers by the method of Box and Muller (Ann. Math. Stat. 29(2), 1958): one pair at a
// time in double, or blocks of sixteen in the type of the buffer.
#include <cmath>
#include <numbers>

#include "core/random_detail.h"
#include "core/random_streams.h"

namespace rl {

using namespace random_detail;

namespace {

// Eight radii, eight angles: results of the cosine in place of the radii, of the sine after them.
void normal_blocks(double* data, int64_t blocks, double mean, double std) {
  parallel_for(0, blocks, kGrain / 16, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double* d = data + 16 * b;
      for (int j = 0; j < 8; ++j) {
        double radius = std::sqrt(-2.0 * std::log(1.0 - d[j]));
        double angle = 2.0 * std::numbers::pi * d[j + 8];
        d[j] = std::fma(radius * std::cos(angle), std, mean);
        d[j + 8] = std::fma(radius * std::sin(angle), std, mean);
      }
    }
  });
}
void normal_blocks(float* data, int64_t blocks, double mean, double std) {
  random_loops().normal16(data, blocks, float(mean), float(std));
}

// All uniforms come first; a rest of n % 16 redraws the last sixteen numbers.
template <class T>
void fill_blocks(Generator& gen, T* out, int64_t n, double mean, double std) {
  // Float blocks follow their uniforms while these are in the cache.
  const int64_t step = std::is_same_v<T, float> ? kChunk : n;
  for (int64_t i = 0; i < n; i += step) {
    int64_t m = std::min(step, n - i);
    uniforms(gen, out + i, m);
    normal_blocks(out + i, m / 16, mean, std);
  }
  if (n % 16 != 0) {
    uniforms(gen, out + n - 16, 16);
    normal_blocks(out + n - 16, 1, mean, std);
  }
}

// 16-bit formats compute blocks in float; here the rest's own uniforms are never drawn.
template <class T>
void fill_blocks_reduced(Generator& gen, T* out, int64_t n, double mean, double std) {
  float wide[kChunk];
  auto blocks = [&](T* to, int64_t count) {
    uniforms(gen, wide, count);
    normal_blocks(wide, count / 16, mean, std);
    narrow_block(wide, to, count);
  };
  int64_t whole = n - n % 16;
  for (int64_t i = 0; i < whole; i += kChunk) blocks(out + i, std::min(kChunk, whole - i));
  if (whole != n) blocks(out + n - 16, 16);
}

}  // namespace

template <class T>
void fill_normal_scalar(Generator& gen, T* out, int64_t n, double mean, double std) {
  GeneratorLock lock(gen, n);
  for (int64_t i = 0; i < n; ++i) out[i] = narrow<T>(std::fma(gen.normal_double(), std, mean));
}

template <class T>
void fill_normal(Generator& gen, T* out, int64_t n, double mean, double std) {
  if (n < 16) return fill_normal_scalar(gen, out, n, mean, std);
  GeneratorLock lock(gen, n);
  if constexpr (is_reduced_v<T>) {
    fill_blocks_reduced(gen, out, n, mean, std);
  } else {
    fill_blocks(gen, out, n, mean, std);
  }
}

template <class T>
void fill_log_normal(Generator& gen, T* out, int64_t n, double mean, double std) {
  GeneratorLock lock(gen, n);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = narrow<T>(std::exp(std::fma(gen.normal_double(), std, mean)));
  }
}

#define RL_NORMAL(T)                                                               \
  template void fill_normal<T>(Generator&, T*, int64_t, double, double);           \
  template void fill_normal_scalar<T>(Generator&, T*, int64_t, double, double);    \
  template void fill_log_normal<T>(Generator&, T*, int64_t, double, double);
RL_NORMAL(float)
RL_NORMAL(double)
RL_NORMAL(half)
RL_NORMAL(bfloat16)

}  // namespace rl
