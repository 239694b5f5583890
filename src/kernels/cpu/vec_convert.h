// Between storage and compute types: half, bfloat16 and the 8-bit floats are loaded as Vec<float>
// and stored from it, rounding to nearest even on every instruction set. The AVX512-BF16
// instruction is not used: it flushes denormals, the integer code below does not.
#pragma once

#include "base/half.h"
#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {

template <class S>
inline constexpr bool is_small_float =
    std::is_same_v<S, half> || std::is_same_v<S, bfloat16> || std::is_same_v<S, float8_e4m3fn> ||
    std::is_same_v<S, float8_e5m2> || std::is_same_v<S, float8_e4m3fnuz> ||
    std::is_same_v<S, float8_e5m2fnuz> || std::is_same_v<S, float8_e8m0fnu>;

using Lanes16 = raw_t<std::uint16_t, kVecBytes / 2>;  // as many 16-bit lanes as Vec<float> has

RL_INLINE Vec<float> float_of(Lanes16 h, half) {
#if RL_VEC_BYTES == 64
  return Vec<float>(_mm512_cvtph_ps((__m256i)h));
#elif RL_VEC_BYTES == 32
  return Vec<float>(_mm256_cvtph_ps((__m128i)h));
#else
  Vec<float> r;
  for (int i = 0; i < Vec<float>::size; ++i) r.set(i, half_detail::half_to_float(h[i]));
  return r;
#endif
}

RL_INLINE Lanes16 bits_of(Vec<float> x, half) {
#if RL_VEC_BYTES == 64
  return (Lanes16)_mm512_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif RL_VEC_BYTES == 32
  return (Lanes16)_mm256_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  Lanes16 r;
  for (int i = 0; i < Vec<float>::size; ++i) r[i] = half_detail::half_from_float(x[i]);
  return r;
#endif
}

RL_INLINE Vec<float> float_of(Lanes16 h, bfloat16) {
  Vec<std::uint32_t> wide(__builtin_convertvector(h, raw_t<std::uint32_t>));
  return bit_cast<float>(wide << 16);
}

RL_INLINE Lanes16 bits_of(Vec<float> x, bfloat16) {
  using U = Vec<std::uint32_t>;
  U bits = bit_cast<std::uint32_t>(x);
  U rounded = (bits + U(0x7fffu) + ((bits >> 16) & U(1u))) >> 16;
  U r = select(mask_cast<std::uint32_t>(is_nan(x)), U(0x7fc0u), rounded);
  return __builtin_convertvector(r.v, Lanes16);
}

// Vec<float> from `Vec<float>::size` stored values.
RL_INLINE Vec<float> load_float(const float* p) { return Vec<float>::load(p); }
template <class S> requires is_small_float<S>
RL_INLINE Vec<float> load_float(const S* p) {
  if constexpr (sizeof(S) == 2) {
    Lanes16 h;
    __builtin_memcpy(&h, p, sizeof(h));
    return float_of(h, S());
  } else {
    Vec<float> r;
    for (int i = 0; i < Vec<float>::size; ++i) r.set(i, float(p[i]));
    return r;
  }
}

RL_INLINE void store_float(float* p, Vec<float> x) { x.store(p); }
template <class S> requires is_small_float<S>
RL_INLINE void store_float(S* p, Vec<float> x) {
  if constexpr (sizeof(S) == 2) {
    Lanes16 h = bits_of(x, S());
    __builtin_memcpy(p, &h, sizeof(h));
  } else {
    for (int i = 0; i < Vec<float>::size; ++i) p[i] = S(x[i]);
  }
}

// The first n lanes only; nothing beyond is touched.
template <class S> RL_INLINE Vec<float> load_float_partial(const S* p, std::int64_t n) {
  S lane[Vec<float>::size];
  for (int i = 0; i < Vec<float>::size; ++i) lane[i] = i < n ? p[i] : S(0.0f);
  return load_float(lane);
}
template <class S> RL_INLINE void store_float_partial(S* p, Vec<float> x, std::int64_t n) {
  S lane[Vec<float>::size];
  store_float(lane, x);
  for (std::int64_t i = 0; i < n; ++i) p[i] = lane[i];
}

// Contiguous runs of any length, the building block of mixed-dtype loops.
template <class S> requires is_small_float<S>
inline void convert_tile(float* dst, const S* src, std::int64_t n) {
  constexpr int step = Vec<float>::size;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) load_float(src + i).store(dst + i);
  if (i < n) load_float_partial(src + i, n - i).store_partial(dst + i, n - i);
}
template <class S> requires is_small_float<S>
inline void convert_tile(S* dst, const float* src, std::int64_t n) {
  constexpr int step = Vec<float>::size;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) store_float(dst + i, Vec<float>::load(src + i));
  if (i < n) store_float_partial(dst + i, Vec<float>::load_partial(src + i, n - i), n - i);
}
// Between all other real types: C conversions, which compilers vectorise.
template <class D, class S> requires(!is_small_float<D> && !is_small_float<S>)
inline void convert_tile(D* dst, const S* src, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dst[i] = static_cast<D>(src[i]);
}

}  // namespace rl::cpu::RL_ISA
