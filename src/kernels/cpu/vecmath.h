// Elementary functions on Vec<float>, Vec<double> and their scalars, <= 2 ulp unless said where
// they are defined. A scalar goes through the vector code too (one lane of it), so an element's
// result never depends on how it was reached.
#pragma once

#include "kernels/cpu/vec.h"
#include "kernels/cpu/vecmath/lanes.h"
