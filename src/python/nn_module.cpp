// torch.nn.Module's attribute reads and calls without a Python frame.
//
// Module defines __getattr__ and __call__ in Python; through them a read of `self.conv` costs more
// than half a microsecond and a call as much again, for every layer of every model. Here both are
// slots of the type. They do the same as the Python methods in the usual case and call these
// otherwise: a missing attribute, any hook, a compiled module. A class that overrides __getattr__,
// __getattribute__, __call__ or _call_impl keeps its own; assigning to one of them later resets
// the slots, as CPython does for any type.
#include <Python.h>

#include "python/types.h"

namespace rl::py {

namespace {

struct Names {
  PyObject *getattr, *getattribute, *call, *call_impl, *forward, *compiled;
  PyObject* owners[3];  // _parameters, _modules, _buffers
  PyObject* hooks[4];   // of one module
};
Names names;
PyObject* base;             // torch.nn.Module
PyObject* global_hooks[4];  // OrderedDicts of hooks on all modules
ternaryfunc slow_call;      // CPython's slot that looks __call__ up

bool make_names() {
  auto intern = [](const char* s) { return PyUnicode_InternFromString(s); };
  names = {intern("__getattr__"), intern("__getattribute__"), intern("__call__"),
           intern("_call_impl"), intern("forward"), intern("_compiled_call_impl"),
           {intern("_parameters"), intern("_modules"), intern("_buffers")},
           {intern("_forward_hooks"), intern("_forward_pre_hooks"), intern("_backward_hooks"),
            intern("_backward_pre_hooks")}};
  return !PyErr_Occurred();
}

// A dict item, borrowed; null where it is missing.
PyObject* item(PyObject* dict, PyObject* key) {
  return dict && PyDict_Check(dict) ? PyDict_GetItemWithError(dict, key) : nullptr;
}

PyObject* missing_attribute(PyObject* self, PyObject* name) {
  PyObject* method = PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), names.getattr);
  if (!method) return nullptr;
  PyObject* args[] = {self, name};
  PyObject* result = PyObject_Vectorcall(method, args, 2, nullptr);
  Py_DECREF(method);
  return result;
}

// The ordinary lookup; null without an error where there is no such attribute.
PyObject* ordinary_attribute(PyObject* self, PyObject* name) {
#if PY_VERSION_HEX < 0x030D0000
  return _PyObject_GenericGetAttrWithDict(self, name, nullptr, 1);
#else
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return found;
#endif
}

PyObject* module_getattro(PyObject* self, PyObject* name) {
  PyObject* found = ordinary_attribute(self, name);
  if (found || PyErr_Occurred()) return found;
  PyObject* state = PyObject_GenericGetDict(self, nullptr);
  if (!state) return nullptr;
  for (PyObject* owner : names.owners) {
    found = item(item(state, owner), name);
    if (found || PyErr_Occurred()) break;
  }
  Py_XINCREF(found);
  Py_DECREF(state);
  if (found || PyErr_Occurred()) return found;
  return missing_attribute(self, name);
}

// Whether nothing stands between a call and forward().
bool is_plain_call(PyObject* state) {
  for (PyObject* hooks : global_hooks)
    if (PyDict_GET_SIZE(hooks)) return false;
  for (PyObject* key : names.hooks) {
    PyObject* hooks = item(state, key);
    if (!hooks || !PyDict_Check(hooks) || PyDict_GET_SIZE(hooks)) return false;
  }
  return !item(state, names.compiled) && !item(state, names.call_impl);
}

PyObject* module_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* state = PyObject_GenericGetDict(self, nullptr);
  if (!state) return nullptr;
  bool plain = is_plain_call(state);
  Py_DECREF(state);
  if (PyErr_Occurred()) return nullptr;
  if (!plain) return slow_call(self, args, kwargs);
  PyObject* forward = PyObject_GetAttr(self, names.forward);
  if (!forward) return nullptr;
  PyObject* result = PyObject_Call(forward, args, kwargs);
  Py_DECREF(forward);
  return result;
}

bool same_as_base(PyObject* cls, PyObject* name) {
  PyObject* mine = PyObject_GetAttr(cls, name);
  PyObject* theirs = PyObject_GetAttr(base, name);
  bool same = mine && mine == theirs;
  Py_XDECREF(mine);
  Py_XDECREF(theirs);
  PyErr_Clear();
  return same;
}

// _nn_module_adopt(cls): give a subclass of Module the fast slots where it inherits the methods.
PyObject* adopt(PyObject*, PyObject* cls) {
  if (!base || !PyType_Check(cls)) Py_RETURN_NONE;
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (same_as_base(cls, names.getattr) && same_as_base(cls, names.getattribute))
    type->tp_getattro = module_getattro;
  if (same_as_base(cls, names.call) && same_as_base(cls, names.call_impl))
    type->tp_call = module_call;
  PyType_Modified(type);
  Py_RETURN_NONE;
}

// _nn_module_setup(Module, global forward, forward pre, backward and backward pre hooks)
PyObject* setup(PyObject* self, PyObject* args) {
  PyObject *cls, *hooks[4];
  if (!PyArg_ParseTuple(args, "O!O!O!O!O!", &PyType_Type, &cls, &PyDict_Type, &hooks[0],
                        &PyDict_Type, &hooks[1], &PyDict_Type, &hooks[2], &PyDict_Type, &hooks[3]))
    return nullptr;
  if (!base && !make_names()) return nullptr;
  Py_INCREF(cls);
  base = cls;
  for (int i = 0; i < 4; ++i) {
    Py_INCREF(hooks[i]);
    global_hooks[i] = hooks[i];
  }
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (type->tp_call != module_call) slow_call = type->tp_call;
  return adopt(self, cls);
}

PyMethodDef functions[] = {{"_nn_module_setup", setup, METH_VARARGS, nullptr},
                           {"_nn_module_adopt", adopt, METH_O, nullptr},
                           {}};

}  // namespace

bool add_nn_module_functions(PyObject* module) {
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace rl::py
