// Kind checks of the binder.
#include "python/accepts.h"

#include <cstring>

#include "python/types.h"

namespace rl::py {
namespace {

bool is_scalar_tensor(PyObject* o, bool integral) {
  if (!is_tensor(o)) return false;
  const Tensor& t = tensor_of(o);
  if (t.dim() != 0 || t->requires_grad) return false;
  return !integral || is_integral(t->dtype);
}

// NumPy's scalar types all derive from numpy.generic; the name is enough to know one.
bool derives_from_generic(PyTypeObject* t) {
  for (; t; t = t->tp_base)
    if (!std::strcmp(t->tp_name, "numpy.generic")) return true;
  return false;
}

bool is_numpy_integer(PyObject* o) {
  return is_numpy_scalar(o) && !is_numpy_bool(o) && PyIndex_Check(o);
}

bool is_numpy_real(PyObject* o) {
  return is_numpy_scalar(o) && Py_TYPE(o)->tp_as_number && Py_TYPE(o)->tp_as_number->nb_float &&
         !is_numpy_bool(o);
}

// A class outside of tensors that implements __torch_function__.
bool duck_typed(PyObject* o, Overriding& who) {
  if (o == Py_None || PyLong_Check(o) || PyFloat_Check(o) || PyUnicode_Check(o) ||
      PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyDict_CheckExact(o))
    return false;
  if (!overrides(o)) return false;
  who.add(o);
  return true;
}

bool accepts_tensor(PyObject* o, Overriding& who) {
  if (is_exact_tensor(o)) return true;
  if (PyType_IsSubtype(Py_TYPE(o), &tensor_base_type)) {
    if (overrides(o)) who.add(o);
    return true;
  }
  return duck_typed(o, who);
}

bool accepts_tensor_list(PyObject* o, Overriding& who, bool none_inside) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return duck_typed(o, who);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  PyObject** items = PySequence_Fast_ITEMS(o);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (is_exact_tensor(items[i])) continue;
    if (items[i] == Py_None) {
      if (none_inside) continue;
      fail_as(ErrorKind::Type, "expected Tensor as element ", i,
              " in argument 0, but got NoneType");
    }
    // What is no tensor at all is reported by the converter, which names the element.
    accepts_tensor(items[i], who);
  }
  return true;
}

template <class F>
bool accepts_list(PyObject* o, F&& element) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  PyObject** items = PySequence_Fast_ITEMS(o);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!element(items[i])) return false;
  return true;
}

bool accepts_out(PyObject* o, Overriding& who) {
  if (PyTuple_Check(o) || PyList_Check(o)) return accepts_tensor_list(o, who, false);
  return accepts_tensor(o, who);
}

bool is_int_or_index(PyObject* o) {
  return is_int_like(o) || (PyIndex_Check(o) && !PyBool_Check(o) && !is_tensor(o));
}

}  // namespace

bool overrides_from_outside(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || is_exact_tensor(o) || PyLong_Check(o) ||
      PyFloat_Check(o) || PySlice_Check(o) || PyList_CheckExact(o) || PyTuple_CheckExact(o))
    return false;
  return overrides(o);
}

bool is_numpy_scalar(PyObject* o) {
  // The last type seen: loops over NumPy scalars ask the same question again.
  static PyTypeObject* known = nullptr;
  PyTypeObject* t = Py_TYPE(o);
  if (t == known) return true;
  if (std::strncmp(t->tp_name, "numpy.", 6) != 0) return false;
  if (!derives_from_generic(t)) return false;
  known = t;
  return true;
}

bool is_numpy_bool(PyObject* o) {
  const char* n = Py_TYPE(o)->tp_name;
  return !std::strcmp(n, "numpy.bool_") || !std::strcmp(n, "numpy.bool");
}

bool is_int_like(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (PyBool_Check(o)) return false;
  return PyLong_Check(o) || is_numpy_integer(o) || is_scalar_tensor(o, true);
}

bool is_float_like(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || is_numpy_real(o) || is_scalar_tensor(o, false);
}

bool is_number_like(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_numpy_scalar(o) ||
         is_scalar_tensor(o, false);
}

namespace {

bool accepts_tensors(const Param& p, PyObject* o, Overriding& who) {
  switch (p.kind) {
    case Kind::Tensor: case Kind::TensorOpt: return accepts_tensor(o, who);
    case Kind::TensorList: case Kind::TensorListOpt: return accepts_tensor_list(o, who, false);
    case Kind::OptTensorList: return accepts_tensor_list(o, who, true);
    case Kind::Operand:
      return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_numpy_scalar(o) ||
             accepts_tensor(o, who);
    default: return accepts_out(o, who);
  }
}

bool accepts_numbers(const Param& p, PyObject* o, Overriding& who) {
  if (is_tensor(o)) who.coerced = true;
  switch (p.kind) {
    case Kind::Scalar: case Kind::ScalarOpt: return is_number_like(o) || duck_typed(o, who);
    case Kind::Int: case Kind::IntOpt: return is_int_like(o) || duck_typed(o, who);
    default: return is_float_like(o) || duck_typed(o, who);
  }
}

// A list, or what stands for one; its elements too may be objects that take the call over.
bool accepts_sequence(const Param& p, PyObject* o, Overriding& who) {
  auto list_of = [&](auto&& element) {
    return accepts_list(o, [&](PyObject* x) { return element(x) || duck_typed(x, who); }) ||
           duck_typed(o, who);
  };
  switch (p.kind) {
    case Kind::ScalarList: return list_of(is_number_like);
    case Kind::IntList: case Kind::IntListOpt:
      return (p.list_size > 0 && is_int_like(o)) || list_of(is_int_or_index);
    case Kind::FloatList: case Kind::FloatListOpt: return list_of(is_float_like);
    default: return list_of([](PyObject* x) { return bool(PyBool_Check(x)); });
  }
}

bool accepts_setting(Kind kind, PyObject* o) {
  switch (kind) {
    case Kind::Bool: case Kind::BoolOpt: return PyBool_Check(o) || is_numpy_bool(o);
    case Kind::Str: case Kind::StrOpt: return PyUnicode_Check(o);
    case Kind::DType: case Kind::DTypeOpt:
      return is_dtype(o) || dtype_of_python_type(o) != DType::Undefined;
    case Kind::Device: case Kind::DeviceOpt:
      return is_device(o) || PyUnicode_Check(o) || (PyLong_Check(o) && !PyBool_Check(o));
    case Kind::LayoutOpt: return is_layout(o);
    case Kind::MemoryFormat: case Kind::MemoryFormatOpt: return is_memory_format(o);
    case Kind::GeneratorOpt: return is_generator(o);
    default: return kind == Kind::Ignored;
  }
}

bool none_allowed(Kind k) {
  switch (k) {
    case Kind::TensorOpt: case Kind::TensorListOpt: case Kind::ScalarOpt: case Kind::IntOpt:
    case Kind::IntListOpt: case Kind::FloatOpt: case Kind::FloatListOpt: case Kind::BoolOpt:
    case Kind::StrOpt: case Kind::DTypeOpt: case Kind::DeviceOpt: case Kind::LayoutOpt:
    case Kind::MemoryFormatOpt: case Kind::GeneratorOpt: case Kind::Out: case Kind::OutTuple:
    case Kind::Ignored: return true;
    default: return false;
  }
}

}  // namespace

bool accepts_slow(const Param& p, PyObject* o, Overriding& who) {
  if (o == Py_None && none_allowed(p.kind)) return true;
  switch (p.kind) {
    case Kind::Tensor: case Kind::TensorOpt: case Kind::TensorList: case Kind::TensorListOpt:
    case Kind::OptTensorList: case Kind::Operand: case Kind::Out: case Kind::OutTuple:
      return accepts_tensors(p, o, who);
    case Kind::Scalar: case Kind::ScalarOpt: case Kind::Int: case Kind::IntOpt:
    case Kind::Float: case Kind::FloatOpt: return accepts_numbers(p, o, who);
    case Kind::ScalarList: case Kind::IntList: case Kind::IntListOpt: case Kind::FloatList:
    case Kind::FloatListOpt: case Kind::BoolList: return accepts_sequence(p, o, who);
    default: return accepts_setting(p.kind, o) || duck_typed(o, who);
  }
}

const char* kind_name(Kind k) {
  switch (k) {
    case Kind::Tensor: case Kind::TensorOpt: case Kind::Operand: case Kind::Out: return "Tensor";
    case Kind::TensorList: case Kind::TensorListOpt: case Kind::OptTensorList:
    case Kind::OutTuple: return "tuple of Tensors";
    case Kind::Scalar: case Kind::ScalarOpt: return "Number";
    case Kind::ScalarList: return "tuple of Scalars";
    case Kind::Int: case Kind::IntOpt: return "int";
    case Kind::IntList: case Kind::IntListOpt: return "tuple of ints";
    case Kind::Float: case Kind::FloatOpt: return "float";
    case Kind::FloatList: case Kind::FloatListOpt: return "tuple of floats";
    case Kind::Bool: case Kind::BoolOpt: return "bool";
    case Kind::BoolList: return "tuple of bools";
    case Kind::Str: case Kind::StrOpt: return "str";
    case Kind::DType: case Kind::DTypeOpt: return "torch.dtype";
    case Kind::Device: case Kind::DeviceOpt: return "torch.device";
    case Kind::LayoutOpt: return "torch.layout";
    case Kind::MemoryFormat: case Kind::MemoryFormatOpt: return "torch.memory_format";
    case Kind::GeneratorOpt: return "torch.Generator";
    case Kind::Ignored: return "object";
  }
  return "object";
}

}  // namespace rl::py
