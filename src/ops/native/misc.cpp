// Comparisons of whole tensors, and complex numbers from their parts.
#include <cstring>

#include "kernels/iter/copy.h"
#include "ops/native.h"

namespace rl::native {

Scalar _local_scalar_dense(const Tensor& self) { return item(self); }

Tensor eq(const Tensor& self, const Tensor& other);
Tensor all_full(const Tensor& self);
Tensor isclose_terms(const Tensor& self, const Tensor& other, double rtol, double atol,
                     bool equal_nan);
Tensor view_as_real(const Tensor& self);

bool equal(const Tensor& self, const Tensor& other) {
  check(self.device() == other.device(), "Cannot compare two tensors on different devices. Got: ",
        self.device(), " and ", other.device());
  check(self.dtype() == other.dtype(), "Expected object of data type ", dtype_name(self.dtype()),
        " but got data type ", dtype_name(other.dtype()), " for argument 'other' in call to equal");
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  check_implemented(!self.is_meta(), "equal(): meta tensors have no values to compare");
  const bool same_memory = self.storage() == other.storage() && self.offset() == other.offset() &&
                           self.strides() == other.strides();
  if (is_integral(self.dtype(), true) || is_float8(self.dtype())) {
    if (same_memory) return true;
    if (self.is_contiguous() && other.is_contiguous() && !is_float8(self.dtype()))
      return std::memcmp(self.data(), other.data(), size_t(self.nbytes())) == 0;
  }
  return item(all_full(eq(self, other))).to_bool();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check(self.dtype() == other.dtype(), self.dtype(), " did not match ", other.dtype());
  check(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  check(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  return isclose_terms(self, other, rtol, atol, equal_nan);
}

Tensor complex(const Tensor& real, const Tensor& imag) {
  auto fits = [](DType d) { return d == DType::Half || d == DType::Float || d == DType::Double; };
  check(fits(real.dtype()) && fits(imag.dtype()),
        "Expected both inputs to be Half, Float or Double tensors but got ", real.dtype(), " and ",
        imag.dtype());
  check(real.dtype() == imag.dtype(), "Expected object of scalar type ", real.dtype(),
        " but got scalar type ", imag.dtype(), " for second argument");
  Tensor out = empty_tensor(broadcast_shapes(real.sizes(), imag.sizes()), to_complex(real.dtype()),
                            real.device());
  if (out.is_meta()) return out;
  Tensor parts = view_as_real(out);
  copy_into(select(parts, -1, 0), real);
  copy_into(select(parts, -1, 1), imag);
  return out;
}

}  // namespace rl::native
