// Tensor.set_.
#pragma once
#include "python/binder.h"

namespace rl::py {

PyObject* tensor_set(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace rl::py
