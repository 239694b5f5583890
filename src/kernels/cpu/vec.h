// Vec<T>: one register of T (16, 32 or 64 bytes by instruction set); Mask<T>: a comparison of two.
//
// How element-wise code uses it. A functor (kernels/functors/*.h) is written once with a template
// call operator and serves a scalar T and a Vec<T>; it says whether the Vec form exists with
//     static constexpr bool vectorized = ...;        // a member of the functor, per T
// Loops ask `F::vectorized`; if it is false they call the functor with plain scalars. A functor
// that answers yes or no returns bool for scalars and Mask<T> for Vec (mask_t<V>), and
// Mask::store(bool*) writes it. Tails: load_partial / store_partial, so that every element goes
// through the same instructions whatever its position.
//
// Scalar twins of all free functions below (select, fma, maximum, ...) exist for float, double
// and integers, with the same rounding, so a generic body needs no `if constexpr`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cpu/isa.h"

namespace rl::cpu::RL_ISA {

inline constexpr int kVecBytes = RL_VEC_BYTES;

template <class T>
inline constexpr bool is_real_float = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool vectorizable = is_real_float<T> || is_int<T>;

template <int Bytes> struct int_of_size;
template <> struct int_of_size<1> { using type = std::int8_t; };
template <> struct int_of_size<2> { using type = std::int16_t; };
template <> struct int_of_size<4> { using type = std::int32_t; };
template <> struct int_of_size<8> { using type = std::int64_t; };
template <class T> using int_like = typename int_of_size<sizeof(T)>::type;

// A vector of `Bytes` bytes of T, the compiler's own type.
template <class T, int Bytes = kVecBytes>
struct raw_vector {
  typedef T type __attribute__((vector_size(Bytes)));
};
template <class T, int Bytes = kVecBytes>
using raw_t = typename raw_vector<T, Bytes>::type;

// ---- Mask ------------------------------------------------------------------------------------

template <class T>
struct Mask {
  static constexpr int size = kVecBytes / int(sizeof(T));
  using Int = int_like<T>;
  using Raw = raw_t<Int>;
  Raw v;  // each lane 0 or -1

  Mask() = default;
  RL_INLINE explicit Mask(Raw r) : v(r) {}
  RL_INLINE Mask(bool b) : v(Raw{} - Int(b)) {}
  RL_INLINE static Mask first(std::int64_t n) {  // lanes 0..n-1
    Raw lane;
    for (int i = 0; i < size; ++i) lane[i] = Int(i);
    Raw limit = Raw{} + Int(n < size ? n : size - 1);  // `size` itself may not fit a lane
    return Mask((lane < limit) | Mask(n >= size).v);
  }
  RL_INLINE bool operator[](int i) const { return v[i] != 0; }
  RL_INLINE friend Mask operator&(Mask a, Mask b) { return Mask(a.v & b.v); }
  RL_INLINE friend Mask operator|(Mask a, Mask b) { return Mask(a.v | b.v); }
  RL_INLINE friend Mask operator^(Mask a, Mask b) { return Mask(a.v ^ b.v); }
  RL_INLINE friend Mask operator!(Mask a) { return Mask(~a.v); }
  RL_INLINE friend Mask operator==(Mask a, Mask b) { return Mask(~(a.v ^ b.v)); }
  RL_INLINE friend Mask operator!=(Mask a, Mask b) { return a ^ b; }

  // One byte per lane, 0 or 1: the storage of a bool tensor.
  RL_INLINE void store(bool* p) const {
    typedef std::int8_t Bytes __attribute__((vector_size(size)));
    Bytes b = __builtin_convertvector(v, Bytes) & 1;
    __builtin_memcpy(p, &b, size);
  }
  RL_INLINE void store_partial(bool* p, std::int64_t n) const {
    bool all_lanes[size];
    store(all_lanes);
    for (std::int64_t i = 0; i < n; ++i) p[i] = all_lanes[i];
  }
  RL_INLINE static Mask load(const bool* p) {
    typedef std::int8_t Bytes __attribute__((vector_size(size)));
    Bytes b;
    __builtin_memcpy(&b, p, size);
    return Mask(__builtin_convertvector(b != 0, Raw));
  }
};

template <class T>
RL_INLINE bool any(Mask<T> m) {
#if RL_VEC_BYTES == 64
  return _mm512_test_epi64_mask((__m512i)m.v, (__m512i)m.v) != 0;
#elif RL_VEC_BYTES == 32
  return _mm256_movemask_epi8((__m256i)m.v) != 0;
#else
  typedef long long Two __attribute__((vector_size(16)));
  Two t = (Two)m.v;
  return (t[0] | t[1]) != 0;
#endif
}
template <class T> RL_INLINE bool all(Mask<T> m) { return !any(!m); }
RL_INLINE bool any(bool b) { return b; }
RL_INLINE bool all(bool b) { return b; }

// ---- Vec -------------------------------------------------------------------------------------

template <class T>
struct Vec {
  static_assert(vectorizable<T>);
  static constexpr int size = kVecBytes / int(sizeof(T));
  using value_type = T;
  using Raw = raw_t<T>;
  Raw v;

  Vec() = default;
  RL_INLINE explicit Vec(Raw r) : v(r) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  RL_INLINE Vec(S x) {
    T t = static_cast<T>(x);
    for (int i = 0; i < size; ++i) v[i] = t;
  }

  RL_INLINE T operator[](int i) const { return v[i]; }
  RL_INLINE void set(int i, T x) { v[i] = x; }

  RL_INLINE static Vec load(const T* p) {
    Vec r;
    __builtin_memcpy(&r.v, p, kVecBytes);
    return r;
  }
  RL_INLINE void store(T* p) const { __builtin_memcpy(p, &v, kVecBytes); }
  // The first n (0..size) elements; the other lanes get `fill`, nothing past p[n-1] is touched.
  RL_INLINE static Vec load_partial(const T* p, std::int64_t n, T fill = T()) {
    return load_masked(p, Mask<T>::first(n), Vec(fill));
  }
  RL_INLINE void store_partial(T* p, std::int64_t n) const { store_masked(p, Mask<T>::first(n)); }
  static Vec load_masked(const T* p, Mask<T> m, Vec otherwise);
  void store_masked(T* p, Mask<T> m) const;

  RL_INLINE static Vec iota(T start = T()) {
    Vec r;
    for (int i = 0; i < size; ++i) r.v[i] = T(start + T(i));
    return r;
  }

  RL_INLINE friend Vec operator+(Vec a, Vec b) { return Vec(a.v + b.v); }
  RL_INLINE friend Vec operator-(Vec a, Vec b) { return Vec(a.v - b.v); }
  RL_INLINE friend Vec operator*(Vec a, Vec b) { return Vec(a.v * b.v); }
  RL_INLINE friend Vec operator/(Vec a, Vec b) { return Vec(a.v / b.v); }
  RL_INLINE friend Vec operator-(Vec a) { return Vec(-a.v); }
  RL_INLINE friend Vec operator%(Vec a, Vec b) requires is_int<T> { return Vec(a.v % b.v); }
  RL_INLINE friend Vec operator&(Vec a, Vec b) requires is_int<T> { return Vec(a.v & b.v); }
  RL_INLINE friend Vec operator|(Vec a, Vec b) requires is_int<T> { return Vec(a.v | b.v); }
  RL_INLINE friend Vec operator^(Vec a, Vec b) requires is_int<T> { return Vec(a.v ^ b.v); }
  RL_INLINE friend Vec operator~(Vec a) requires is_int<T> { return Vec(~a.v); }
  RL_INLINE friend Vec operator<<(Vec a, int n) requires is_int<T> { return Vec(a.v << n); }
  RL_INLINE friend Vec operator>>(Vec a, int n) requires is_int<T> { return Vec(a.v >> n); }
  RL_INLINE friend Vec operator<<(Vec a, Vec n) requires is_int<T> { return Vec(a.v << n.v); }
  RL_INLINE friend Vec operator>>(Vec a, Vec n) requires is_int<T> { return Vec(a.v >> n.v); }
  RL_INLINE Vec& operator+=(Vec b) { v += b.v; return *this; }
  RL_INLINE Vec& operator-=(Vec b) { v -= b.v; return *this; }
  RL_INLINE Vec& operator*=(Vec b) { v *= b.v; return *this; }

  using M = Mask<T>;
  RL_INLINE friend M operator==(Vec a, Vec b) { return M((typename M::Raw)(a.v == b.v)); }
  RL_INLINE friend M operator!=(Vec a, Vec b) { return M((typename M::Raw)(a.v != b.v)); }
  RL_INLINE friend M operator<(Vec a, Vec b) { return M((typename M::Raw)(a.v < b.v)); }
  RL_INLINE friend M operator<=(Vec a, Vec b) { return M((typename M::Raw)(a.v <= b.v)); }
  RL_INLINE friend M operator>(Vec a, Vec b) { return M((typename M::Raw)(a.v > b.v)); }
  RL_INLINE friend M operator>=(Vec a, Vec b) { return M((typename M::Raw)(a.v >= b.v)); }
};

template <class V> struct vec_traits {  // a scalar
  using scalar = V;
  using mask = bool;
  static constexpr bool is_vec = false;
};
template <class T> struct vec_traits<Vec<T>> {
  using scalar = T;
  using mask = Mask<T>;
  static constexpr bool is_vec = true;
};
template <class V> using scalar_t = typename vec_traits<V>::scalar;
template <class V> using mask_t = typename vec_traits<V>::mask;
template <class V> inline constexpr bool is_vec = vec_traits<V>::is_vec;

// ---- select, bit casts -----------------------------------------------------------------------

template <class T> RL_INLINE Vec<T> select(Mask<T> m, Vec<T> a, Vec<T> b) {
  return Vec<T>(m.v ? a.v : b.v);
}
template <class T, class S> requires std::is_arithmetic_v<S>
RL_INLINE Vec<T> select(Mask<T> m, S a, Vec<T> b) { return select(m, Vec<T>(a), b); }
template <class T, class S> requires std::is_arithmetic_v<S>
RL_INLINE Vec<T> select(Mask<T> m, Vec<T> a, S b) { return select(m, a, Vec<T>(b)); }
template <class T> RL_INLINE T select(bool m, T a, std::type_identity_t<T> b) {
  return m ? a : b;
}

// A mask over lanes of another type of the same size.
template <class To, class T> RL_INLINE Mask<To> mask_cast(Mask<T> m) {
  static_assert(sizeof(To) == sizeof(T));
  return Mask<To>((typename Mask<To>::Raw)m.v);
}
template <class To> RL_INLINE bool mask_cast(bool m) { return m; }

template <class To, class T> RL_INLINE Vec<To> bit_cast(Vec<T> x) {
  return Vec<To>((raw_t<To>)x.v);
}
template <class To, class T> requires std::is_arithmetic_v<T>
RL_INLINE To bit_cast(T x) { return __builtin_bit_cast(To, x); }
template <class T> RL_INLINE auto to_bits(Vec<T> x) { return bit_cast<int_like<T>>(x); }
template <class T> requires std::is_arithmetic_v<T>
RL_INLINE auto to_bits(T x) { return bit_cast<int_like<T>>(x); }

// Lane-wise value conversion between types of the same size (float <-> int truncates).
template <class To, class T> RL_INLINE Vec<To> convert(Vec<T> x) {
  static_assert(sizeof(To) == sizeof(T));
  return Vec<To>(__builtin_convertvector(x.v, raw_t<To>));
}
template <class To, class T> requires std::is_arithmetic_v<T>
RL_INLINE To convert(T x) { return static_cast<To>(x); }

// Applies a scalar function lane by lane: the way out where no vector form is worth its while.
template <class T, class F> RL_INLINE Vec<T> per_lane(Vec<T> x, F f) {
  Vec<T> r;
  for (int i = 0; i < Vec<T>::size; ++i) r.v[i] = f(x.v[i]);
  return r;
}
template <class T, class F> RL_INLINE Vec<T> per_lane(Vec<T> x, Vec<T> y, F f) {
  Vec<T> r;
  for (int i = 0; i < Vec<T>::size; ++i) r.v[i] = f(x.v[i], y.v[i]);
  return r;
}

// ---- masked memory ---------------------------------------------------------------------------

template <class T>
RL_INLINE Vec<T> Vec<T>::load_masked(const T* p, Mask<T> m, Vec<T> otherwise) {
#if RL_VEC_BYTES == 64
  __m512i o = (__m512i)otherwise.v, mv = (__m512i)m.v;
  __m512i r;
  if constexpr (sizeof(T) == 8) r = _mm512_mask_loadu_epi64(o, _mm512_movepi64_mask(mv), p);
  if constexpr (sizeof(T) == 4) r = _mm512_mask_loadu_epi32(o, _mm512_movepi32_mask(mv), p);
  if constexpr (sizeof(T) == 2) r = _mm512_mask_loadu_epi16(o, _mm512_movepi16_mask(mv), p);
  if constexpr (sizeof(T) == 1) r = _mm512_mask_loadu_epi8(o, _mm512_movepi8_mask(mv), p);
  return Vec((Raw)r);
#else
#if RL_VEC_BYTES == 32
  if constexpr (sizeof(T) == 8) {
    Vec r((Raw)_mm256_maskload_epi64((const long long*)p, (__m256i)m.v));
    return select(m, r, otherwise);
  }
  if constexpr (sizeof(T) == 4) {
    return select(m, Vec((Raw)_mm256_maskload_epi32((const int*)p, (__m256i)m.v)), otherwise);
  }
#endif
  Vec r = otherwise;
  for (int i = 0; i < size; ++i) {
    if (m.v[i]) r.v[i] = p[i];
  }
  return r;
#endif
}

template <class T>
RL_INLINE void Vec<T>::store_masked(T* p, Mask<T> m) const {
#if RL_VEC_BYTES == 64
  __m512i x = (__m512i)v, mv = (__m512i)m.v;
  if constexpr (sizeof(T) == 8) return _mm512_mask_storeu_epi64(p, _mm512_movepi64_mask(mv), x);
  if constexpr (sizeof(T) == 4) return _mm512_mask_storeu_epi32(p, _mm512_movepi32_mask(mv), x);
  if constexpr (sizeof(T) == 2) return _mm512_mask_storeu_epi16(p, _mm512_movepi16_mask(mv), x);
  if constexpr (sizeof(T) == 1) return _mm512_mask_storeu_epi8(p, _mm512_movepi8_mask(mv), x);
#elif RL_VEC_BYTES == 32
  if constexpr (sizeof(T) == 8) {
    return _mm256_maskstore_epi64((long long*)p, (__m256i)m.v, (__m256i)v);
  }
  if constexpr (sizeof(T) == 4) return _mm256_maskstore_epi32((int*)p, (__m256i)m.v, (__m256i)v);
#endif
  for (int i = 0; i < size; ++i) {
    if (m.v[i]) p[i] = v[i];
  }
}

// ---- min, max, abs, sign ---------------------------------------------------------------------

// maximum/minimum: NaN if either is NaN; the second argument where both compare equal (0 and -0).
template <class T> RL_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  Vec<T> r(a.v > b.v ? a.v : b.v);
  if constexpr (is_real_float<T>) r = Vec<T>(a.v != a.v ? a.v : r.v);
  return r;
}
template <class T> RL_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  Vec<T> r(a.v < b.v ? a.v : b.v);
  if constexpr (is_real_float<T>) r = Vec<T>(a.v != a.v ? a.v : r.v);
  return r;
}
// fmax/fmin: the other argument if one is NaN.
template <class T> RL_INLINE Vec<T> fmax(Vec<T> a, Vec<T> b) {
  Vec<T> r(b.v > a.v ? b.v : a.v);
  if constexpr (is_real_float<T>) r = Vec<T>(a.v != a.v ? b.v : r.v);
  return r;
}
template <class T> RL_INLINE Vec<T> fmin(Vec<T> a, Vec<T> b) {
  Vec<T> r(b.v < a.v ? b.v : a.v);
  if constexpr (is_real_float<T>) r = Vec<T>(a.v != a.v ? b.v : r.v);
  return r;
}
// The bare instruction: a where a > b, else b (so b if either is NaN).
template <class T> RL_INLINE Vec<T> max_fast(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v > b.v ? a.v : b.v);
}
template <class T> RL_INLINE Vec<T> min_fast(Vec<T> a, Vec<T> b) {
  return Vec<T>(a.v < b.v ? a.v : b.v);
}

#define RL_SCALAR_1(NAME, EXPR) \
  template <class T> requires std::is_arithmetic_v<T> RL_INLINE T NAME(T a) { return EXPR; }
#define RL_SCALAR_2(NAME, EXPR)                                             \
  template <class T> requires std::is_arithmetic_v<T> RL_INLINE T NAME(     \
      T a, std::type_identity_t<T> b) { return EXPR; }
RL_SCALAR_2(maximum, a != a ? a : a > b ? a : b)
RL_SCALAR_2(minimum, a != a ? a : a < b ? a : b)
RL_SCALAR_2(fmax, a != a ? b : b > a ? b : a)
RL_SCALAR_2(fmin, a != a ? b : b < a ? b : a)
RL_SCALAR_2(max_fast, a > b ? a : b)
RL_SCALAR_2(min_fast, a < b ? a : b)

// The sign bit alone, as an integer mask.
template <class T>
inline constexpr int_like<T> kSignBit =
    int_like<T>(std::make_unsigned_t<int_like<T>>(1) << (8 * sizeof(T) - 1));

template <class V> RL_INLINE V abs(V x) {
  using T = scalar_t<V>;
  if constexpr (is_real_float<T>) {
    return bit_cast<T>(to_bits(x) & decltype(to_bits(x))(int_like<T>(~kSignBit<T>)));
  } else if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return select(x < V(T(0)), V(T(0) - x), x);
  }
}
template <class V> requires is_real_float<scalar_t<V>>
RL_INLINE V copysign(V magnitude, V sign) {
  using T = scalar_t<V>;
  using I = decltype(to_bits(sign));
  I m = I(kSignBit<T>);
  return bit_cast<T>((to_bits(magnitude) & ~m) | (to_bits(sign) & m));
}
template <class V> RL_INLINE mask_t<V> is_nan(V x) { return x != x; }
template <class V> RL_INLINE mask_t<V> signbit(V x) {
  using I = decltype(to_bits(x));
  return mask_cast<scalar_t<V>>(to_bits(x) < I(0));
}

// ---- fma, sqrt, rounding ---------------------------------------------------------------------

#if RL_VEC_BYTES == 64
#define RL_MM(OP, SUFFIX) _mm512_##OP##_##SUFFIX
#define RL_MM_ROUND(X, MODE, SUFFIX) _mm512_roundscale_##SUFFIX(X, MODE)
#elif RL_VEC_BYTES == 32
#define RL_MM(OP, SUFFIX) _mm256_##OP##_##SUFFIX
#define RL_MM_ROUND(X, MODE, SUFFIX) _mm256_round_##SUFFIX(X, MODE)
#elif defined(__SSE4_1__)
#define RL_MM(OP, SUFFIX) _mm_##OP##_##SUFFIX
#define RL_MM_ROUND(X, MODE, SUFFIX) _mm_round_##SUFFIX(X, MODE)
#endif

// a * b + c: fused where the instruction set has it, two roundings otherwise (x86-64-v2).
RL_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
#if RL_HAS_FMA && RL_VEC_BYTES >= 32
  return Vec<float>(RL_MM(fmadd, ps)(a.v, b.v, c.v));
#else
  return a * b + c;
#endif
}
RL_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
#if RL_HAS_FMA && RL_VEC_BYTES >= 32
  return Vec<double>(RL_MM(fmadd, pd)(a.v, b.v, c.v));
#else
  return a * b + c;
#endif
}
#if RL_HAS_FMA && RL_VEC_BYTES >= 32
RL_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
RL_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
RL_INLINE float fma(float a, float b, float c) { return a * b + c; }
RL_INLINE double fma(double a, double b, double c) { return a * b + c; }
#endif
// Any other type: plain arithmetic.
template <class T> requires(!is_real_float<scalar_t<T>>)
RL_INLINE T fma(T a, T b, T c) { return T(a * b + c); }

#ifdef RL_MM
#define RL_ROUND(NAME, MODE, BUILTIN)                                                            \
  RL_INLINE Vec<float> NAME(Vec<float> x) { return Vec<float>(RL_MM_ROUND(x.v, MODE, ps)); }     \
  RL_INLINE Vec<double> NAME(Vec<double> x) { return Vec<double>(RL_MM_ROUND(x.v, MODE, pd)); }  \
  RL_INLINE float NAME(float x) { return BUILTIN##f(x); }                                        \
  RL_INLINE double NAME(double x) { return BUILTIN(x); }
RL_INLINE Vec<float> sqrt(Vec<float> x) { return Vec<float>(RL_MM(sqrt, ps)(x.v)); }
RL_INLINE Vec<double> sqrt(Vec<double> x) { return Vec<double>(RL_MM(sqrt, pd)(x.v)); }
#else
#define RL_ROUND(NAME, MODE, BUILTIN)                                           \
  RL_INLINE float NAME(float x) { return BUILTIN##f(x); }                       \
  RL_INLINE double NAME(double x) { return BUILTIN(x); }                        \
  template <class T> RL_INLINE Vec<T> NAME(Vec<T> x) {                          \
    return per_lane(x, [](T t) { return NAME(t); });                            \
  }
template <class T> RL_INLINE Vec<T> sqrt(Vec<T> x) {
  return per_lane(x, [](T t) { return T(__builtin_sqrt(t)); });
}
#endif
RL_ROUND(rint, 0x08, __builtin_nearbyint)  // to nearest, ties to even
RL_ROUND(floor, 0x09, __builtin_floor)
RL_ROUND(ceil, 0x0a, __builtin_ceil)
RL_ROUND(trunc, 0x0b, __builtin_trunc)
#undef RL_ROUND
RL_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
RL_INLINE double sqrt(double x) { return __builtin_sqrt(x); }

// ---- float <-> double ------------------------------------------------------------------------

RL_INLINE Vec<double> widen_low(Vec<float> x) {
#if RL_VEC_BYTES == 64
  return Vec<double>(_mm512_cvtps_pd(_mm512_castps512_ps256(x.v)));
#elif RL_VEC_BYTES == 32
  return Vec<double>(_mm256_cvtps_pd(_mm256_castps256_ps128(x.v)));
#else
  Vec<double>::Raw r = {x.v[0], x.v[1]};
  return Vec<double>(r);
#endif
}
RL_INLINE Vec<double> widen_high(Vec<float> x) {
#if RL_VEC_BYTES == 64
  return Vec<double>(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x.v, 1)));
#elif RL_VEC_BYTES == 32
  return Vec<double>(_mm256_cvtps_pd(_mm256_extractf128_ps(x.v, 1)));
#else
  Vec<double>::Raw r = {x.v[2], x.v[3]};
  return Vec<double>(r);
#endif
}
RL_INLINE Vec<float> narrow(Vec<double> low, Vec<double> high) {
#if RL_VEC_BYTES == 64
  __m512 l = _mm512_castps256_ps512(_mm512_cvtpd_ps(low.v));
  return Vec<float>(_mm512_insertf32x8(l, _mm512_cvtpd_ps(high.v), 1));
#elif RL_VEC_BYTES == 32
  __m256 l = _mm256_castps128_ps256(_mm256_cvtpd_ps(low.v));
  return Vec<float>(_mm256_insertf128_ps(l, _mm256_cvtpd_ps(high.v), 1));
#else
  Vec<float>::Raw r = {float(low.v[0]), float(low.v[1]), float(high.v[0]), float(high.v[1])};
  return Vec<float>(r);
#endif
}

// Runs a double computation on a float vector: both halves widened, the result rounded once.
template <class F> RL_INLINE Vec<float> in_double(Vec<float> x, F f) {
  return narrow(f(widen_low(x)), f(widen_high(x)));
}
template <class F> RL_INLINE Vec<float> in_double(Vec<float> x, Vec<float> y, F f) {
  return narrow(f(widen_low(x), widen_low(y)), f(widen_high(x), widen_high(y)));
}

// ---- horizontal sums -------------------------------------------------------------------------

// Folds the upper half onto the lower until one lane is left. `parts` are the registers of one
// 64-byte block, so that the order of additions is the same for every register width.
template <class T> inline constexpr int kBlockParts = 64 / kVecBytes;

template <class T, class Op> RL_INLINE T fold_block(const Vec<T>* parts, Op op) {
  Vec<T> p[kBlockParts<T>];
  for (int i = 0; i < kBlockParts<T>; ++i) p[i] = parts[i];
  for (int w = kBlockParts<T> / 2; w > 0; w /= 2) {
    for (int i = 0; i < w; ++i) p[i] = op(p[i], p[i + w]);
  }
  T lane[Vec<T>::size];
  p[0].store(lane);
  for (int w = Vec<T>::size / 2; w > 0; w /= 2) {
    for (int i = 0; i < w; ++i) lane[i] = op(lane[i], lane[i + w]);
  }
  return lane[0];
}
template <class T> RL_INLINE T sum_block(const Vec<T>* parts) {
  return fold_block(parts, [](auto a, auto b) { return decltype(a)(a + b); });
}
// The same fold inside one register.
template <class T, class Op> RL_INLINE T fold(Vec<T> x, Op op) {
  T lane[Vec<T>::size];
  x.store(lane);
  for (int w = Vec<T>::size / 2; w > 0; w /= 2) {
    for (int i = 0; i < w; ++i) lane[i] = op(lane[i], lane[i + w]);
  }
  return lane[0];
}
template <class T> RL_INLINE T hsum(Vec<T> x) {
  return fold(x, [](T a, T b) { return T(a + b); });
}
template <class T> RL_INLINE T hmax(Vec<T> x) {
  return fold(x, [](T a, T b) { return maximum(a, b); });
}
template <class T> RL_INLINE T hmin(Vec<T> x) {
  return fold(x, [](T a, T b) { return minimum(a, b); });
}

}  // namespace rl::cpu::RL_ISA
