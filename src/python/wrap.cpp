// C++ results to Python objects, and the named tuples of operators with several outputs.
#include "python/errors.h"
#include "python/generated.h"
#include "python/tensor_object.h"
#include "python/types.h"

#include <string>

namespace rl::py {

PyObject* wrap(const std::vector<Tensor>& l) {
  Ref t = owned(PyTuple_New(Py_ssize_t(l.size())));
  for (size_t i = 0; i < l.size(); ++i) {
    PyObject* x = wrap(l[i]);
    if (!x) throw_python_error();
    PyTuple_SET_ITEM(t.get(), Py_ssize_t(i), x);
  }
  return t.release();
}

PyObject* wrap_list(const std::vector<Tensor>& l) {
  Ref t = owned(PyList_New(Py_ssize_t(l.size())));
  for (size_t i = 0; i < l.size(); ++i) {
    PyObject* x = wrap(l[i]);
    if (!x) throw_python_error();
    PyList_SET_ITEM(t.get(), Py_ssize_t(i), x);
  }
  return t.release();
}

PyObject* wrap(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::Bool: return PyBool_FromLong(s.to_bool());
    case Scalar::Kind::Int: return PyLong_FromLongLong(s.to_int());
    case Scalar::Kind::Float: return PyFloat_FromDouble(s.to_double());
    default: {
      cdouble c = s.to_complex();
      return PyComplex_FromDoubles(c.real(), c.imag());
    }
  }
}

PyObject* wrap(bool v) { return PyBool_FromLong(v); }
PyObject* wrap(int64_t v) { return PyLong_FromLongLong(v); }
PyObject* wrap(double v) { return PyFloat_FromDouble(v); }

namespace {

PyObject* return_type_reduce(PyObject* self, PyObject*) {
  Ref items(PySequence_Tuple(self));
  return items ? Py_BuildValue("(O(O))", Py_TYPE(self), items.get()) : nullptr;
}

PyObject* return_type_repr(PyObject* self) {
  PyTypeObject* t = Py_TYPE(self);
  const char* dot = strrchr(t->tp_name, '.');
  std::string s = std::string("torch.return_types.") + (dot ? dot + 1 : t->tp_name) + "(\n";
  Ref fields(PyObject_GetAttrString(reinterpret_cast<PyObject*>(t), "__match_args__"));
  if (!fields) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    Ref r(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
    if (!r) return nullptr;
    if (i) s += ",\n";
    s += std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields.get(), i))) + "=" +
         PyUnicode_AsUTF8(r.get());
  }
  return PyUnicode_FromString((s + ")").c_str());
}

PyMethodDef return_type_methods[] = {{"__reduce__", return_type_reduce, METH_NOARGS, nullptr}, {}};

PyTypeObject* make_return_type(const ReturnType& rt) {
  auto* fields = new PyStructSequence_Field[rt.num + 1]();
  for (int i = 0; i < rt.num; ++i) fields[i] = {rt.fields[i], ""};
  auto* name = new std::string(std::string("torch.return_types.") + rt.name);
  PyStructSequence_Desc desc = {name->c_str(), "", fields, rt.num};
  PyTypeObject* t = PyStructSequence_NewType(&desc);
  if (!t) throw_python_error();
  t->tp_repr = return_type_repr;
  Ref reduce = owned(PyDescr_NewMethod(t, return_type_methods));
  auto* as_object = reinterpret_cast<PyObject*>(t);
  check_python(PyObject_SetAttrString(as_object, "__reduce__", reduce.get()) == 0);
  Ref module = owned(PyUnicode_FromString("torch.return_types"));
  check_python(PyObject_SetAttrString(as_object, "__module__", module.get()) == 0);
  return t;
}

PyObject* made_types = nullptr;  // name -> type, for torch.return_types

PyObject* py_return_types(PyObject*, PyObject*) {
  return guarded([&] {
    for (const ReturnType* const* const* list = generated_return_types; *list; ++list)
      for (const ReturnType* const* rt = *list; *rt; ++rt) return_type_of(**rt);
    return PyDict_Copy(made_types);
  });
}
PyMethodDef functions[] = {{"_return_types", py_return_types, METH_NOARGS, nullptr}, {}};

}  // namespace

bool add_return_types(PyObject* module) {
  made_types = PyDict_New();
  return made_types && PyModule_AddFunctions(module, functions) == 0;
}

// Overloads of one name with the same fields share their type.
static PyTypeObject* made_before(const ReturnType& rt) {
  PyObject* t = PyDict_GetItemString(made_types, rt.name);
  if (!t) return nullptr;
  Ref fields = owned(PyObject_GetAttrString(t, "__match_args__"));
  if (PyTuple_GET_SIZE(fields.get()) != rt.num) return nullptr;
  for (int i = 0; i < rt.num; ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(fields.get(), i), rt.fields[i]))
      return nullptr;
  return reinterpret_cast<PyTypeObject*>(new_ref(t));
}

PyTypeObject* return_type_of(const ReturnType& rt) {
  if (!rt.type) rt.type = made_before(rt);
  if (!rt.type) {
    rt.type = make_return_type(rt);
    auto* as_object = reinterpret_cast<PyObject*>(rt.type);
    check_python(PyDict_SetItemString(made_types, rt.name, as_object) == 0);
  }
  return rt.type;
}

PyObject* wrap_items(const ReturnType& rt, PyObject** items) {
  bool ok = true;
  for (int i = 0; i < rt.num; ++i) ok &= items[i] != nullptr;
  PyObject* r = nullptr;
  if (ok) {
    r = rt.fields ? PyStructSequence_New(return_type_of(rt)) : PyTuple_New(rt.num);
  }
  if (!r) {
    for (int i = 0; i < rt.num; ++i) Py_XDECREF(items[i]);
    throw_python_error();
  }
  for (int i = 0; i < rt.num; ++i) {
    if (rt.fields) PyStructSequence_SetItem(r, i, items[i]);
    else PyTuple_SET_ITEM(r, i, items[i]);
  }
  return r;
}

}  // namespace rl::py
