// torch.device: a value type; as a context manager and decorator it works through
// torch.utils._device, which is imported when first used so.
#include "python/errors.h"
#include "python/types.h"

#include <string>

#include "python/accepts.h"

namespace rl::py {
namespace {

Device value(PyObject* o) { return reinterpret_cast<DeviceObject*>(o)->value; }

const Param kDeviceParams[] = {{"device", Kind::Device, false, false, 0, nullptr}};
const Param kTypeParams[] = {{"type", Kind::Str, false, false, 0, nullptr},
                             {"index", Kind::Int, false, true, 0, nullptr}};
const Signature kSignatures[] = {{"device(torch.device device)", kDeviceParams, 1, 1, false, 0},
                                 {"device(str type, int index=-1)", kTypeParams, 2, 2, false, 0}};
const Overloads kOverloads = {"device", "torch.device", kSignatures, 2, false};

Device with_index(std::string_view type, PyObject* index) {
  Device d = parse_device(type);
  check(d.index < 0, "type (string) must not include an index because index was passed "
        "explicitly: ", type);
  int64_t i = index ? to_int(index) : -1;
  check(i >= -1 && i < 128, "Device index must be between -1 and 127, got ", i);
  d.index = int8_t(i);
  return d;
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    std::vector<PyObject*> flat(PySequence_Fast_ITEMS(args),
                                PySequence_Fast_ITEMS(args) + PyTuple_GET_SIZE(args));
    Ref names;
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
      names = owned(PyTuple_New(PyDict_GET_SIZE(kwargs)));
      PyObject *k, *v;
      Py_ssize_t at = 0, n = 0;
      while (PyDict_Next(kwargs, &at, &k, &v)) {
        PyTuple_SET_ITEM(names.get(), n++, new_ref(k));
        flat.push_back(v);
      }
    }
    PyObject* v[2];
    switch (bind(kOverloads, nullptr, flat.data(), PyTuple_GET_SIZE(args), names.get(), v)) {
      case 0: return wrap(to_device(v[0]));
      case 1: return wrap(with_index(to_str(v[0]), v[1]));
      default: return take_bound_result();
    }
  });
}

PyObject* device_repr(PyObject* o) {
  Device d = value(o);
  std::string s = std::string("device(type='") + device_type_name(d.type) + "'";
  if (d.index >= 0) s += ", index=" + std::to_string(int(d.index));
  return PyUnicode_FromString((s + ")").c_str());
}

PyObject* device_str(PyObject* o) { return PyUnicode_FromString(str(value(o)).c_str()); }

Py_hash_t device_hash(PyObject* o) {
  Device d = value(o);
  return (Py_hash_t(uint8_t(d.type)) << 16) | uint8_t(d.index);
}

PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if (!is_device(a) || !is_device(b) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((value(a) == value(b)) == (op == Py_EQ));
}

PyObject* device_get_type(PyObject* o, void*) {
  return PyUnicode_InternFromString(device_type_name(value(o).type));
}
PyObject* device_get_index(PyObject* o, void*) {
  return value(o).index < 0 ? none() : PyLong_FromLong(value(o).index);
}

PyObject* device_reduce(PyObject* o, PyObject*) {
  Device d = value(o);
  if (d.index < 0) return Py_BuildValue("(O(s))", &device_type, device_type_name(d.type));
  return Py_BuildValue("(O(si))", &device_type, device_type_name(d.type), int(d.index));
}

PyObject* call_helper(const char* name, PyObject* self, PyObject* args) {
  Ref module(PyImport_ImportModule("torch.utils._device"));
  if (!module) return nullptr;
  Ref f(PyObject_GetAttrString(module.get(), name));
  if (!f) return nullptr;
  Ref all(PyTuple_New(1 + PyTuple_GET_SIZE(args)));
  if (!all) return nullptr;
  PyTuple_SET_ITEM(all.get(), 0, new_ref(self));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    PyTuple_SET_ITEM(all.get(), i + 1, new_ref(PyTuple_GET_ITEM(args, i)));
  return PyObject_Call(f.get(), all.get(), nullptr);
}

PyObject* device_enter(PyObject* self, PyObject* args) {
  return call_helper("_enter_device", self, args);
}
PyObject* device_exit(PyObject* self, PyObject* args) {
  return call_helper("_exit_device", self, args);
}
PyObject* device_call(PyObject* self, PyObject* args, PyObject*) {
  return call_helper("_decorate_with_device", self, args);
}

PyGetSetDef properties[] = {{"type", device_get_type, nullptr, nullptr, nullptr},
                            {"index", device_get_index, nullptr, nullptr, nullptr},
                            {}};
PyMethodDef methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                         {"__enter__", device_enter, METH_VARARGS, nullptr},
                         {"__exit__", device_exit, METH_VARARGS, nullptr},
                         {}};

}  // namespace

PyTypeObject device_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* wrap(Device d) {
  auto* o = PyObject_New(DeviceObject, &device_type);
  if (o) o->value = d;
  return reinterpret_cast<PyObject*>(o);
}

bool add_device_types(PyObject* module) {
  PyTypeObject& t = device_type;
  t.tp_name = "torch.device";
  t.tp_basicsize = sizeof(DeviceObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT;
  t.tp_new = device_new;
  t.tp_repr = device_repr;
  t.tp_str = device_str;
  t.tp_hash = device_hash;
  t.tp_richcompare = device_compare;
  t.tp_call = device_call;
  t.tp_methods = methods;
  t.tp_getset = properties;
  return PyModule_AddType(module, &device_type) == 0;
}

}  // namespace rl::py
