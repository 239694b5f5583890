// Stacks of boxed values to and from Python, for the registry and the operators of compiled
// libraries.
#pragma once
#include "python/errors.h"

namespace rl::py {

Stack to_stack(PyObject* sequence);          // a tuple or list, item by item
PyObject* from_stack(const Stack& results);  // None, the one result, or a tuple

bool add_abi_functions(PyObject* module);    // abi_bind.cpp

}  // namespace rl::py
