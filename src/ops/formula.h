// The notation of gradient formulas: operators on tensors and scalars, calling the public
// (differentiable) functions, so that double backward works.
#pragma once
#include "core/tensor.h"

namespace rl {

Tensor add(const Tensor&, const Tensor&, const Scalar&);
Tensor sub(const Tensor&, const Tensor&, const Scalar&);
Tensor mul(const Tensor&, const Tensor&);
Tensor div(const Tensor&, const Tensor&, std::optional<std::string_view>);
Tensor neg(const Tensor&);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b, Scalar(1)); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b, Scalar(1)); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b, std::nullopt); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return a + wrapped_number(b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return a - wrapped_number(b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return mul(a, wrapped_number(b)); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return a / wrapped_number(b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return b + a; }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return wrapped_number(a) - b; }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return b * a; }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return wrapped_number(a) / b; }

}  // namespace rl
