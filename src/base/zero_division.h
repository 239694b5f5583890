// The error of an integer division by zero, raised from inside kernels. Declared apart from
// check.h so that element-wise code does not have to parse <string>.
#pragma once

namespace rl {

[[noreturn]] void zero_division();  // RuntimeError with the words "ZeroDivisionError"

// Integers to negative integer powers: the words of the RuntimeError are PyTorch's.
[[noreturn]] void negative_integer_power();

}  // namespace rl
