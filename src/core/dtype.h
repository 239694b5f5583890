// Element types. The numbers are PyTorch's ScalarType codes (they appear in files and in the stable
// ABI).
#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/half.h"

namespace rl {

enum class DType : int8_t {
  UInt8 = 0, Int8 = 1, Int16 = 2, Int32 = 3, Int64 = 4, Half = 5, Float = 6, Double = 7,
  ComplexHalf = 8, ComplexFloat = 9, ComplexDouble = 10, Bool = 11,
  QInt8 = 12, QUInt8 = 13, QInt32 = 14, BFloat16 = 15,
  Float8_e5m2 = 23, Float8_e4m3fn = 24, Float8_e5m2fnuz = 25, Float8_e4m3fnuz = 26,
  UInt16 = 27, UInt32 = 28, UInt64 = 29, Float8_e8m0fnu = 44,
  Undefined = 127
};
constexpr int kNumDTypes = 30;

using cfloat = std::complex<float>;
using cdouble = std::complex<double>;

constexpr int64_t itemsize(DType d) {
  switch (d) {
    case DType::UInt8: case DType::Int8: case DType::Bool: case DType::QInt8: case DType::QUInt8:
    case DType::Float8_e5m2: case DType::Float8_e4m3fn: case DType::Float8_e5m2fnuz:
    case DType::Float8_e4m3fnuz: case DType::Float8_e8m0fnu: return 1;
    case DType::Int16: case DType::UInt16: case DType::Half: case DType::BFloat16: return 2;
    case DType::Int32: case DType::UInt32: case DType::Float: case DType::ComplexHalf:
    case DType::QInt32: return 4;
    case DType::Int64: case DType::UInt64: case DType::Double: case DType::ComplexFloat: return 8;
    case DType::ComplexDouble: return 16;
    default: return 0;
  }
}
constexpr bool is_float8(DType d) {
  return (d >= DType::Float8_e5m2 && d <= DType::Float8_e4m3fnuz) || d == DType::Float8_e8m0fnu;
}
constexpr bool is_complex(DType d) { return d >= DType::ComplexHalf && d <= DType::ComplexDouble; }
constexpr bool is_floating(DType d) {
  return (d >= DType::Half && d <= DType::Double) || d == DType::BFloat16 || is_float8(d);
}
constexpr bool is_unsigned_int(DType d) {
  return d == DType::UInt8 || (d >= DType::UInt16 && d <= DType::UInt64);
}
constexpr bool is_integral(DType d, bool with_bool = false) {
  return (d >= DType::UInt8 && d <= DType::Int64) || (d >= DType::UInt16 && d <= DType::UInt64) ||
         (with_bool && d == DType::Bool);
}
constexpr bool is_differentiable(DType d) { return is_floating(d) || is_complex(d); }
constexpr bool is_reduced(DType d) {
  return d == DType::Half || d == DType::BFloat16 || is_float8(d);
}

const char* dtype_name(DType d);         // "float32": torch.<name>
const char* scalar_type_name(DType d);   // "Float": as error messages and `type()` print it
DType dtype_from_name(std::string_view name);  // throws Type
DType promote_types(DType a, DType b);   // PyTorch's table; throws for unpromotable pairs
bool can_cast(DType from, DType to);
DType to_complex(DType d);               // Float -> ComplexFloat ...
DType to_real(DType d);                  // ComplexFloat -> Float ...
DType default_dtype();
DType default_complex_dtype();
void set_default_dtype(DType d);
// The type in which arithmetic on `d` is done: float for 16- and 8-bit floats.
constexpr DType opmath(DType d) {
  return is_reduced(d) ? DType::Float : d == DType::ComplexHalf ? DType::ComplexFloat : d;
}

inline void append(std::string& s, DType d) { s += scalar_type_name(d); }

template <class T> struct dtype_of_t;
template <> struct dtype_of_t<uint8_t> { static constexpr DType value = DType::UInt8; };
template <> struct dtype_of_t<int8_t> { static constexpr DType value = DType::Int8; };
template <> struct dtype_of_t<int16_t> { static constexpr DType value = DType::Int16; };
template <> struct dtype_of_t<int32_t> { static constexpr DType value = DType::Int32; };
template <> struct dtype_of_t<int64_t> { static constexpr DType value = DType::Int64; };
template <> struct dtype_of_t<uint16_t> { static constexpr DType value = DType::UInt16; };
template <> struct dtype_of_t<uint32_t> { static constexpr DType value = DType::UInt32; };
template <> struct dtype_of_t<uint64_t> { static constexpr DType value = DType::UInt64; };
template <> struct dtype_of_t<half> { static constexpr DType value = DType::Half; };
template <> struct dtype_of_t<bfloat16> { static constexpr DType value = DType::BFloat16; };
template <> struct dtype_of_t<float> { static constexpr DType value = DType::Float; };
template <> struct dtype_of_t<double> { static constexpr DType value = DType::Double; };
template <> struct dtype_of_t<cfloat> { static constexpr DType value = DType::ComplexFloat; };
template <> struct dtype_of_t<cdouble> { static constexpr DType value = DType::ComplexDouble; };
template <> struct dtype_of_t<bool> { static constexpr DType value = DType::Bool; };
template <> struct dtype_of_t<float8_e5m2> { static constexpr DType value = DType::Float8_e5m2; };
template <>
struct dtype_of_t<float8_e4m3fn> {
  static constexpr DType value = DType::Float8_e4m3fn;
};
template <class T> constexpr DType dtype_of = dtype_of_t<T>::value;

// visit(dtype, types, f): calls f.template operator()<T>() for the element type, or fails with
// PyTorch's words: "name" not implemented for 'Bool'.
template <class... T> struct TypeList {};
using IntTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t>;
using UIntTypes = TypeList<uint16_t, uint32_t, uint64_t>;
using RealFloatTypes = TypeList<float, double>;
using FloatTypes = TypeList<float, double, half, bfloat16>;
using ComplexTypes = TypeList<cfloat, cdouble>;
using FloatComplexTypes = TypeList<float, double, half, bfloat16, cfloat, cdouble>;
using RealTypes =
    TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t>;
using RealBoolTypes =
    TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>;
using AllTypes = TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t,
                          bool, cfloat, cdouble>;
using AllTypesAndUInts =
    TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, bool,
             cfloat, cdouble, uint16_t, uint32_t, uint64_t, float8_e5m2, float8_e4m3fn>;

[[noreturn]] void dtype_not_implemented(const char* name, DType d);

template <class... T, class F>
inline void visit(TypeList<T...>, DType d, const char* name, F&& f) {
  bool done = ((dtype_of<T> == d ? (f.template operator()<T>(), true) : false) || ...);
  if (!done) dtype_not_implemented(name, d);
}

}  // namespace rl
