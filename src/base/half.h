// Small floating-point storage types: half, bfloat16 and four 8-bit formats.
// They only store; arithmetic happens in float. Conversions are plain integer code (constexpr,
// no intrinsics), always round to nearest even, and follow PyTorch at NaN and at overflow.
// Everything is force-inlined: kernel files compiled for several instruction sets include this
// header, and an out-of-line copy from one of them must never be picked for another.
#pragma once

#include <cstdint>
#include <limits>

#if defined(__CUDACC__)
#define RL_HALF_FN __host__ __device__ constexpr
#else
#define RL_HALF_FN [[gnu::always_inline]] constexpr
#endif

namespace rl {

// A binary format with a sign bit, E exponent bits and M mantissa bits.
template <int E, int M, int Bias>
struct SmallFloatCodec {
  static constexpr int kMinExp = 1 - Bias;

  // Magnitude code of |x| for finite x, rounded to nearest even. May exceed the largest code:
  // the caller decides between infinity, NaN and so on.
  RL_HALF_FN static std::uint32_t encode(std::uint32_t abs_bits) {
    int exponent = static_cast<int>(abs_bits >> 23) - 127;
    std::uint32_t mantissa = abs_bits & 0x7fffffu;
    if (exponent == -127) {
      exponent = -126;  // a float denormal
    } else {
      mantissa |= 0x800000u;
    }
    int base = exponent < kMinExp ? kMinExp : exponent;
    int shift = base - M - exponent + 23;
    if (shift > 25) return 0;
    std::uint32_t code = mantissa >> shift;
    std::uint32_t rest = mantissa & ((1u << shift) - 1);
    std::uint32_t tie = 1u << (shift - 1);
    if (rest > tie || (rest == tie && (code & 1))) ++code;
    return code + (static_cast<std::uint32_t>(base - kMinExp) << M);
  }

  // Float value of a finite magnitude code.
  RL_HALF_FN static float decode(std::uint32_t code) {
    std::uint32_t exponent = code >> M;
    std::uint32_t mantissa = code & ((1u << M) - 1);
    if (exponent == 0) {
      std::uint32_t unit = static_cast<std::uint32_t>(kMinExp - M + 127) << 23;
      return static_cast<float>(mantissa) * __builtin_bit_cast(float, unit);
    }
    std::uint32_t bits = ((exponent + 127 - Bias) << 23) | (mantissa << (23 - M));
    return __builtin_bit_cast(float, bits);
  }
};

namespace half_detail {

inline constexpr std::uint32_t kFloatInf = 0x7f800000u;

RL_HALF_FN float with_sign(float magnitude, std::uint32_t negative) {
  return negative ? -magnitude : magnitude;
}
RL_HALF_FN float quiet_nan() { return __builtin_bit_cast(float, 0x7fc00000u); }
RL_HALF_FN float infinity() { return __builtin_bit_cast(float, kFloatInf); }

RL_HALF_FN std::uint16_t half_from_float(float x) {
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > kFloatInf) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (bits >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and up
  return static_cast<std::uint16_t>(sign | SmallFloatCodec<5, 10, 15>::encode(bits));
}

RL_HALF_FN float half_to_float(std::uint16_t h) {
  std::uint32_t code = h & 0x7fffu;
  if (code >= 0x7c00u) {
    std::uint32_t bits = kFloatInf | ((code & 0x3ffu) << 13) | ((h & 0x8000u) << 16);
    return __builtin_bit_cast(float, bits);
  }
  return with_sign(SmallFloatCodec<5, 10, 15>::decode(code), h & 0x8000u);
}

RL_HALF_FN std::uint16_t bfloat16_from_float(float x) {
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  if ((bits & 0x7fffffffu) > kFloatInf) return 0x7fc0u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

RL_HALF_FN float bfloat16_to_float(std::uint16_t h) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(h) << 16);
}

// e4m3fn: no infinity, S.1111.111 is NaN; conversion saturates at the largest finite value, 448,
// infinities included, as PyTorch 2.15 does.
RL_HALF_FN std::uint8_t e4m3fn_from_float(float x) {
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t sign = (bits >> 24) & 0x80u;
  bits &= 0x7fffffffu;
  if (bits > kFloatInf) return static_cast<std::uint8_t>(sign | 0x7fu);
  if (bits >= 0x43e00000u) return static_cast<std::uint8_t>(sign | 0x7eu);  // 448 and up
  std::uint32_t code = SmallFloatCodec<4, 3, 7>::encode(bits);
  return static_cast<std::uint8_t>(sign | code);
}

RL_HALF_FN float e4m3fn_to_float(std::uint8_t b) {
  std::uint32_t code = b & 0x7fu;
  float magnitude = code == 0x7fu ? quiet_nan() : SmallFloatCodec<4, 3, 7>::decode(code);
  return with_sign(magnitude, b & 0x80u);
}

// e5m2: IEEE-like, with infinities; overflow goes to infinity.
RL_HALF_FN std::uint8_t e5m2_from_float(float x) {
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t sign = (bits >> 24) & 0x80u;
  bits &= 0x7fffffffu;
  if (bits > kFloatInf) return static_cast<std::uint8_t>(sign | 0x7fu);
  if (bits >= 0x47800000u) return static_cast<std::uint8_t>(sign | 0x7cu);  // 65536 and up
  return static_cast<std::uint8_t>(sign | SmallFloatCodec<5, 2, 15>::encode(bits));
}

RL_HALF_FN float e5m2_to_float(std::uint8_t b) {
  return half_to_float(static_cast<std::uint16_t>(b << 8));
}

// The "fnuz" formats: no infinity, no negative zero, 0x80 is the only NaN, bias one larger.
template <int E, int M, int Bias>
RL_HALF_FN std::uint8_t fnuz_from_float(float x) {
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t sign = (bits >> 24) & 0x80u;
  bits &= 0x7fffffffu;
  if (bits >= kFloatInf) return 0x80u;
  std::uint32_t code = SmallFloatCodec<E, M, Bias>::encode(bits);
  if (code > 0x7fu) return 0x80u;
  return code == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(sign | code);
}

template <int E, int M, int Bias>
RL_HALF_FN float fnuz_to_float(std::uint8_t b) {
  if (b == 0x80u) return quiet_nan();
  return with_sign(SmallFloatCodec<E, M, Bias>::decode(b & 0x7fu), b & 0x80u);
}

// e8m0fnu: a power of two without sign, 0xff is NaN. Halfway goes up, except between the two
// smallest; the sign is dropped and infinity becomes NaN, as in PyTorch.
RL_HALF_FN std::uint8_t e8m0fnu_from_float(float x) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffu;
  if (bits >= kFloatInf) return 0xffu;
  if (bits < 0x00800000u) return bits > 0x00400000u ? 1u : 0u;
  return static_cast<std::uint8_t>((bits + 0x00400000u) >> 23);
}

RL_HALF_FN float e8m0fnu_to_float(std::uint8_t b) {
  if (b == 0xffu) return quiet_nan();
  return __builtin_bit_cast(float, b == 0 ? 0x00400000u : std::uint32_t{b} << 23);
}

}  // namespace half_detail

// One storage type: NAME keeps its code in `bits`, converts to float by itself and from float on
// request. A default-constructed value is uninitialised, like a float.
#define RL_SMALL_FLOAT(NAME, UINT, FROM, TO)                                        \
  struct NAME {                                                                     \
    UINT bits;                                                                      \
    NAME() = default;                                                               \
    RL_HALF_FN explicit NAME(float x) : bits(half_detail::FROM(x)) {}               \
    RL_HALF_FN operator float() const { return half_detail::TO(bits); }             \
    RL_HALF_FN static NAME from_bits(UINT b) {                                      \
      NAME r(0.0f);                                                                 \
      r.bits = b;                                                                   \
      return r;                                                                     \
    }                                                                               \
  };                                                                                \
  static_assert(sizeof(NAME) == sizeof(UINT) && __is_trivial(NAME));

#define RL_COMMA ,
RL_SMALL_FLOAT(half, std::uint16_t, half_from_float, half_to_float)
RL_SMALL_FLOAT(bfloat16, std::uint16_t, bfloat16_from_float, bfloat16_to_float)
RL_SMALL_FLOAT(float8_e4m3fn, std::uint8_t, e4m3fn_from_float, e4m3fn_to_float)
RL_SMALL_FLOAT(float8_e5m2, std::uint8_t, e5m2_from_float, e5m2_to_float)
RL_SMALL_FLOAT(float8_e4m3fnuz, std::uint8_t, fnuz_from_float<4 RL_COMMA 3 RL_COMMA 8>,
               fnuz_to_float<4 RL_COMMA 3 RL_COMMA 8>)
RL_SMALL_FLOAT(float8_e5m2fnuz, std::uint8_t, fnuz_from_float<5 RL_COMMA 2 RL_COMMA 16>,
               fnuz_to_float<5 RL_COMMA 2 RL_COMMA 16>)
RL_SMALL_FLOAT(float8_e8m0fnu, std::uint8_t, e8m0fnu_from_float, e8m0fnu_to_float)
#undef RL_COMMA
#undef RL_SMALL_FLOAT

}  // namespace rl

namespace std {

// NAME, mantissa digits, max_exponent, min_exponent, then codes: largest, smallest normal,
// smallest denormal, epsilon, infinity (0 = none), NaN, lowest.
#define RL_LIMITS(NAME, DIGITS, MAXE, MINE, MAX, MIN, DENORM, EPS, INF, NAN_, LOWEST)   \
  template <>                                                                           \
  class numeric_limits<rl::NAME> {                                                      \
   public:                                                                              \
    static constexpr bool is_specialized = true;                                        \
    static constexpr bool is_signed = true;                                             \
    static constexpr bool is_integer = false;                                           \
    static constexpr bool is_exact = false;                                             \
    static constexpr bool has_infinity = (INF) != 0;                                    \
    static constexpr bool has_quiet_NaN = true;                                         \
    static constexpr bool has_signaling_NaN = false;                                    \
    static constexpr bool is_iec559 = (INF) != 0;                                       \
    static constexpr bool is_bounded = true;                                            \
    static constexpr bool is_modulo = false;                                            \
    static constexpr int digits = DIGITS;                                               \
    static constexpr int digits10 = (DIGITS - 1) * 301 / 1000;                          \
    static constexpr int max_digits10 = 2 + DIGITS * 301 / 1000;                        \
    static constexpr int radix = 2;                                                     \
    static constexpr int max_exponent = MAXE;                                           \
    static constexpr int min_exponent = MINE;                                           \
    static constexpr rl::NAME max() { return rl::NAME::from_bits(MAX); }                \
    static constexpr rl::NAME min() { return rl::NAME::from_bits(MIN); }                \
    static constexpr rl::NAME lowest() { return rl::NAME::from_bits(LOWEST); }          \
    static constexpr rl::NAME epsilon() { return rl::NAME::from_bits(EPS); }            \
    static constexpr rl::NAME round_error() { return rl::NAME(0.5f); }                  \
    static constexpr rl::NAME infinity() { return rl::NAME::from_bits(INF); }           \
    static constexpr rl::NAME quiet_NaN() { return rl::NAME::from_bits(NAN_); }         \
    static constexpr rl::NAME denorm_min() { return rl::NAME::from_bits(DENORM); }      \
  };

RL_LIMITS(half, 11, 16, -13, 0x7bff, 0x0400, 1, 0x1400, 0x7c00, 0x7e00, 0xfbff)
RL_LIMITS(bfloat16, 8, 128, -125, 0x7f7f, 0x0080, 1, 0x3c00, 0x7f80, 0x7fc0, 0xff7f)
RL_LIMITS(float8_e4m3fn, 4, 9, -5, 0x7e, 0x08, 1, 0x20, 0, 0x7f, 0xfe)
RL_LIMITS(float8_e5m2, 3, 16, -13, 0x7b, 0x04, 1, 0x34, 0x7c, 0x7f, 0xfb)
RL_LIMITS(float8_e4m3fnuz, 4, 8, -6, 0x7f, 0x08, 1, 0x28, 0, 0x80, 0xff)
RL_LIMITS(float8_e5m2fnuz, 3, 16, -14, 0x7f, 0x04, 1, 0x38, 0, 0x80, 0xff)
#undef RL_LIMITS

}  // namespace std
