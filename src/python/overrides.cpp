// Dispatch to __torch_function__, the stack of function modes and the switches that turn them off.
#include "python/overrides.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "python/errors.h"
#include "python/types.h"

namespace rl::py {

thread_local FunctionState function_state;

namespace {

PyObject* disabled_function = nullptr;  // torch._C._disabled_torch_function_impl
PyObject* name_torch_function = nullptr;
PyObject* disabled_dispatch = nullptr;  // torch._C._disabled_torch_dispatch_impl
PyObject* name_torch_dispatch = nullptr;
thread_local bool dispatch_off = false;  // inside _DisableTorchDispatch

// What the class of `o` defines; borrowed, null if nothing.
PyObject* class_hook(PyTypeObject* t) { return _PyType_Lookup(t, name_torch_function); }

std::string types_text(const Overriding& who) {
  std::string s = "[";
  for (size_t i = 0; i < who.args.size(); ++i) {
    Ref r = owned(PyObject_Repr(reinterpret_cast<PyObject*>(Py_TYPE(who.args[i]))));
    if (i) s += ", ";
    s += PyUnicode_AsUTF8(r.get());
  }
  return s + "]";
}

PyObject* types_tuple(const Overriding& who) {
  PyObject* t = PyTuple_New(Py_ssize_t(who.args.size()));
  if (!t) throw_python_error();
  for (size_t i = 0; i < who.args.size(); ++i)
    PyTuple_SET_ITEM(t, Py_ssize_t(i), new_ref(reinterpret_cast<PyObject*>(Py_TYPE(who.args[i]))));
  return t;
}

// The innermost mode steps aside while it handles a call.
struct ModeAside {
  PyObject* mode;
  ModeAside() : mode(function_state.modes.back()) {
    function_state.modes.pop_back();
    function_state.refresh();
  }
  ~ModeAside() {
    function_state.modes.push_back(mode);
    function_state.refresh();
  }
};

Ref call_hook(PyObject* hook, PyObject* function, PyObject* types, PyObject* args,
              PyObject* kwargs) {
  return owned(PyObject_CallFunctionObjArgs(hook, function, types, args, kwargs, nullptr));
}

}  // namespace

bool class_dispatches(PyTypeObject* type) {
  if (type == tensor_type) return false;
  PyObject* hook = _PyType_Lookup(type, name_torch_dispatch);
  return hook && hook != disabled_dispatch;
}

void wrappers_about() {
  if (!dispatch_off) tls.modes |= kWrappers;
}

bool overrides(PyObject* o) {
  // A tensor of another thread makes this one look at every call's arguments.
  if (is_tensor(o) && tensor_of(o).defined() && tensor_of(o)->dispatches) [[unlikely]]
    wrappers_about();
  if (function_state.disabled) return false;
  PyObject* hook = class_hook(Py_TYPE(o));
  if (!hook) return false;
  return hook != disabled_function && Py_TYPE(o) != tensor_type;
}

void Overriding::add(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  for (PyObject* a : args)
    if (Py_TYPE(a) == t) return;
  // A subclass is asked before the classes it derives from.
  auto at = std::find_if(args.begin(), args.end(),
                         [&](PyObject* a) { return PyType_IsSubtype(t, Py_TYPE(a)); });
  args.insert(at, o);
}

PyObject* call_torch_function(const Overriding& who, PyObject* function, PyObject* args,
                              PyObject* kwargs, const char* qualified) {
  Ref types = owned(types_tuple(who));
  Ref no_kwargs;
  if (!kwargs) {
    no_kwargs = owned(PyDict_New());
    kwargs = no_kwargs.get();
  }
  if (function_state.modes_on) {
    ModeAside aside;
    Ref hook = owned(PyObject_GetAttr(aside.mode, name_torch_function));
    Ref r = call_hook(hook.get(), function, types.get(), args, kwargs);
    if (r.get() != Py_NotImplemented) return r.release();
  }
  for (PyObject* o : who.args) {
    Ref hook = owned(PyObject_GetAttr(o, name_torch_function));
    Ref r = call_hook(hook.get(), function, types.get(), args, kwargs);
    if (r.get() != Py_NotImplemented) return r.release();
  }
  fail_as(ErrorKind::Type, "Multiple dispatch failed for '", qualified,
          "'; all __torch_function__ handlers returned NotImplemented:\n\n  - tensor types ",
          types_text(who));
}

PyObject* resolve_qualified(const char* name) {
  const char* dot = std::strchr(name, '.');
  std::string head = dot ? std::string(name, size_t(dot - name)) : std::string(name);
  Ref o(PyImport_ImportModule(head.c_str()));
  while (o && dot) {
    const char* from = dot + 1;
    dot = std::strchr(from, '.');
    std::string part = dot ? std::string(from, size_t(dot - from)) : std::string(from);
    o = Ref(PyObject_GetAttrString(o.get(), part.c_str()));
  }
  return o.release();
}

namespace {

bool self_overrides(PyObject* self) {
  if (is_exact_tensor(self)) return function_state.modes_on;
  return function_state.modes_on || overrides(self);
}

PyObject* call_accessor(PyObject* self, const char* name, const char* accessor, PyObject* value) {
  Ref descriptor =
      owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  Ref function = owned(PyObject_GetAttrString(descriptor.get(), accessor));
  Ref args = owned(value ? PyTuple_Pack(2, self, value) : PyTuple_Pack(1, self));
  Overriding who;
  if (overrides(self)) who.add(self);
  return call_torch_function(who, function.get(), args.get(), nullptr, name);
}

}  // namespace

bool property_overridden(PyObject* self, const char* name, PyObject** out) {
  if (!self_overrides(self)) return false;
  *out = guarded([&] { return call_accessor(self, name, "__get__", nullptr); });
  return true;
}

bool property_set_overridden(PyObject* self, const char* name, PyObject* value, int* out) {
  if (!self_overrides(self)) return false;
  const char* accessor = value ? "__set__" : "__delete__";
  Ref r(guarded([&] { return call_accessor(self, name, accessor, value); }));
  *out = r ? 0 : -1;
  return true;
}

bool method_overridden(PyObject* self, const char* name, PyObject* const* args, Py_ssize_t nargs,
                       PyObject* kwnames, PyObject** out) {
  if (!self_overrides(self)) return false;
  *out = guarded([&]() -> PyObject* {
    Ref function = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
    Ref all = owned(PyTuple_New(nargs + 1));
    PyTuple_SET_ITEM(all.get(), 0, new_ref(self));
    for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(all.get(), i + 1, new_ref(args[i]));
    Ref kwargs = owned(PyDict_New());
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
      check_python(PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(kwnames, k),
                                  args[nargs + k]) == 0);
    Overriding who;
    if (overrides(self)) who.add(self);
    for (Py_ssize_t i = 0; i < nargs; ++i)
      if (is_tensor(args[i]) && overrides(args[i])) who.add(args[i]);
    return call_torch_function(who, function.get(), all.get(), kwargs.get(), name);
  });
  return true;
}

// ---- what Python sees
namespace {

PyObject* py_disabled(PyObject*, PyObject* args) {
  PyObject *function, *types, *call_args, *kwargs = nullptr;
  if (!PyArg_ParseTuple(args, "OOO|O", &function, &types, &call_args, &kwargs)) return nullptr;
  uint8_t saved = function_state.disabled;
  function_state.disabled = std::max<uint8_t>(saved, 1);
  function_state.refresh();
  Ref tuple(PySequence_Tuple(call_args));
  PyObject* r = tuple ? PyObject_Call(function, tuple.get(),
                                      kwargs && kwargs != Py_None ? kwargs : nullptr)
                      : nullptr;
  function_state.disabled = saved;
  function_state.refresh();
  return r;
}

bool has_override(PyObject* o) {
  if (is_exact_tensor(o) || o == Py_None || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
      PyUnicode_CheckExact(o))
    return false;
  return overrides(o);
}

PyObject* py_has_unary(PyObject*, PyObject* o) {
  return PyBool_FromLong(function_state.modes_on || has_override(o));
}

PyObject* py_has_variadic(PyObject*, PyObject* const* args, Py_ssize_t n) {
  bool found = function_state.modes_on;
  for (Py_ssize_t i = 0; !found && i < n; ++i) found = has_override(args[i]);
  return PyBool_FromLong(found);
}

PyObject* py_has(PyObject*, PyObject* relevant) {
  Ref seq(PySequence_Fast(relevant, "expected a sequence"));
  if (!seq) return nullptr;
  return py_has_variadic(nullptr, PySequence_Fast_ITEMS(seq.get()),
                         PySequence_Fast_GET_SIZE(seq.get()));
}

PyObject* py_push(PyObject*, PyObject* mode) {
  function_state.modes.push_back(new_ref(mode));
  function_state.refresh();
  return none();
}

PyObject* py_pop(PyObject*, PyObject*) {
  if (function_state.modes.empty()) {
    PyErr_SetString(PyExc_AssertionError, "no torch function mode is active");
    return nullptr;
  }
  PyObject* mode = function_state.modes.back();
  function_state.modes.pop_back();
  function_state.refresh();
  return mode;
}

PyObject* py_depth(PyObject*, PyObject*) {
  return PyLong_FromSize_t(function_state.modes.size());
}

PyObject* py_at(PyObject*, PyObject* i) {
  Py_ssize_t k = PyLong_AsSsize_t(i), n = Py_ssize_t(function_state.modes.size());
  if (k == -1 && PyErr_Occurred()) return nullptr;
  if (k < 0 || k >= n) {
    PyErr_SetString(PyExc_IndexError, "torch function mode stack index out of range");
    return nullptr;
  }
  return new_ref(function_state.modes[size_t(k)]);
}

PyObject* py_set_disabled(PyObject*, PyObject* level) {
  long v = PyLong_AsLong(level);
  if (v == -1 && PyErr_Occurred()) return nullptr;
  long old = function_state.disabled;
  function_state.disabled = uint8_t(v);
  function_state.refresh();
  return PyLong_FromLong(old);
}

PyObject* py_enabled(PyObject*, PyObject*) { return PyBool_FromLong(!function_state.disabled); }
PyObject* py_all_disabled(PyObject*, PyObject*) {
  return PyBool_FromLong(function_state.disabled == 2);
}

// Context managers DisableTorchFunctionSubclass (level 1) and DisableTorchFunction (level 2).
struct DisableObject {
  PyObject_HEAD
  uint8_t saved;
};
template <int Level>
PyObject* disable_enter(PyObject* self, PyObject*) {
  reinterpret_cast<DisableObject*>(self)->saved = function_state.disabled;
  function_state.disabled = std::max<uint8_t>(function_state.disabled, Level);
  function_state.refresh();
  return none();
}
PyObject* disable_exit(PyObject* self, PyObject*) {
  function_state.disabled = reinterpret_cast<DisableObject*>(self)->saved;
  function_state.refresh();
  return none();
}
template <int Level>
PyMethodDef disable_methods[] = {{"__enter__", disable_enter<Level>, METH_NOARGS, nullptr},
                                 {"__exit__", disable_exit, METH_VARARGS, nullptr},
                                 {}};
template <int Level>
PyTypeObject* disable_type(const char* name) {
  static PyTypeObject t = {PyVarObject_HEAD_INIT(nullptr, 0)};
  t.tp_name = name;
  t.tp_basicsize = sizeof(DisableObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT;
  t.tp_methods = disable_methods<Level>;
  t.tp_new = PyType_GenericNew;
  return &t;
}

// with _DisableTorchDispatch(): kernels run, whatever modes and classes say.
struct DispatchOffObject {
  PyObject_HEAD
  uint8_t bits;
  bool saved;
};
PyObject* dispatch_off_enter(PyObject* self, PyObject*) {
  auto* o = reinterpret_cast<DispatchOffObject*>(self);
  o->bits = tls.modes & kBelowAutograd;
  o->saved = dispatch_off;
  dispatch_off = true;
  tls.modes &= uint8_t(~kBelowAutograd);
  return new_ref(self);
}
PyObject* dispatch_off_exit(PyObject* self, PyObject*) {
  auto* o = reinterpret_cast<DispatchOffObject*>(self);
  dispatch_off = o->saved;
  tls.modes |= o->bits;
  return none();
}
PyMethodDef dispatch_off_methods[] = {{"__enter__", dispatch_off_enter, METH_NOARGS, nullptr},
                                      {"__exit__", dispatch_off_exit, METH_VARARGS, nullptr},
                                      {}};
PyTypeObject* dispatch_off_type() {
  static PyTypeObject t = {PyVarObject_HEAD_INIT(nullptr, 0)};
  t.tp_name = "torch._C._DisableTorchDispatch";
  t.tp_basicsize = sizeof(DispatchOffObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT;
  t.tp_methods = dispatch_off_methods;
  t.tp_new = PyType_GenericNew;
  return &t;
}

PyMethodDef functions[] = {
    {"_disabled_torch_function_impl", py_disabled, METH_VARARGS, nullptr},
    {"_disabled_torch_dispatch_impl", py_disabled, METH_VARARGS, nullptr},
    {"_has_torch_function", py_has, METH_O, nullptr},
    {"_has_torch_function_unary", py_has_unary, METH_O, nullptr},
    {"_has_torch_function_variadic", reinterpret_cast<PyCFunction>(
         reinterpret_cast<void (*)()>(py_has_variadic)), METH_FASTCALL, nullptr},
    {"_push_on_torch_function_stack", py_push, METH_O, nullptr},
    {"_pop_torch_function_stack", py_pop, METH_NOARGS, nullptr},
    {"_len_torch_function_stack", py_depth, METH_NOARGS, nullptr},
    {"_get_function_stack_at", py_at, METH_O, nullptr},
    {"_set_torch_function_disabled", py_set_disabled, METH_O, nullptr},
    {"_is_torch_function_enabled", py_enabled, METH_NOARGS, nullptr},
    {"_is_torch_function_all_disabled", py_all_disabled, METH_NOARGS, nullptr},
    {}};

}  // namespace

bool add_override_functions(PyObject* module) {
  name_torch_function = PyUnicode_InternFromString("__torch_function__");
  name_torch_dispatch = PyUnicode_InternFromString("__torch_dispatch__");
  if (PyModule_AddFunctions(module, functions) < 0) return false;
  disabled_function = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
  disabled_dispatch = PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl");
  if (!disabled_function || !disabled_dispatch) return false;
  return PyModule_AddType(module, disable_type<1>("torch._C.DisableTorchFunctionSubclass")) == 0 &&
         PyModule_AddType(module, disable_type<2>("torch._C.DisableTorchFunction")) == 0 &&
         PyModule_AddType(module, dispatch_off_type()) == 0;
}

}  // namespace rl::py
