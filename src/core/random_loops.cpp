// The hot loops of the random streams, compiled for three levels of x86-64 from one body each.
#pragma GCC optimize("O3,no-math-errno,no-trapping-math")
#include "core/random_loops.h"

#include "base/half.h"
#if defined(__x86_64__)
#include <immintrin.h>
#define RL_HAVE_LEVELS 1
#endif

namespace rl {
namespace {

#define RL_BODY [[gnu::always_inline]] inline

// ---- mt19937 (Matsumoto and Nishimura 1998)

RL_BODY uint32_t mix(uint32_t upper, uint32_t lower) {
  uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
  return (y >> 1) ^ ((0u - (lower & 1u)) & 0x9908b0dfu);
}

RL_BODY void twist_body(uint32_t* w) {
  // Distances of 397 and 227 words between what is written and what is read: any vector fits.
#pragma GCC ivdep
  for (int i = 0; i < 227; ++i) w[i] = w[i + 397] ^ mix(w[i], w[i + 1]);
#pragma GCC ivdep
  for (int i = 227; i < 454; ++i) w[i] = w[i - 227] ^ mix(w[i], w[i + 1]);
#pragma GCC ivdep
  for (int i = 454; i < 623; ++i) w[i] = w[i - 227] ^ mix(w[i], w[i + 1]);
  w[623] = w[396] ^ mix(w[623], w[0]);
}

RL_BODY void temper_body(const uint32_t* __restrict w, uint32_t* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t y = w[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

// ---- uniforms

RL_BODY void uniform_float_body(const uint32_t* __restrict draws, float* __restrict out,
                                int64_t count, float from, float to) {
  float range = to - from;
  for (int64_t i = 0; i < count; ++i) {
    float u = float(int32_t(draws[i] & 0xffffffu)) * 0x1p-24f;
    float x = __builtin_fmaf(u, range, from);
    out[i] = x == to ? from : x;
  }
}

RL_BODY uint64_t pair53(const uint32_t* draws, int64_t i) {
  uint64_t pair;
  __builtin_memcpy(&pair, draws + 2 * i, 8);
  return (pair << 32 | pair >> 32) & 0x1fffffffffffffu;
}

RL_BODY void uniform_double_body(const uint32_t* __restrict draws, double* __restrict out,
                                 int64_t count, double from, double to) {
  double range = to - from;
  for (int64_t i = 0; i < count; ++i) {
    double u = double(int64_t(pair53(draws, i))) * 0x1p-53;
    double x = __builtin_fma(u, range, from);
    out[i] = x == to ? from : x;
  }
}

RL_BODY void below53_body(const uint32_t* __restrict draws, uint8_t* __restrict out,
                          int64_t count, uint64_t limit) {
  for (int64_t i = 0; i < count; ++i) out[i] = int64_t(pair53(draws, i)) < int64_t(limit);
}

// ---- Box-Muller in float
// Logarithm, sine and cosine are the single precision polynomials of S. Moshier, "Methods and
// Programs for Mathematical Functions" (1989), evaluated with fused multiply-adds.

RL_BODY float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

RL_BODY float log_positive(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  float m = __builtin_bit_cast(float, (bits & 0x7fffffu) | 0x3f000000u);
  bool small = m < 0.707106781186547524f;
  float e = float(int32_t(bits >> 23) - 126) - (small ? 1.0f : 0.0f);
  m = (m - 1.0f) + (small ? m : 0.0f);
  float z = m * m;
  float y = 7.0376836292e-2f;
  y = fma_(y, m, -1.1514610310e-1f);
  y = fma_(y, m, 1.1676998740e-1f);
  y = fma_(y, m, -1.2420140846e-1f);
  y = fma_(y, m, 1.4249322787e-1f);
  y = fma_(y, m, -1.6668057665e-1f);
  y = fma_(y, m, 2.0000714765e-1f);
  y = fma_(y, m, -2.4999993993e-1f);
  y = fma_(y, m, 3.3333331174e-1f);
  y = fma_(y * m, z, e * -2.12194440e-4f);
  y = fma_(-z, 0.5f, y);
  return fma_(e, 0.693359375f, m + y);
}

struct SinCos {
  float sin, cos;
};

// For 0 <= x <= 2 pi. pi/4 in three parts keeps the reduction exact to single precision.
RL_BODY SinCos sincos_turn(float x) {
  int32_t octant = (int32_t(x * 1.27323954473516f) + 1) & ~1;
  float n = float(octant);
  x = fma_(n, -0.78515625f, x);
  x = fma_(n, -2.4187564849853515625e-4f, x);
  x = fma_(n, -3.77489497744594108e-8f, x);
  float z = x * x;
  float c = fma_(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fma_(c, z, 4.166664568298827e-2f);
  c = fma_(c * z, z, -(z * 0.5f)) + 1.0f;
  float s = fma_(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fma_(s, z, -1.6666654611e-1f);
  s = fma_(s * z, x, x);
  uint32_t swap = 0u - uint32_t((octant >> 1) & 1);
  uint32_t sb = __builtin_bit_cast(uint32_t, s), cb = __builtin_bit_cast(uint32_t, c);
  uint32_t sin_sign = uint32_t(octant & 4) << 29;
  uint32_t cos_sign = uint32_t(~(octant - 2) & 4) << 29;
  return {__builtin_bit_cast(float, ((swap & cb) | (~swap & sb)) ^ sin_sign),
          __builtin_bit_cast(float, ((swap & sb) | (~swap & cb)) ^ cos_sign)};
}

RL_BODY void normal16_body(float* data, int64_t blocks, float mean, float std) {
  constexpr int kPairs = 16 * 8;
  float radius[kPairs], angle[kPairs];
  while (blocks > 0) {
    int64_t n = blocks < 16 ? blocks : 16;
    for (int64_t b = 0; b < n; ++b) {
      for (int j = 0; j < 8; ++j) radius[8 * b + j] = 1.0f - data[16 * b + j];
      for (int j = 0; j < 8; ++j) angle[8 * b + j] = data[16 * b + 8 + j];
    }
    for (int64_t i = 0; i < 8 * n; ++i) {
      float r = __builtin_sqrtf(-2.0f * log_positive(radius[i]));
      SinCos t = sincos_turn(6.283185307179586f * angle[i]);
      radius[i] = fma_(r * t.cos, std, mean);
      angle[i] = fma_(r * t.sin, std, mean);
    }
    for (int64_t b = 0; b < n; ++b) {
      for (int j = 0; j < 8; ++j) data[16 * b + j] = radius[8 * b + j];
      for (int j = 0; j < 8; ++j) data[16 * b + 8 + j] = angle[8 * b + j];
    }
    data += 16 * n;
    blocks -= n;
  }
}

// ---- logarithm in double
// log(m 2^e) = e log 2 + 2 atanh((m - 1) / (m + 1)), the series of atanh up to the 21st power.

RL_BODY double log_unit(double x) {
  uint64_t bits = __builtin_bit_cast(uint64_t, x);
  // Bias the exponent so that m lies in [1/sqrt(2), sqrt(2)).
  uint64_t shifted = bits - 0x3fe6a09e667f3bcdu;
  int64_t exponent = int64_t(shifted) >> 52;
  double m = __builtin_bit_cast(double, bits - (uint64_t(exponent) << 52));
  // Small integers to double by way of the mantissa: one instruction set has no such conversion.
  double e = __builtin_bit_cast(double, 0x4338000000000000u + uint64_t(exponent)) - 0x1.8p52;
  double f = m - 1.0, s = f / (2.0 + f), z = s * s;
  double p = 1.0 / 21;
  p = __builtin_fma(p, z, 1.0 / 19);
  p = __builtin_fma(p, z, 1.0 / 17);
  p = __builtin_fma(p, z, 1.0 / 15);
  p = __builtin_fma(p, z, 1.0 / 13);
  p = __builtin_fma(p, z, 1.0 / 11);
  p = __builtin_fma(p, z, 1.0 / 9);
  p = __builtin_fma(p, z, 1.0 / 7);
  p = __builtin_fma(p, z, 1.0 / 5);
  p = __builtin_fma(p, z, 1.0 / 3);
  // 2 s = f - s f, so that the leading term f is exact.
  double tail = __builtin_fma(2.0 * s * z, p, e * 1.90821492927058770002e-10);
  double log_m = f - __builtin_fma(s, f, -tail);
  return __builtin_fma(e, 6.93147180369123816490e-01, log_m);
}

// Adding zero turns -0 into 0.
RL_BODY void log_complement_body(double* x, int64_t count, double scale) {
  for (int64_t i = 0; i < count; ++i) x[i] = scale * log_unit(1.0 - x[i]) + 0.0;
}

// ---- 16-bit formats

RL_BODY void to_bfloat16_body(const float* __restrict x, uint16_t* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = __builtin_bit_cast(uint32_t, x[i]);
    out[i] = uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
}

void to_half_base(const float* x, uint16_t* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = half(x[i]).bits;
}
#if defined(RL_HAVE_LEVELS)
[[gnu::target("arch=x86-64-v3")]] void to_half_v3(const float* x, uint16_t* out, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), h);
  }
  for (; i < count; ++i) out[i] = half(x[i]).bits;
}
constexpr auto to_half_v4 = to_half_v3;
#endif

// ---- one table for each instruction set

#define RL_LOOPS(LEVEL, TARGET)                                                                  \
  TARGET void twist_##LEVEL(uint32_t* w) { twist_body(w); }                                      \
  TARGET void temper_##LEVEL(const uint32_t* w, uint32_t* out, int64_t n) {                      \
    temper_body(w, out, n);                                                                      \
  }                                                                                              \
  TARGET void uniform_float_##LEVEL(const uint32_t* d, float* out, int64_t n, float a, float b) { \
    uniform_float_body(d, out, n, a, b);                                                         \
  }                                                                                              \
  TARGET void uniform_double_##LEVEL(const uint32_t* d, double* out, int64_t n, double a,        \
                                     double b) {                                                 \
    uniform_double_body(d, out, n, a, b);                                                        \
  }                                                                                              \
  TARGET void below53_##LEVEL(const uint32_t* d, uint8_t* out, int64_t n, uint64_t limit) {      \
    below53_body(d, out, n, limit);                                                              \
  }                                                                                              \
  TARGET void log_complement_##LEVEL(double* x, int64_t n, double scale) {                       \
    log_complement_body(x, n, scale);                                                            \
  }                                                                                              \
  TARGET void to_bfloat16_##LEVEL(const float* x, uint16_t* out, int64_t n) {                    \
    to_bfloat16_body(x, out, n);                                                                 \
  }                                                                                              \
  TARGET void normal16_##LEVEL(float* data, int64_t blocks, float mean, float std) {             \
    normal16_body(data, blocks, mean, std);                                                      \
  }                                                                                              \
  constexpr RandomLoops kLoops_##LEVEL{twist_##LEVEL,          temper_##LEVEL,                   \
                                       uniform_float_##LEVEL,  uniform_double_##LEVEL,           \
                                       below53_##LEVEL,        normal16_##LEVEL,                 \
                                       log_complement_##LEVEL, to_half_##LEVEL,                  \
                                       to_bfloat16_##LEVEL};

RL_LOOPS(base, )
#if defined(RL_HAVE_LEVELS)
RL_LOOPS(v3, [[gnu::target("arch=x86-64-v3")]])
RL_LOOPS(v4, [[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]])
#endif

}  // namespace

const RandomLoops& random_loops() {
#if defined(RL_HAVE_LEVELS)
  static const RandomLoops& best = __builtin_cpu_supports("x86-64-v4")   ? kLoops_v4
                                   : __builtin_cpu_supports("x86-64-v3") ? kLoops_v3
                                                                         : kLoops_base;
  return best;
#else
  return kLoops_base;
#endif
}

}  // namespace rl
