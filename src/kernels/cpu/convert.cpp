// Conversion of contiguous runs between any two dtypes. Pairs of arithmetic types are converted
// directly; 16- and 8-bit floats go through float, in tiles that stay in the first-level cache.
#include <cstring>

#include "kernels/cpu/tiles.h"
#include "kernels/cpu/vec_convert.h"

namespace rl::cpu::RL_ISA {
namespace {

using Arithmetic = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint8_t, bool,
                            cfloat, cdouble, uint16_t, uint32_t, uint64_t>;

template <class T> constexpr bool is_complex_type = false;
template <class T> constexpr bool is_complex_type<std::complex<T>> = true;

// C conversions. A complex value gives its real part; to bool means "is not zero". Floats out of
// range of a small integer wrap like a conversion through int64 does.
template <class D, class S>
[[gnu::always_inline]] inline D cast(S v) {
  if constexpr (is_complex_type<S>) {
    using Real = typename S::value_type;
    const Real* parts = reinterpret_cast<const Real*>(&v);
    if constexpr (std::is_same_v<D, bool>) return parts[0] != Real(0) || parts[1] != Real(0);
    else if constexpr (is_complex_type<D>)
      return D(typename D::value_type(parts[0]), typename D::value_type(parts[1]));
    else return cast<D, Real>(parts[0]);
  } else if constexpr (is_complex_type<D>) {
    return D(typename D::value_type(v), 0);
  } else if constexpr (std::is_same_v<D, bool>) {
    return v != S(0);
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D> && sizeof(D) < 4) {
    return D(int32_t(v));
  } else if constexpr (std::is_floating_point_v<S> && std::is_unsigned_v<D> && sizeof(D) >= 4) {
    return D(int64_t(v));
  } else {
    return D(v);
  }
}

template <class D, class S>
void convert_arithmetic(void* dst, const void* src, int64_t n) {
  D* __restrict out = static_cast<D*>(dst);
  const S* __restrict in = static_cast<const S*>(src);
  for (int64_t i = 0; i < n; ++i) out[i] = cast<D, S>(in[i]);
}

using Run = void (*)(void* dst, const void* src, int64_t n);

template <class S, class... D>
Run from_type(TypeList<D...>, DType to) {
  Run run = nullptr;
  ((dtype_of<D> == to ? void(run = convert_arithmetic<D, S>) : void()), ...);
  return run;
}

template <class... S>
Run find_arithmetic(TypeList<S...> all, DType to, DType from) {
  Run run = nullptr;
  ((dtype_of<S> == from ? void(run = from_type<S>(all, to)) : void()), ...);
  return run;
}

template <class S>
void small_to_float(void* dst, const void* src, int64_t n) {
  convert_tile(static_cast<float*>(dst), static_cast<const S*>(src), n);
}
template <class S>
void float_to_small(void* dst, const void* src, int64_t n) {
  convert_tile(static_cast<S*>(dst), static_cast<const float*>(src), n);
}
void chalf_to_cfloat(void* dst, const void* src, int64_t n) {
  small_to_float<half>(dst, src, 2 * n);
}
void cfloat_to_chalf(void* dst, const void* src, int64_t n) {
  float_to_small<half>(dst, src, 2 * n);
}

// From storage to its arithmetic type (float, cfloat); null for types that are their own.
Run widening(DType d) {
  switch (d) {
    case DType::Half: return small_to_float<half>;
    case DType::BFloat16: return small_to_float<bfloat16>;
    case DType::Float8_e5m2: return small_to_float<float8_e5m2>;
    case DType::Float8_e4m3fn: return small_to_float<float8_e4m3fn>;
    case DType::Float8_e5m2fnuz: return small_to_float<float8_e5m2fnuz>;
    case DType::Float8_e4m3fnuz: return small_to_float<float8_e4m3fnuz>;
    case DType::Float8_e8m0fnu: return small_to_float<float8_e8m0fnu>;
    case DType::ComplexHalf: return chalf_to_cfloat;
    default: return nullptr;
  }
}

Run narrowing(DType d) {
  switch (d) {
    case DType::Half: return float_to_small<half>;
    case DType::BFloat16: return float_to_small<bfloat16>;
    case DType::Float8_e5m2: return float_to_small<float8_e5m2>;
    case DType::Float8_e4m3fn: return float_to_small<float8_e4m3fn>;
    case DType::Float8_e5m2fnuz: return float_to_small<float8_e5m2fnuz>;
    case DType::Float8_e4m3fnuz: return float_to_small<float8_e4m3fnuz>;
    case DType::Float8_e8m0fnu: return float_to_small<float8_e8m0fnu>;
    case DType::ComplexHalf: return cfloat_to_chalf;
    default: return nullptr;
  }
}

constexpr int64_t kTile = 256;  // elements

}  // namespace

void convert(void* dst, DType to, const void* src, DType from, int64_t n) {
  if (to == from) {
    if (dst != src) std::memcpy(dst, src, size_t(n * itemsize(to)));
    return;
  }
  const Run widen = widening(from), narrow = narrowing(to);
  const DType wide_from = opmath(from), wide_to = opmath(to);
  const Run middle = wide_from == wide_to ? nullptr
                                          : find_arithmetic(Arithmetic{}, wide_to, wide_from);
  if (!middle && (!widen || !narrow)) return (widen ? widen : narrow)(dst, src, n);
  if (!widen && !narrow) return middle(dst, src, n);
  alignas(64) char a[kTile * 16], b[kTile * 16];
  const char* in = static_cast<const char*>(src);
  char* out = static_cast<char*>(dst);
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t m = n - i < kTile ? n - i : kTile;
    const void* now = in + i * itemsize(from);
    char* to_here = out + i * itemsize(to);
    if (widen) {
      widen(a, now, m);
      now = a;
    }
    if (middle) {
      void* target = narrow ? static_cast<void*>(b) : to_here;
      middle(target, now, m);
      now = target;
    }
    if (narrow) narrow(to_here, now, m);
  }
}

}  // namespace rl::cpu::RL_ISA
