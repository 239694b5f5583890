// The Python object of a tensor. One per TensorImpl: the object owns a reference to the impl, or,
// when Python let go of it first while C++ still holds the tensor and the object carries state
// (attributes, weak references, a subclass), the impl owns the object until somebody asks again.
#pragma once
#include "python/binder.h"

namespace rl::py {

struct TensorObject {
  PyObject_HEAD
  Tensor tensor;           // not counted while the impl owns the object
  PyObject* dict;
  PyObject* weakrefs;
  bool owned_by_impl;
};

extern PyTypeObject tensor_base_type;    // torch._C.TensorBase
extern PyTypeObject tensor_meta_type;    // torch._C._TensorMeta
extern PyTypeObject* tensor_type;        // torch.Tensor

inline bool is_exact_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type; }
inline bool is_tensor(PyObject* o) {
  return is_exact_tensor(o) || PyType_IsSubtype(Py_TYPE(o), &tensor_base_type);
}
inline const Tensor& tensor_of(PyObject* o) {
  return reinterpret_cast<TensorObject*>(o)->tensor;
}

// A new object of a subclass around `t`, which must not have an object yet.
PyObject* wrap_as(PyTypeObject* type, Tensor t);
// The Python object that stands for t's impl now, borrowed; null if there is none.
inline PyObject* object_of(const Tensor& t) { return static_cast<PyObject*>(t->python); }

// Cycles through hooks and Python nodes: set by python/autograd.cpp. `visit` is called while the
// object is the impl's only owner.
extern int (*traverse_autograd)(TensorImpl*, visitproc, void*);
extern void (*clear_autograd)(TensorImpl*);
extern PyObject* (*wrap_grad_fn)(const Tensor& t);  // new reference: a node object or None

extern PyMethodDef tensor_methods[];        // methods without an entry in ops/
extern PyMethodDef nn_functions[];          // joins torch._C._nn
extern PyGetSetDef tensor_properties[];
extern PyNumberMethods tensor_number;
extern PyMappingMethods tensor_mapping;
extern PySequenceMethods tensor_sequence;
PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op);
void bind_number_slots();                   // generated functions into the slots
PyObject* legacy_tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);

// x[index], x[index] = value
PyObject* tensor_getitem(PyObject* self, PyObject* index);
int tensor_setitem(PyObject* self, PyObject* index, PyObject* value);

}  // namespace rl::py
