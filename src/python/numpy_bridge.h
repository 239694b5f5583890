// NumPy arrays without NumPy's headers: in by the buffer protocol, out by an exporting object.
#pragma once
#include "python/binder.h"

namespace rl::py {

bool is_numpy_array(PyObject* o);
DType numpy_scalar_dtype(PyObject* o);      // TypeError for kinds that no tensor has
DType numpy_array_dtype(PyObject* o);
// Shares the array's memory and keeps it alive. `warn`: about memory that is not writable.
Tensor tensor_from_numpy(PyObject* array, bool warn);
PyObject* numpy_from_tensor(const Tensor& t);   // imports numpy; shares memory
bool add_numpy_bridge(PyObject* module);

}  // namespace rl::py
