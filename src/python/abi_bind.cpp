// The registry of compiled operators (src/abi) as torch.library and torch.ops see it, parsed
// schemas, and the way back: compiled code that calls operators written in Python.
#include <mutex>
#include <string>
#include <unordered_map>

#include "abi/library.h"
#include "python/accepts.h"
#include "python/boxed.h"
#include "python/types.h"

namespace rl::py {
namespace {

PyObject* text(const std::string& s) {
  return PyUnicode_FromStringAndSize(s.data(), Py_ssize_t(s.size()));
}

template <class V, class F>
Ref tuple_of(const V& v, F&& item) {
  Ref r = owned(PyTuple_New(Py_ssize_t(v.size())));
  for (size_t i = 0; i < v.size(); ++i)
    PyTuple_SET_ITEM(r.get(), Py_ssize_t(i), owned(item(v[i])).release());
  return r;
}

// (text, number in int[N] or -1, alias annotation, inner types)
PyObject* type_tuple(const abi::Type& t) {
  Ref inner = tuple_of(t.inner, type_tuple);
  abi::Type plain = t;
  plain.alias.clear();
  return Py_BuildValue("(NnNO)", text(str(plain)), Py_ssize_t(t.size),
                       text(t.alias), inner.get());
}

// (type, name, has a default, default, keyword only)
PyObject* argument_tuple(const abi::Argument& a) {
  Ref type = owned(type_tuple(a.type));
  Ref fallback = owned(a.fallback ? from_ivalue(*a.fallback) : none());
  return Py_BuildValue("(ONiOi)", type.get(), text(a.name), a.fallback.has_value(),
                       fallback.get(), a.kwarg_only);
}

// _parse_schema(text) -> (printed, name, overload, arguments, returns, vararg, varret)
PyObject* parse_schema(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    abi::Schema s = abi::parse_schema(to_str(o));
    Ref arguments = tuple_of(s.arguments, argument_tuple);
    Ref returns = tuple_of(s.returns, argument_tuple);
    return Py_BuildValue("(NNNOOii)", text(str(s)), text(s.name), text(s.overload),
                         arguments.get(), returns.get(), s.vararg, s.varret);
  });
}

PyObject* generation(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(abi::registry_generation());
}

// _abi_registrations() -> ([(schema, alive, tags)], [(qualified name, key, alive)])
PyObject* registrations(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref defined = tuple_of(abi::definitions(), [](const abi::Definition& d) {
      Ref tags = tuple_of(d.tags, [](int32_t t) { return PyLong_FromLong(t); });
      return Py_BuildValue("(sNO)", d.schema.c_str(), PyBool_FromLong(d.alive), tags.get());
    });
    Ref implemented = tuple_of(abi::kernels(), [](const abi::Kernel& k) {
      return Py_BuildValue("(ssN)", k.qualified.c_str(), k.key.c_str(), PyBool_FromLong(k.alive));
    });
    return Py_BuildValue("(OO)", defined.get(), implemented.get());
  });
}

const abi::Schema& known_schema(std::string_view text) {
  static auto& known = *new std::unordered_map<std::string, abi::Schema>();
  std::string key(text);
  auto it = known.find(key);
  if (it == known.end()) it = known.emplace(key, abi::parse_schema(text)).first;
  return it->second;
}

// _abi_run_kernel(number of the kernel, schema, arguments) -> results
PyObject* run_kernel(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    Py_ssize_t number;
    PyObject *schema_text, *arguments;
    if (!PyArg_ParseTuple(args, "nUO!", &number, &schema_text, &PyTuple_Type, &arguments))
      throw_python_error();
    abi::BoxedKernel kernel = abi::kernel_at(size_t(number));
    check(kernel, "the library of this kernel is gone");
    const abi::Schema& schema = known_schema(to_str(schema_text));
    Stack stack = to_stack(arguments);
    {
      GilRelease unlocked;
      abi::run_kernel(schema, kernel, stack);
    }
    return from_stack(stack);
  });
}

// ---- from compiled code into Python

PyObject *schema_callback, *call_callback;

// A Python exception becomes a message: none may pass through compiled code of others.
[[noreturn]] void fail_with_python_error() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Ref t(type), v(value), b(trace);
  Ref shown(value ? PyObject_Str(value) : nullptr);
  const char* message = shown ? PyUnicode_AsUTF8(shown.get()) : "unknown error";
  std::string said = message ? message : "unknown error";
  PyErr_Clear();
  throw_error(ErrorKind::Runtime, std::move(said));
}

bool python_schema(const std::string& qualified, std::string& out) {
  if (!Py_IsInitialized()) return false;
  GilAcquire gil;
  Ref r(PyObject_CallFunction(schema_callback, "s", qualified.c_str()));
  if (!r) fail_with_python_error();
  if (r.get() == Py_None) return false;
  out = to_str(r.get());
  return true;
}

void python_call(const std::string& qualified, Stack& stack) {
  GilAcquire gil;
  Ref args = owned(PyTuple_New(Py_ssize_t(stack.size())));
  for (size_t i = 0; i < stack.size(); ++i)
    PyTuple_SET_ITEM(args.get(), Py_ssize_t(i), from_ivalue(stack[i]));
  stack.clear();
  Ref r(PyObject_CallFunction(call_callback, "sO", qualified.c_str(), args.get()));
  if (!r) fail_with_python_error();
  stack = to_stack(r.get());  // always a tuple
}

// ---- objects in compiled code

void check_object(bool ok, const char* what, void* object) {
  check_type(ok, what, Py_TYPE(static_cast<PyObject*>(object))->tp_name);
}

const abi::Objects kObjects = {
    [](void* o) { return is_tensor(static_cast<PyObject*>(o)); },
    [](void* o) {
      check_object(is_tensor(static_cast<PyObject*>(o)),
                   "torch_tensor_from_pyobject: expected torch.Tensor, got ", o);
      return tensor_of(static_cast<PyObject*>(o));
    },
    [](const Tensor& t) -> void* { return wrap(t); },
    [](void* o, void* type) {
      return PyObject_IsInstance(static_cast<PyObject*>(o), static_cast<PyObject*>(type)) == 1;
    },
    [](void* o) {
      check_object(is_dtype(static_cast<PyObject*>(o)),
                   "torch_dtype_from_pyobject: expected torch.dtype, got ", o);
      return dtype_of_object(static_cast<PyObject*>(o));
    },
    [](DType d) -> void* { return wrap(d); },
    [](void* o) {
      check_object(is_device(static_cast<PyObject*>(o)),
                   "torch_device_from_pyobject: expected torch.device, got ", o);
      return to_device(static_cast<PyObject*>(o));
    },
    [](Device d) -> void* { return wrap(d); }};

// _abi_connect(schema(name) -> text or None, call(name, arguments) -> tuple of results)
PyObject* connect(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    if (!PyArg_ParseTuple(args, "OO", &schema_callback, &call_callback)) throw_python_error();
    Py_INCREF(schema_callback);
    Py_INCREF(call_callback);
    abi::front_end.schema = python_schema;
    abi::front_end.call = python_call;
    abi::objects = kObjects;
    return none();
  });
}

PyMethodDef functions[] = {{"_parse_schema", parse_schema, METH_O, nullptr},
                           {"_abi_generation", generation, METH_NOARGS, nullptr},
                           {"_abi_registrations", registrations, METH_NOARGS, nullptr},
                           {"_abi_run_kernel", run_kernel, METH_VARARGS, nullptr},
                           {"_abi_connect", connect, METH_VARARGS, nullptr},
                           {}};

}  // namespace

bool add_abi_functions(PyObject* module) {
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace rl::py
