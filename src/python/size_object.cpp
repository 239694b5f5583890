// torch.Size: a tuple of ints.
#include "python/accepts.h"
#include "python/errors.h"
#include "python/types.h"

#include <string>

namespace rl::py {
namespace {

PyObject* make_size(Py_ssize_t n) { return size_type.tp_alloc(&size_type, n); }

// A tuple result of tuple's own methods, as a Size.
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_Check(tuple) || Py_TYPE(tuple) == &size_type) return tuple;
  Ref t(tuple);
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject* r = make_size(n);
  if (!r) return nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(r, i, new_ref(PyTuple_GET_ITEM(tuple, i)));
  return r;
}

PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  Ref self(PyTuple_Type.tp_new(type, args, kwargs));
  if (!self) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.get()); ++i) {
    PyObject* x = PyTuple_GET_ITEM(self.get(), i);
    if (PyLong_CheckExact(x)) continue;
    PyObject* number = is_int_like(x) || PyIndex_Check(x) ? PyNumber_Index(x) : nullptr;
    if (!number) {
      PyErr_Clear();
      return PyErr_Format(PyExc_TypeError,
                          "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                          Py_TYPE(x)->tp_name);
    }
    PyTuple_SET_ITEM(self.get(), i, number);
    Py_DECREF(x);
  }
  return self.release();
}

PyObject* size_repr(PyObject* o) {
  std::string s = "torch.Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) {
    Ref r(PyObject_Repr(PyTuple_GET_ITEM(o, i)));
    if (!r) return nullptr;
    if (i) s += ", ";
    s += PyUnicode_AsUTF8(r.get());
  }
  return PyUnicode_FromString((s + "])").c_str());
}

PyObject* size_numel(PyObject* o, PyObject*) {
  int64_t n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
    n *= PyLong_AsLongLong(PyTuple_GET_ITEM(o, i));
  return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(n);
}

PyObject* size_reduce(PyObject* o, PyObject*) {
  Ref items(PyTuple_GetSlice(o, 0, PyTuple_GET_SIZE(o)));
  Ref plain(items ? PySequence_List(items.get()) : nullptr);
  Ref tuple(plain ? PyList_AsTuple(plain.get()) : nullptr);
  return tuple ? Py_BuildValue("(O(O))", &size_type, tuple.get()) : nullptr;
}

PyObject* plain_tuple(PyObject* o) {
  Ref list(PySequence_List(o));
  return list ? PyList_AsTuple(list.get()) : nullptr;
}

// nb_add: Size + tuple and tuple + Size both give a Size.
PyObject* size_add(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) {
    if (PyTuple_Check(a) && Py_TYPE(a) == &size_type)
      return PyErr_Format(PyExc_TypeError,
                          "can only concatenate tuple (not %s) to torch.Size",
                          Py_TYPE(b)->tp_name);
    Py_RETURN_NOTIMPLEMENTED;
  }
  Ref left(plain_tuple(a)), right(plain_tuple(b));
  if (!left || !right) return nullptr;
  Ref both(PySequence_Concat(left.get(), right.get()));
  if (!both) return nullptr;
  return PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&size_type), both.get(),
                                      nullptr);
}

PyObject* size_concat(PyObject* a, PyObject* b) { return size_add(a, b); }
PyObject* size_repeat(PyObject* a, Py_ssize_t n) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(a, n));
}
PyObject* size_subscript(PyObject* a, PyObject* i) {
  PyObject* r = PyTuple_Type.tp_as_mapping->mp_subscript(a, i);
  return PySlice_Check(i) ? as_size(r) : r;
}

PyNumberMethods number = {};
PySequenceMethods sequence = {};
PyMappingMethods mapping = {};
PyMethodDef methods[] = {{"numel", size_numel, METH_NOARGS, nullptr},
                         {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                         {}};

}  // namespace

PyTypeObject size_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* wrap_sizes(IntRef v) {
  PyObject* r = make_size(Py_ssize_t(v.size()));
  if (!r) return nullptr;
  for (size_t i = 0; i < v.size(); ++i) {
    PyObject* x = PyLong_FromLongLong(v[i]);
    if (!x) {
      Py_DECREF(r);
      return nullptr;
    }
    PyTuple_SET_ITEM(r, Py_ssize_t(i), x);
  }
  return r;
}

bool add_size_type(PyObject* module) {
  PyTypeObject& t = size_type;
  number.nb_add = size_add;
  sequence.sq_concat = size_concat;
  sequence.sq_repeat = size_repeat;
  mapping.mp_subscript = size_subscript;
  t.tp_name = "torch.Size";
  t.tp_base = &PyTuple_Type;
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  t.tp_new = size_new;
  t.tp_repr = size_repr;
  t.tp_methods = methods;
  t.tp_as_number = &number;
  t.tp_as_sequence = &sequence;
  t.tp_as_mapping = &mapping;
  return PyModule_AddType(module, &t) == 0;
}

}  // namespace rl::py
