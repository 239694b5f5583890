#include "core/dtype.h"

#include <atomic>

namespace rl {
namespace {

struct Names {
  DType d;
  const char* name;
  const char* scalar;
};
constexpr Names kNames[] = {
    {DType::UInt8, "uint8", "Byte"},       {DType::Int8, "int8", "Char"},
    {DType::Int16, "int16", "Short"},      {DType::Int32, "int32", "Int"},
    {DType::Int64, "int64", "Long"},       {DType::Half, "float16", "Half"},
    {DType::Float, "float32", "Float"},    {DType::Double, "float64", "Double"},
    {DType::ComplexHalf, "complex32", "ComplexHalf"},
    {DType::ComplexFloat, "complex64", "ComplexFloat"},
    {DType::ComplexDouble, "complex128", "ComplexDouble"},
    {DType::Bool, "bool", "Bool"},         {DType::QInt8, "qint8", "QInt8"},
    {DType::QUInt8, "quint8", "QUInt8"},   {DType::QInt32, "qint32", "QInt32"},
    {DType::BFloat16, "bfloat16", "BFloat16"},
    {DType::Float8_e5m2, "float8_e5m2", "Float8_e5m2"},
    {DType::Float8_e4m3fn, "float8_e4m3fn", "Float8_e4m3fn"},
    {DType::Float8_e5m2fnuz, "float8_e5m2fnuz", "Float8_e5m2fnuz"},
    {DType::Float8_e4m3fnuz, "float8_e4m3fnuz", "Float8_e4m3fnuz"},
    {DType::Float8_e8m0fnu, "float8_e8m0fnu", "Float8_e8m0fnu"},
    {DType::UInt16, "uint16", "UInt16"},   {DType::UInt32, "uint32", "UInt32"},
    {DType::UInt64, "uint64", "UInt64"},
};

std::atomic<DType> g_default{DType::Float};

// Bits of mantissa range order the ordinary integer and float ladders.
int int_rank(DType d) {
  switch (d) {
    case DType::Bool: return 0;
    case DType::Int8: return 1;
    case DType::Int16: return 2;
    case DType::Int32: return 3;
    case DType::Int64: return 4;
    default: return -1;
  }
}

bool is_barebones_uint(DType d) { return d >= DType::UInt16 && d <= DType::UInt64; }

DType promote_ints(DType a, DType b) {
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  if (is_barebones_uint(a) || is_barebones_uint(b))
    fail("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a,
         " and ", b);
  if (a == DType::UInt8 || b == DType::UInt8) {
    DType other = a == DType::UInt8 ? b : a;
    return other == DType::Int8 ? DType::Int16 : other;
  }
  return int_rank(a) >= int_rank(b) ? a : b;
}

DType promote_floats(DType a, DType b) {
  if (is_float8(a) || is_float8(b))
    fail("Promotion for Float8 Types is not supported, attempted to promote ", a, " and ", b);
  if (a == DType::Double || b == DType::Double) return DType::Double;
  if (a == DType::Float || b == DType::Float) return DType::Float;
  return DType::Float;  // Half with BFloat16
}

}  // namespace

const char* dtype_name(DType d) {
  for (auto& n : kNames)
    if (n.d == d) return n.name;
  return "undefined";
}

const char* scalar_type_name(DType d) {
  for (auto& n : kNames)
    if (n.d == d) return n.scalar;
  return "Undefined";
}

DType dtype_from_name(std::string_view name) {
  for (auto& n : kNames)
    if (name == n.name) return n.d;
  fail_as(ErrorKind::Type, "unknown dtype '", name, "'");
}

void dtype_not_implemented(const char* name, DType d) {
  fail_as(ErrorKind::NotImplemented, '"', name, "\" not implemented for '", d, "'");
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::Undefined) return b;
  if (b == DType::Undefined) return a;
  if (is_complex(a) || is_complex(b)) {
    DType ra = is_complex(a) ? to_real(a) : a, rb = is_complex(b) ? to_real(b) : b;
    if (is_integral(ra, true)) return b;
    if (is_integral(rb, true)) return a;
    return to_complex(promote_types(ra, rb));
  }
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_ints(a, b);
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to, true)) return false;
  if (from != DType::Bool && to == DType::Bool) return false;
  return true;
}

DType to_complex(DType d) {
  switch (d) {
    case DType::Half: return DType::ComplexHalf;
    case DType::BFloat16: case DType::Float: return DType::ComplexFloat;
    case DType::Double: return DType::ComplexDouble;
    case DType::ComplexHalf: case DType::ComplexFloat: case DType::ComplexDouble: return d;
    default: fail("Unknown Complex ScalarType for ", d);
  }
}

DType to_real(DType d) {
  switch (d) {
    case DType::ComplexHalf: return DType::Half;
    case DType::ComplexFloat: return DType::Float;
    case DType::ComplexDouble: return DType::Double;
    default: return d;
  }
}

DType default_dtype() { return g_default.load(std::memory_order_relaxed); }
DType default_complex_dtype() { return to_complex(default_dtype()); }
void set_default_dtype(DType d) {
  check_type(is_floating(d), "only floating-point types are supported as the default type");
  check_type(d != DType::Float8_e8m0fnu, "couldn't find storage object ", d, "Storage");
  g_default = d;
}

}  // namespace rl
