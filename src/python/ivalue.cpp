// Boxed values to and from Python, and the registry of operators as torch._C shows it.
#include <Python.h>

#include <string_view>
#include <unordered_map>

#include "abi/schema.h"
#include "core/op.h"
#include "python/accepts.h"
#include "python/boxed.h"
#include "python/errors.h"
#include "python/opaque.h"
#include "python/ops.h"
#include "python/types.h"

namespace rl::py {
namespace {

template <class V, class F>
PyObject* list_of(const V& v, F&& item) {
  Ref r = owned(PyList_New(Py_ssize_t(v.size())));
  for (size_t i = 0; i < v.size(); ++i) {
    PyObject* x = item(v[i]);
    if (!x) throw_python_error();
    PyList_SET_ITEM(r.get(), Py_ssize_t(i), x);
  }
  return r.release();
}

template <class T, class F>
IValue gather(PyObject* o, F&& item) {
  std::vector<T> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    out.push_back(item(PySequence_Fast_GET_ITEM(o, i)));
  return IValue(std::move(out));
}

template <class F>
bool all_items(PyObject* o, F&& f) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (!f(PySequence_Fast_GET_ITEM(o, i))) return false;
  return true;
}

IValue from_sequence(PyObject* o) {
  if (PySequence_Fast_GET_SIZE(o) == 0) return IValue(std::vector<int64_t>());
  auto is_bool = [](PyObject* x) { return bool(PyBool_Check(x)); };
  auto is_tensor_or_none = [](PyObject* x) { return x == Py_None || is_tensor(x); };
  auto is_long = [](PyObject* x) { return PyLong_Check(x) && !PyBool_Check(x); };
  auto is_real = [](PyObject* x) { return PyFloat_Check(x) || PyLong_Check(x); };
  if (all_items(o, is_bool)) return gather<bool>(o, to_bool);
  if (all_items(o, is_long)) return gather<int64_t>(o, to_int);
  if (all_items(o, is_real)) return gather<double>(o, to_float);
  if (all_items(o, is_tensor_or_none)) return gather<Tensor>(o, to_tensor_opt);
  return gather<IValue>(o, to_ivalue);
}

}  // namespace

PyObject* from_ivalue(const IValue& v) {
  using Tag = IValue::Tag;
  switch (v.tag()) {
    case Tag::None: return none();
    case Tag::Tensor: return wrap(v.tensor());
    case Tag::Scalar: return wrap(std::get<Scalar>(v.v));
    case Tag::Int: return wrap(std::get<int64_t>(v.v));
    case Tag::Float: return wrap(std::get<double>(v.v));
    case Tag::Bool: return wrap(std::get<bool>(v.v));
    case Tag::Str: {
      auto& s = std::get<std::string>(v.v);
      return PyUnicode_FromStringAndSize(s.data(), Py_ssize_t(s.size()));
    }
    case Tag::DType: return wrap(std::get<DType>(v.v));
    case Tag::Device: return wrap(std::get<Device>(v.v));
    case Tag::Layout: return wrap(std::get<Layout>(v.v));
    case Tag::MemoryFormat: return wrap(std::get<MemoryFormat>(v.v));
    case Tag::IntList:
      return list_of(std::get<std::vector<int64_t>>(v.v), [](int64_t x) { return wrap(x); });
    case Tag::FloatList:
      return list_of(std::get<std::vector<double>>(v.v), [](double x) { return wrap(x); });
    case Tag::BoolList:
      return list_of(std::get<std::vector<bool>>(v.v), [](bool x) { return wrap(x); });
    case Tag::TensorList:
      return list_of(std::get<std::vector<Tensor>>(v.v), [](const Tensor& x) { return wrap(x); });
    case Tag::ScalarList:
      return list_of(std::get<std::vector<Scalar>>(v.v), [](const Scalar& x) { return wrap(x); });
    case Tag::List:
      return list_of(std::get<std::vector<IValue>>(v.v),
                     [](const IValue& x) { return from_ivalue(x); });
    case Tag::Generator: return wrap(std::get<Generator*>(v.v));
    case Tag::Opaque: return object_in(std::get<intrusive_ptr<Opaque>>(v.v));
  }
  return none();
}

IValue to_ivalue(PyObject* o) {
  if (o == Py_None) return IValue();
  if (is_tensor(o)) return IValue(tensor_of(o));
  if (PyBool_Check(o)) return IValue(o == Py_True);
  if (PyLong_Check(o)) return IValue(to_int(o));
  if (PyFloat_Check(o)) return IValue(to_float(o));
  if (PyComplex_Check(o)) return IValue(to_scalar(o));
  if (PyUnicode_Check(o)) return IValue(std::string(to_str(o)));
  if (PyTuple_Check(o) || PyList_Check(o)) return from_sequence(o);
  if (is_dtype(o)) return IValue(dtype_of_object(o));
  if (is_device(o)) return IValue(to_device(o));
  if (is_layout(o)) return IValue(*to_layout_opt(o));
  if (is_memory_format(o)) return IValue(to_memory_format(o));
  if (is_generator(o)) return IValue(to_generator_opt(o));
  if (is_numpy_scalar(o)) return IValue(to_scalar(o));
  return IValue(hold_object(o));
}

Stack to_stack(PyObject* sequence) {
  Stack stack;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i)
    stack.push_back(to_ivalue(PySequence_Fast_GET_ITEM(sequence, i)));
  return stack;
}

PyObject* from_stack(const Stack& stack) {
  if (stack.empty()) return none();
  if (stack.size() == 1) return from_ivalue(stack[0]);
  Ref r = owned(PyTuple_New(Py_ssize_t(stack.size())));
  for (size_t i = 0; i < stack.size(); ++i)
    PyTuple_SET_ITEM(r.get(), Py_ssize_t(i), from_ivalue(stack[i]));
  return r.release();
}

namespace {

bool is_tensor_type(std::string_view argument) {
  return argument.starts_with("Tensor ") || argument.starts_with("Tensor(") ||
         argument.starts_with("Tensor|");
}

// Which arguments are tensors: a number there becomes a 0-dim tensor, as in x + 1.
const std::vector<bool>& operand_arguments(const OpInfo* op) {
  static std::unordered_map<const OpInfo*, std::vector<bool>> known;
  auto [it, fresh] = known.try_emplace(op);
  if (!fresh) return it->second;
  // op.Scalar is op.Tensor under another name: the function takes a tensor there
  const OpInfo* twin = find_op(op->name, "Tensor");
  std::string_view text = twin && twin->boxed == op->boxed ? twin->schema : op->schema;
  text.remove_prefix(text.find('(') + 1);
  int depth = 0;
  bool start = true;
  for (size_t i = 0; i < text.size() && depth >= 0; ++i) {
    if (start && text[i] != ' ') {
      start = false;
      if (text[i] != '*' && text[i] != ')')
        it->second.push_back(is_tensor_type(text.substr(i)));
    }
    depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    if (text[i] == ',' && depth == 0) start = true;
  }
  return it->second;
}

void box_numbers(const OpInfo* op, Stack& stack) {
  auto& operand = operand_arguments(op);
  for (size_t i = 0; i < stack.size() && i < operand.size(); ++i)
    if (operand[i] && !stack[i].is_tensor() && !stack[i].is_none())
      stack[i] = IValue(wrapped_number(Unboxer<Scalar>(stack[i]).get()));
}

const OpInfo* op_named(PyObject* name, PyObject* overload) {
  return find_op(to_str(name), to_str(overload));
}

// _find_op(name, overload) -> capsule-like int handle, or None
PyObject* py_find_op(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 2, "_find_op(name, overload)");
    const OpInfo* op = op_named(args[0], args[1]);
    return op ? PyLong_FromVoidPtr(const_cast<OpInfo*>(op)) : none();
  });
}

const OpInfo* op_handle(PyObject* o) {
  auto* p = static_cast<const OpInfo*>(PyLong_AsVoidPtr(o));
  if (!p && PyErr_Occurred()) throw_python_error();
  for (const OpInfo* op : all_ops())
    if (op == p) return op;
  fail("no such operator handle");
}

PyObject* py_op_info(PyObject*, PyObject* handle) {
  return guarded([&]() -> PyObject* {
    const OpInfo* op = op_handle(handle);
    return Py_BuildValue("{ss ss ss si si sN sN sN sN sN}", "name", op->name, "overload",
                         op->overload, "schema", op->schema, "num_args", int(op->num_args),
                         "num_returns", int(op->num_returns), "composite", wrap(op->composite),
                         "view", wrap(op->view), "inplace", wrap(op->inplace), "random",
                         wrap(op->random), "pointwise", wrap(op->pointwise));
  });
}

PyObject* py_overloads(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    return list_of(find_overloads(to_str(name)),
                   [](const OpInfo* op) { return PyUnicode_FromString(op->overload); });
  });
}

PyObject* py_all_ops(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    return list_of(all_ops(), [](const OpInfo* op) {
      return Py_BuildValue("(ss)", op->name, op->overload);
    });
  });
}

void run_boxed(const OpInfo* op, Stack& stack) {
  check_type(stack.size() == op->num_args, op->name, ": expected ", int(op->num_args),
             " arguments, got ", stack.size());
  box_numbers(op, stack);
  abi::call_op(*op, stack);
}

const OpInfo* called_op(PyObject* const* args, Py_ssize_t n, const char* what) {
  check_type(n == 2 && (PyTuple_Check(args[1]) || PyList_Check(args[1])), what,
             "(handle, arguments)");
  auto* op = static_cast<const OpInfo*>(PyLong_AsVoidPtr(args[0]));
  check(op, "no such operator handle");
  return op;
}

// _call_op(handle, args in schema order) -> the result, a tuple of results, or None
PyObject* py_call_op(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    const OpInfo* op = called_op(args, n, "_call_op");
    Stack stack = to_stack(args[1]);
    run_boxed(op, stack);
    return from_stack(stack);
  });
}

// The same for arguments in the order of the schema that PyTorch gives the operator.
PyObject* py_call_public_op(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    const OpInfo* op = called_op(args, n, "_call_public_op");
    Stack stack = to_stack(args[1]);
    abi::to_core_arguments(*op, stack);
    run_boxed(op, stack);
    if (stack.empty() && abi::public_schema(*op).returns.size() == 1)
      return new_ref(PySequence_Fast_GET_ITEM(args[1], 0));  // in place
    return from_stack(stack);
  });
}

// _public_overloads(name) -> {overload: handle}, and _find_public(name, overload) -> handle or
// None, by PyTorch's names
PyObject* py_public_overloads(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    Ref out = owned(PyDict_New());
    for (const OpInfo* op : abi::published_overloads(to_str(name))) {
      Ref handle = owned(PyLong_FromVoidPtr(const_cast<OpInfo*>(op)));
      const std::string& overload = abi::public_schema(*op).overload;
      check_python(PyDict_SetItemString(out.get(), overload.c_str(), handle.get()) == 0);
    }
    return out.release();
  });
}
PyObject* py_find_public(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 2, "_find_public(name, overload)");
    const OpInfo* op = abi::find_published(to_str(args[0]), to_str(args[1]));
    return op ? PyLong_FromVoidPtr(const_cast<OpInfo*>(op)) : none();
  });
}

PyObject* py_public_schema(PyObject*, PyObject* handle) {
  return guarded([&]() -> PyObject* {
    return PyUnicode_FromString(str(abi::public_schema(*op_handle(handle))).c_str());
  });
}

// x + 1 reaches operators as a tensor; a handler sees the number that was written.
PyObject* argument_object(const IValue& v) {
  if (v.is_tensor() && v.tensor().is_wrapped_number() && !v.tensor()->dispatches &&
      v.tensor().device().is_cpu())
    return wrap(item(v.tensor()));
  return from_ivalue(v);
}

// handler(op, name, overload, arguments): its results take the place of the arguments.
void call_handler(PyObject* handler, const OpInfo& op, Stack& stack) {
  GilAcquire gil;
  Ref handle = owned(PyLong_FromVoidPtr(const_cast<OpInfo*>(&op)));
  abi::to_public_arguments(op, stack);
  Ref args = owned(PyTuple_New(Py_ssize_t(stack.size())));
  for (size_t i = 0; i < stack.size(); ++i) {
    PyObject* o = argument_object(stack[i]);
    if (!o) throw_python_error();
    PyTuple_SET_ITEM(args.get(), Py_ssize_t(i), o);
  }
  Ref name = owned(PyUnicode_FromString(op.name));
  Ref overload = owned(PyUnicode_FromString(op.overload));
  Ref r = owned(PyObject_CallFunctionObjArgs(handler, handle.get(), name.get(), overload.get(),
                                             args.get(), nullptr));
  stack.clear();
  if (op.num_returns == 0) return;
  if (op.num_returns == 1) {
    stack.push_back(to_ivalue(r.get()));
    return;
  }
  Ref seq = owned(PySequence_Fast(r.get(), "a mode must return a sequence for several results"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    stack.push_back(to_ivalue(PySequence_Fast_GET_ITEM(seq.get(), i)));
}

// A mode whose handler is a Python callable: handler(op, name, overload, arguments) -> results.
struct PythonMode : Mode {
  PythonMode(PyObject* h, bool parts, bool below)
      : handler(new_ref(h)), composites(!parts), below(below) {}
  ~PythonMode() override {
    GilAcquire gil;
    Py_DECREF(handler);
  }
  bool wants(const OpInfo& op) const override { return composites || !op.composite; }
  bool below_autograd() const override { return below; }
  void call(const OpInfo& op, Stack& stack) override { call_handler(handler, op, stack); }
  PyObject* handler;
  bool composites, below;
};

// Tensors whose class defines __torch_dispatch__: torch/utils/_python_dispatch.py asks them.
void call_wrappers(const OpInfo& op, Stack& stack) {
  GilAcquire gil;
  static PyObject* handler = nullptr;
  if (!handler) {
    Ref module = owned(PyImport_ImportModule("torch.utils._python_dispatch"));
    handler = owned(PyObject_GetAttrString(module.get(), "_call_wrappers")).release();
  }
  call_handler(handler, op, stack);
}

PyObject* py_push_mode(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n >= 1, "_push_mode(handler, parts=True, below=False)");
    bool parts = n < 2 || to_bool(args[1]), below = n > 2 && to_bool(args[2]);
    push_mode(intrusive_ptr<Mode>(new PythonMode(args[0], parts, below)));
    return none();
  });
}
PyObject* py_pop_mode(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    pop_mode();
    return none();
  });
}
PyObject* py_pop_mode_below(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    pop_mode_below();
    return none();
  });
}
PyObject* py_mode_depth(PyObject*, PyObject*) { return PyLong_FromSize_t(mode_depth()); }

// torch.func.vmap: the tensor stands for one example of many; kernels refuse it.
PyObject* py_mark_batched(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    tensor_of(o)->kind = ImplKind::Batched;
    return none();
  });
}
PyObject* py_is_wrapped_number(PyObject*, PyObject* o) {
  return guarded([&] { return wrap(tensor_of(o).is_wrapped_number()); });
}

template <class F>
PyCFunction fast(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}
PyMethodDef functions[] = {{"_find_op", fast(py_find_op), METH_FASTCALL, nullptr},
                           {"_op_info", py_op_info, METH_O, nullptr},
                           {"_op_overloads", py_overloads, METH_O, nullptr},
                           {"_all_ops", py_all_ops, METH_NOARGS, nullptr},
                           {"_call_op", fast(py_call_op), METH_FASTCALL, nullptr},
                           {"_call_public_op", fast(py_call_public_op), METH_FASTCALL, nullptr},
                           {"_public_overloads", py_public_overloads, METH_O, nullptr},
                           {"_find_public", fast(py_find_public), METH_FASTCALL, nullptr},
                           {"_public_schema", py_public_schema, METH_O, nullptr},
                           {"_push_mode", fast(py_push_mode), METH_FASTCALL, nullptr},
                           {"_pop_mode", py_pop_mode, METH_NOARGS, nullptr},
                           {"_pop_mode_below", py_pop_mode_below, METH_NOARGS, nullptr},
                           {"_mark_batched", py_mark_batched, METH_O, nullptr},
                           {"_is_wrapped_number", py_is_wrapped_number, METH_O, nullptr},
                           {"_mode_depth", py_mode_depth, METH_NOARGS, nullptr},
                           {}};

}  // namespace

bool add_registry_functions(PyObject* module) {
  dispatch_wrappers = call_wrappers;
  return PyModule_AddFunctions(module, functions) == 0 && add_abi_functions(module);
}

}  // namespace rl::py
