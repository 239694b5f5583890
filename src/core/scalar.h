// Scalar: a Python number with its kind (bool, int, float, complex).
#pragma once
#include <complex>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "core/dtype.h"

namespace rl {

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float, Complex };
  Scalar() : Scalar(int64_t(0)) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Scalar(T v) : kind_(Kind::Int), i_(int64_t(v)) {}
  Scalar(bool v) : kind_(Kind::Bool), i_(v) {}
  Scalar(double v) : kind_(Kind::Float), d_(v) {}
  Scalar(float v) : Scalar(double(v)) {}
  Scalar(half v) : Scalar(double(float(v))) {}
  Scalar(bfloat16 v) : Scalar(double(float(v))) {}
  Scalar(cdouble v) : kind_(Kind::Complex), d_(v.real()), im_(v.imag()) {}
  Scalar(cfloat v) : Scalar(cdouble(v)) {}

  Kind kind() const { return kind_; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  bool is_int() const { return kind_ == Kind::Int; }
  bool is_integral(bool with_bool = true) const { return is_int() || (with_bool && is_bool()); }
  bool is_float() const { return kind_ == Kind::Float; }
  bool is_complex() const { return kind_ == Kind::Complex; }
  DType dtype() const {  // of a 0-dim tensor made from it
    switch (kind_) {
      case Kind::Bool: return DType::Bool;
      case Kind::Int: return DType::Int64;
      case Kind::Float: return default_dtype();
      default: return default_complex_dtype();
    }
  }
  double to_double() const { return is_integral() ? double(i_) : d_; }
  int64_t to_int() const { return is_integral() ? i_ : int64_t(d_); }
  bool to_bool() const { return is_integral() ? i_ != 0 : (d_ != 0 || (is_complex() && im_ != 0)); }
  cdouble to_complex() const { return is_complex() ? cdouble(d_, im_) : cdouble(to_double(), 0); }
  // Plain conversion; a complex value loses its imaginary part (callers check first).
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) return to_bool();
    else if constexpr (std::is_same_v<T, cfloat> || std::is_same_v<T, cdouble>)
      return T(to_complex());
    else if constexpr (std::is_integral_v<T>) return T(to_int());
    else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) return T(to_double());
    else return T(float(to_double()));
  }
  bool equal(double v) const { return !is_complex() ? to_double() == v : (d_ == v && im_ == 0); }
  Scalar operator-() const {
    if (is_complex()) return Scalar(-to_complex());
    return is_integral() ? Scalar(int64_t(0) - i_) : Scalar(-d_);
  }
  Scalar conj() const { return is_complex() ? Scalar(std::conj(to_complex())) : *this; }

 private:
  Kind kind_;
  union {
    int64_t i_;
    double d_;
  };
  double im_ = 0;
};

inline void append(std::string& s, const Scalar& v) {
  switch (v.kind()) {
    case Scalar::Kind::Bool: append(s, v.to_bool()); break;
    case Scalar::Kind::Int: append(s, v.to_int()); break;
    case Scalar::Kind::Float: append(s, v.to_double()); break;
    default:
      s += '(';
      append(s, v.to_complex().real());
      s += ',';
      append(s, v.to_complex().imag());
      s += ')';
  }
}

}  // namespace rl
