// Errors that element-wise kernels can raise; kept out of line and out of the ISA-specific code.
#include "base/zero_division.h"

#include "base/check.h"

namespace rl {

void zero_division() { throw_error(ErrorKind::Runtime, "ZeroDivisionError"); }

void negative_integer_power() {
  throw_error(ErrorKind::Runtime, "Integers to negative integer powers are not allowed.");
}

}  // namespace rl
