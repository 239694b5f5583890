// DLPack capsules to and from tensors.
#pragma once
#include "python/binder.h"

namespace rl::py {

Tensor tensor_from_dlpack(PyObject* o);   // a capsule, or an object with __dlpack__
bool add_dlpack_bridge(PyObject* module);

}  // namespace rl::py
