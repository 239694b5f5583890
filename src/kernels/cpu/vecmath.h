// Elementary functions on Vec<float>, Vec<double> and their scalars, <= 2 ulp (tests/cpp/
// test_vecmath.cpp prints the worst case found of each). A scalar goes through the vector code too
// (one lane of it), so that an element's result never depends on how it was reached.
#pragma once

#include "kernels/cpu/vec.h"
#include "kernels/cpu/vecmath/erf.h"
#include "kernels/cpu/vecmath/exp.h"
#include "kernels/cpu/vecmath/lanes.h"
#include "kernels/cpu/vecmath/log.h"
#include "kernels/cpu/vecmath/pow.h"
#include "kernels/cpu/vecmath/trig.h"
