// Python objects carried through the core as rl::Opaque.
#pragma once
#include "core/ivalue.h"
#include "python/errors.h"

namespace rl::py {

struct PyHolder : Opaque {
  explicit PyHolder(PyObject* o) : object(new_ref(o)) {}
  ~PyHolder() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    Py_DECREF(object);
  }
  PyObject* object;
};

inline intrusive_ptr<Opaque> hold_object(PyObject* o) {
  return intrusive_ptr<Opaque>(new PyHolder(o));
}
// New reference; None if it holds nothing of Python.
inline PyObject* object_in(const intrusive_ptr<Opaque>& p) {
  auto* h = dynamic_cast<PyHolder*>(p.get());
  return new_ref(h ? h->object : Py_None);
}

}  // namespace rl::py
