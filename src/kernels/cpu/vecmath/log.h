// log, log2, log10, log1p, asinh, acosh, atanh.
// Method: x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); with s = f / (2 + f),
//   log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))),   R(z) = z (2/3 + 2/5 z + ...)
// which keeps the leading term exact (Tang, ACM TOMS 16:4, 1990; also used by fdlibm).
#pragma once

#include "kernels/cpu/vecmath/core.h"

namespace rl::cpu::RL_ISA {

template <class T> struct log_table;
template <> struct log_table<float> {
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float c[] = {0.666667759f, 0.399775416f, 0.29871735f};  // R(z) / z
  // 1/ln2 and 1/ln10 in two parts: the first short enough for exact products with 12-bit numbers.
  static constexpr std::int32_t short_mask = std::int32_t(0xfffff000);
  static constexpr float log2e_hi = 0x1.716p+0f, log2e_lo = -0x1.7135a8p-13f;
  static constexpr float log10e_hi = 0x1.bccp-2f, log10e_lo = -0x1.09d5b2p-15f;
  static constexpr float log10_2_hi = 0x1.344p-2f, log10_2_lo = 0x1.3509f8p-18f;
};
template <> struct log_table<double> {
  static constexpr double ln2_hi = 0x1.62e42ffp-1, ln2_lo = -0x1.718432a1b0e26p-35;
  static constexpr double c[] = {0.6666666666666734,  0.39999999999414643, 0.2857142874239354,
                                 0.22222198572739424, 0.18183564343139369, 0.15314050237483792,
                                 0.14795951889794676};
  static constexpr std::int64_t short_mask = std::int64_t(0xffffffff00000000);
  static constexpr double log2e_hi = 0x1.71547p+0, log2e_lo = 0x1.94ae0bf85ddf4p-22;
  static constexpr double log10e_hi = 0x1.bcb7bp-2, log10e_lo = 0x1.526e50e32a6abp-26;
  static constexpr double log10_2_hi = 0x1.344135p-2, log10_2_lo = 0x1.3ef3fde623e25p-31;
};

template <class T> struct LogParts {
  Vec<T> k, f;  // x = 2^k (1 + f)
};
// x positive and normal.
template <class T> RL_INLINE LogParts<T> log_parts(Vec<T> x) {
  using U = std::make_unsigned_t<int_like<T>>;
  using VU = Vec<U>;
  constexpr U bias = U(fp<T>::bias) << fp<T>::mantissa;
  VU bits = bit_cast<U>(x);
  VU offset = bits - bit_cast<U>(Vec<T>(T(0.70710678118654752440))) + VU(bias);
  VU exponent = offset >> fp<T>::mantissa;  // biased, so never negative
  VU mantissa = bits - ((exponent - VU(U(fp<T>::bias))) << fp<T>::mantissa);
  Vec<T> k = from_int<T>(bit_cast<int_like<T>>(exponent) - Vec<int_like<T>>(fp<T>::bias));
  return {k, bit_cast<T>(mantissa) - Vec<T>(1)};
}
// The same for denormals too.
template <class T> RL_INLINE LogParts<T> log_parts_any(Vec<T> x) {
  constexpr T up = sizeof(T) == 4 ? T(0x1p25) : T(0x1p54);
  constexpr T down = sizeof(T) == 4 ? T(-25) : T(-54);
  Mask<T> small = x < Vec<T>(fp<T>::min_normal);
  LogParts<T> p = log_parts(select(small, x * Vec<T>(up), x));
  p.k = p.k + select(small, Vec<T>(down), Vec<T>(0));
  return p;
}
// s (f^2/2 + R): what log(1 + f) has beyond f - f^2/2.
template <class T> RL_INLINE Vec<T> log_tail(Vec<T> f, Vec<T> half_square) {
  Vec<T> s = f / (f + Vec<T>(2)), z = s * s;
  return s * (half_square + z * horner(z, log_table<T>::c));
}
// NaN below `pole`, -inf at it, and x itself where x is inf or NaN.
template <class T> RL_INLINE Vec<T> log_special(Vec<T> x, T pole, Vec<T> r) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  Vec<T> other = select(x < Vec<T>(pole), Vec<T>(std::numeric_limits<T>::quiet_NaN()), x);
  other = select(x == Vec<T>(pole), Vec<T>(-inf), other);
  return select((x > Vec<T>(pole)) & (x < Vec<T>(inf)), r, other);
}

template <class T> RL_INLINE Vec<T> log(Vec<T> x) {
  using C = log_table<T>;
  LogParts<T> p = log_parts_any(x);
  Vec<T> hf = Vec<T>(0.5) * p.f * p.f;
  Vec<T> low = fma(p.k, Vec<T>(C::ln2_lo), log_tail(p.f, hf));
  Vec<T> r = fma(p.k, Vec<T>(C::ln2_hi), -((hf - low) - p.f));
  return log_special(x, T(0), r);
}

// (high + low) * (c_hi + c_lo) + k * (k_hi + k_lo) with the leading product exact.
template <class T>
RL_INLINE Vec<T> log_in_base(Vec<T> x, T c_hi, T c_lo, T k_hi, T k_lo) {
  LogParts<T> p = log_parts_any(x);
  Vec<T> hf = Vec<T>(0.5) * p.f * p.f;
  Vec<T> hi = bit_cast<T>(to_bits(p.f - hf) & Vec<int_like<T>>(log_table<T>::short_mask));
  Vec<T> lo = (p.f - hi) - hf + log_tail(p.f, hf);
  Vec<T> high = hi * Vec<T>(c_hi), whole = p.k * Vec<T>(k_hi);
  Vec<T> low = (lo + hi) * Vec<T>(c_lo) + lo * Vec<T>(c_hi) + p.k * Vec<T>(k_lo);
  Vec<T> sum = whole + high;
  low = low + ((whole - sum) + high);
  return log_special(x, T(0), sum + low);
}
template <class T> RL_INLINE Vec<T> log2(Vec<T> x) {
  using C = log_table<T>;
  return log_in_base<T>(x, C::log2e_hi, C::log2e_lo, T(1), T(0));
}
template <class T> RL_INLINE Vec<T> log10(Vec<T> x) {
  using C = log_table<T>;
  return log_in_base<T>(x, C::log10e_hi, C::log10e_lo, C::log10_2_hi, C::log10_2_lo);
}

template <class T> RL_INLINE Vec<T> log1p(Vec<T> x) {
  using C = log_table<T>;
  Vec<T> one(1), u = x + one;
  LogParts<T> p = log_parts(u);
  // What u lost in rounding; nothing where 1 + x needed no scaling, because then f is x itself.
  Vec<T> lost = select(x > one, one - (u - x), x - (u - one)) / u;
  Mask<T> direct = p.k == Vec<T>(0);
  p.f = select(direct, x, p.f);
  lost = select(direct, Vec<T>(0), lost);
  Vec<T> hf = Vec<T>(0.5) * p.f * p.f;
  Vec<T> low = fma(p.k, Vec<T>(C::ln2_lo), lost) + log_tail(p.f, hf);
  Vec<T> r = fma(p.k, Vec<T>(C::ln2_hi), -((hf - low) - p.f));
  r = log_special(x, T(-1), r);
  return select(abs(x) < Vec<T>(std::numeric_limits<T>::epsilon() / 4), x, r);
}

template <class T> RL_INLINE Vec<T> asinh(Vec<T> x) {
  Vec<T> a = abs(x), one(1), square = a * a;
  Mask<T> large = a > Vec<T>(T(0x1p30));
  Vec<T> t = a + square / (one + sqrt(square + one));
  Vec<T> r = log1p(select(large, a, t));  // log1p(a) = log(a) there
  r = select(large, r + Vec<T>(0.69314718055994530942), r);
  return copysign(r, x);
}
template <class T> RL_INLINE Vec<T> acosh(Vec<T> x) {
  Vec<T> t = x - Vec<T>(1);
  Mask<T> large = x > Vec<T>(T(0x1p30));
  Vec<T> r = log1p(select(large, x, t + sqrt(t * (t + Vec<T>(2)))));
  r = select(large, r + Vec<T>(0.69314718055994530942), r);
  return select(x < Vec<T>(1), Vec<T>(std::numeric_limits<T>::quiet_NaN()), r);
}
template <class T> RL_INLINE Vec<T> atanh(Vec<T> x) {
  Vec<T> a = abs(x), one(1), twice = a + a;
  Vec<T> small = twice + twice * a / (one - a), large = twice / (one - a);
  Vec<T> r = Vec<T>(0.5) * log1p(select(a < Vec<T>(0.5), small, large));
  return copysign(r, x);
}

RL_SCALAR_TWIN_1(log)
RL_SCALAR_TWIN_1(log2)
RL_SCALAR_TWIN_1(log10)
RL_SCALAR_TWIN_1(log1p)
RL_SCALAR_TWIN_1(asinh)
RL_SCALAR_TWIN_1(acosh)
RL_SCALAR_TWIN_1(atanh)

}  // namespace rl::cpu::RL_ISA
