// PyInit__C: types, generated functions by namespace, and what Python asks of the process
// (default dtype, threads, seeds).
#include <Python.h>

#include <cstring>
#include <string>

#include "base/parallel.h"
#include "ops/new_memory.h"
#include "python/accepts.h"
#include "python/autograd.h"
#include "python/errors.h"
#include "python/generated.h"
#include "python/types.h"

namespace rl {
void register_generated_ops();  // gen/registry.cpp
}

namespace rl::py {


namespace {

// Submodules of _C that hold generated functions, and the module that these say they are from.
struct Namespace {
  const char* table;    // FunctionTable::module
  const char* name;     // attribute of torch._C
  const char* module;   // __name__
};
constexpr Namespace kNamespaces[] = {{"torch", "_VariableFunctions", "torch"},
                                     {"nn", "_nn", "torch._C._nn"},
                                     {"linalg", "_linalg", "torch._C._linalg"},
                                     {"fft", "_fft", "torch.fft"},
                                     {"special", "_special", "torch.special"},
                                     {"sparse", "_sparse", "torch.sparse"}};

bool add_functions_of(PyObject* to, const char* table) {
  for (const FunctionTable* t = generated_functions; t->module; ++t)
    if (!std::strcmp(t->module, table) && PyModule_AddFunctions(to, t->methods) < 0) return false;
  return true;
}

bool add_generated(PyObject* module) {
  for (auto& n : kNamespaces) {
    Ref sub(PyModule_New(n.module));
    if (!sub || !add_functions_of(sub.get(), n.table)) return false;
    if (!std::strcmp(n.table, "nn") && PyModule_AddFunctions(sub.get(), nn_functions) < 0)
      return false;
    if (PyModule_AddObjectRef(module, n.name, sub.get()) < 0) return false;
    // importable: `from torch._C._nn import gelu`
    std::string path = std::string("torch._C.") + n.name;
    if (PyDict_SetItemString(PyImport_GetModuleDict(), path.c_str(), sub.get()) < 0) return false;
  }
  return add_functions_of(module, "private");
}

// _fill_namespace(dict, "_VariableFunctions"): all public functions at once.
PyObject* py_fill_namespace(PyObject* module, PyObject* args) {
  PyObject* into;
  const char* from;
  if (!PyArg_ParseTuple(args, "O!s", &PyDict_Type, &into, &from)) return nullptr;
  Ref sub(PyObject_GetAttrString(module, from));
  if (!sub) return nullptr;
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(PyModule_GetDict(sub.get()), &at, &key, &value)) {
    const char* name = PyUnicode_AsUTF8(key);
    if (name[0] == '_' && name[1] == '_') continue;
    if (PyDict_SetItem(into, key, value) < 0) return nullptr;
  }
  return none();
}

PyObject* py_set_default_dtype(PyObject*, PyObject* d) {
  return guarded([&]() -> PyObject* {
    check_type(is_dtype(d), "invalid dtype object: only floating-point types are supported as the "
               "default type");
    set_default_dtype(dtype_of_object(d));
    return none();
  });
}
PyObject* py_get_default_dtype(PyObject*, PyObject*) { return wrap(default_dtype()); }

PyObject* py_set_fill_new_memory(PyObject*, PyObject* on) {
  const int value = PyObject_IsTrue(on);
  if (value < 0) return nullptr;
  native::set_fill_new_memory(value != 0);
  Py_RETURN_NONE;
}
PyObject* py_set_num_threads(PyObject*, PyObject* n) {
  return guarded([&]() -> PyObject* {
    check(is_int_like(n), "set_num_threads expects an int, but got ", Py_TYPE(n)->tp_name);
    int64_t v = to_int(n);
    check(v > 0, "set_num_threads expects a positive integer");
    set_num_threads(int(v));
    return none();
  });
}
PyObject* py_get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }

PyObject* py_promote_types(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 2 && is_dtype(args[0]) && is_dtype(args[1]),
               "promote_types(): expected two torch.dtype arguments");
    return wrap(promote_types(dtype_of_object(args[0]), dtype_of_object(args[1])));
  });
}
PyObject* py_can_cast(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 2 && is_dtype(args[0]) && is_dtype(args[1]),
               "can_cast(): expected two torch.dtype arguments");
    return wrap(can_cast(dtype_of_object(args[0]), dtype_of_object(args[1])));
  });
}

PyObject* py_allocator_stats(PyObject*, PyObject*) {
  AllocatorStats s = cpu_allocator_stats();
  return Py_BuildValue("{sL sL sL sL sL}", "allocated", s.allocated, "reserved", s.reserved,
                       "peak_allocated", s.peak_allocated, "peak_reserved", s.peak_reserved,
                       "num_allocs", s.num_allocs);
}
PyObject* py_reset_peak(PyObject*, PyObject*) {
  cpu_allocator_reset_peak();
  return none();
}
PyObject* py_empty_cache(PyObject*, PyObject*) {
  cpu_empty_cache();
  return none();
}


template <class F>
PyCFunction fast(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}
PyMethodDef functions[] = {
    {"_fill_namespace", py_fill_namespace, METH_VARARGS, nullptr},
    {"_set_default_dtype", py_set_default_dtype, METH_O, nullptr},
    {"get_default_dtype", py_get_default_dtype, METH_NOARGS, nullptr},
    {"set_num_threads", py_set_num_threads, METH_O, nullptr},
    {"_set_fill_new_memory", py_set_fill_new_memory, METH_O, nullptr},
    {"get_num_threads", py_get_num_threads, METH_NOARGS, nullptr},
    {"promote_types", fast(py_promote_types), METH_FASTCALL, nullptr},
    {"can_cast", fast(py_can_cast), METH_FASTCALL, nullptr},
    {"_cpu_allocator_stats", py_allocator_stats, METH_NOARGS, nullptr},
    {"_cpu_allocator_reset_peak", py_reset_peak, METH_NOARGS, nullptr},
    {"_cpu_empty_cache", py_empty_cache, METH_NOARGS, nullptr},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch._C", nullptr, -1, nullptr, nullptr,
                          nullptr, nullptr, nullptr};

bool add_error_classes(PyObject* module) {
  linalg_error = PyErr_NewException("torch._C._LinAlgError", PyExc_RuntimeError, nullptr);
  out_of_memory_error = PyErr_NewException("torch.OutOfMemoryError", PyExc_RuntimeError, nullptr);
  return linalg_error && out_of_memory_error &&
         PyModule_AddObjectRef(module, "_LinAlgError", linalg_error) == 0 &&
         PyModule_AddObjectRef(module, "OutOfMemoryError", out_of_memory_error) == 0;
}

bool fill(PyObject* m) {
  register_generated_ops();
  install_warning_handler();
  install_front_lock();
  return add_error_classes(m) && PyModule_AddFunctions(m, functions) == 0 &&
         add_override_functions(m) && add_dtype_types(m) && add_device_types(m) &&
         add_size_type(m) && add_return_types(m) &&
         add_storage_type(m) && add_tensor_type(m) && add_generator_type(m) &&
         add_registry_functions(m) && add_generated(m) && add_construct_functions(m) &&
         add_autograd(m) && add_serialize_functions(m) && add_nn_module_functions(m) &&
         add_mode_functions(m);
}

}  // namespace
}  // namespace rl::py

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__C() {
  PyObject* m = PyModule_Create(&rl::py::definition);
  if (m && !rl::py::fill(m)) {
    Py_DECREF(m);
    return nullptr;
  }
  return m;
}
