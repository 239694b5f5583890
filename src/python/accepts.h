// Does a Python object fit a parameter of some kind? Used by the binder; nothing is converted here.
#pragma once
#include "python/overrides.h"

namespace rl::py {

bool is_int_like(PyObject* o);      // int (not bool), NumPy integer, 0-dim integer tensor
bool is_float_like(PyObject* o);    // float, int, bool, NumPy number, 0-dim real tensor
bool is_number_like(PyObject* o);   // the same and complex
bool is_numpy_scalar(PyObject* o);  // an instance of numpy.generic, without importing numpy
bool is_numpy_bool(PyObject* o);
// Overriding arguments found on the way are added to `who`.
bool accepts_slow(const Param& p, PyObject* o, Overriding& who);
// Has `o`, tensor or not, a __torch_function__ that takes calls over? Quick for usual arguments.
bool overrides_from_outside(PyObject* o);

inline bool accepts(const Param& p, PyObject* o, Overriding& who) {
  if (p.kind <= Kind::TensorOpt || p.kind == Kind::Operand) {
    if (is_exact_tensor(o)) return true;
  } else if (p.kind == Kind::Int && PyLong_CheckExact(o)) {
    return true;
  }
  return accepts_slow(p, o, who);
}

// The words of error messages for a kind: "Tensor", "tuple of ints", ...
const char* kind_name(Kind k);
// Sets PyTorch's TypeError for a call that fits none of the signatures.
void set_bind_error(const Overloads& o, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                    PyObject* kwnames);
// Number of the parameter that a keyword names, or -1.
int find_parameter(const Signature& s, PyObject* keyword);

}  // namespace rl::py
