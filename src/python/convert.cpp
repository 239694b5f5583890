// Python values to C++ parameters. The binder has checked the kinds; what can still fail is the
// value: overflow, elements of lists, conversions that run Python code.
#include "python/generated.h"
#include "python/accepts.h"
#include "python/errors.h"
#include "python/types.h"

namespace rl::py {
namespace {

bool absent(PyObject* o) { return !o || o == Py_None; }

int64_t index_value(PyObject* o) {
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    check_type(t.numel() == 1 && is_integral(t.dtype(), true),
               "only integer tensors of a single element can be converted to an index");
    return item(t).to_int();
  }
  Ref i = owned(PyNumber_Index(o));
  int overflow = 0;
  int64_t v = PyLong_AsLongLongAndOverflow(i.get(), &overflow);
  if (overflow) fail_as(ErrorKind::Value, "Overflow when unpacking long long");
  if (v == -1 && PyErr_Occurred()) throw_python_error();
  return v;
}

Scalar scalar_of_long(PyObject* o) {
  int overflow = 0;
  int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow) {
    // Values of uint64 are kept by their bits; what is larger does not fit any tensor.
    uint64_t u = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
    if (overflow < 0 || (u == uint64_t(-1) && PyErr_Occurred())) {
      PyErr_Clear();
      fail_as(ErrorKind::Value, "Overflow when unpacking long long");
    }
    return Scalar(int64_t(u));
  }
  return Scalar(v);
}

Scalar numpy_scalar(PyObject* o) {
  if (is_numpy_bool(o)) return Scalar(PyObject_IsTrue(o) == 1);
  if (PyIndex_Check(o)) return scalar_of_long(owned(PyNumber_Index(o)).get());
  if (PyComplex_Check(o) || PyObject_HasAttrString(o, "__complex__")) {
    Py_complex c = PyComplex_AsCComplex(o);
    if (PyErr_Occurred()) throw_python_error();
    return Scalar(cdouble(c.real, c.imag));
  }
  double d = PyFloat_AsDouble(o);
  if (PyErr_Occurred()) throw_python_error();
  return Scalar(d);
}

template <class F>
void each(PyObject* o, F&& f) {
  Ref seq(PySequence_Fast(o, "expected a sequence"));
  if (!seq) throw_python_error();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
    f(PySequence_Fast_GET_ITEM(seq.get(), i), i);
}

}  // namespace

const Tensor& to_tensor(PyObject* o) {
  if (is_tensor(o)) [[likely]] return tensor_of(o);
  fail_as(ErrorKind::Type, "expected Tensor, but got ", Py_TYPE(o)->tp_name);
}

Tensor to_tensor_opt(PyObject* o) { return absent(o) ? Tensor() : to_tensor(o); }

Tensor to_operand(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  return wrapped_number(to_scalar(o));
}

std::vector<Tensor> to_tensor_list(PyObject* o) {
  std::vector<Tensor> out;
  if (absent(o)) return out;
  if (is_tensor(o)) return {tensor_of(o)};
  out.reserve(size_t(PySequence_Fast_GET_SIZE(o)));
  each(o, [&](PyObject* x, Py_ssize_t i) {
    if (x == Py_None) out.emplace_back();
    else if (is_tensor(x)) out.push_back(tensor_of(x));
    else
      fail_as(ErrorKind::Type, "expected Tensor as element ", i, " in argument 0, but got ",
              Py_TYPE(x)->tp_name);
  });
  return out;
}

std::vector<Tensor> to_defined_tensor_list(PyObject* o) {
  std::vector<Tensor> out = to_tensor_list(o);
  for (size_t i = 0; i < out.size(); ++i)
    check_type(out[i].defined(), "expected Tensor as element ", i, " in argument 0, but got None");
  return out;
}

void check_some_tensor(const char* name, std::initializer_list<PyObject*> operands) {
  for (PyObject* o : operands)
    if (o && is_tensor(o)) return;
  fail_as(ErrorKind::Type, name, "() received an invalid combination of arguments: at least one of "
          "them must be a Tensor");
}

Scalar to_scalar(PyObject* o) {
  if (PyFloat_CheckExact(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (PyLong_Check(o)) return scalar_of_long(o);
  if (is_tensor(o)) {
    check(tensor_of(o).numel() == 1, "a Tensor with ", tensor_of(o).numel(),
          " elements cannot be converted to Scalar");
    return item(tensor_of(o));
  }
  if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (is_numpy_scalar(o)) return numpy_scalar(o);
  if (PyComplex_Check(o)) {
    Py_complex c = PyComplex_AsCComplex(o);
    return Scalar(cdouble(c.real, c.imag));
  }
  fail_as(ErrorKind::Type, "expected a number, but got ", Py_TYPE(o)->tp_name);
}

std::optional<Scalar> to_scalar_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<Scalar>(to_scalar(o));
}

std::vector<Scalar> to_scalar_list(PyObject* o) {
  std::vector<Scalar> out;
  if (!absent(o)) each(o, [&](PyObject* x, Py_ssize_t) { out.push_back(to_scalar(x)); });
  return out;
}

int64_t to_int(PyObject* o) {
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) fail_as(ErrorKind::Value, "Overflow when unpacking long long");
    return v;
  }
  return index_value(o);
}

std::optional<int64_t> to_int_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<int64_t>(to_int(o));
}

Dims to_int_list(PyObject* o, int list_size) {
  Dims out;
  if (absent(o)) return out;
  if (!PyTuple_Check(o) && !PyList_Check(o) && is_int_like(o)) {
    out.resize(size_t(list_size > 0 ? list_size : 1), to_int(o));
    return out;
  }
  each(o, [&](PyObject* x, Py_ssize_t) { out.push_back(to_int(x)); });
  return out;
}

OptDims to_int_list_opt(PyObject* o, int list_size) {
  OptDims out;
  out.has = !absent(o);
  if (out.has) out.dims = to_int_list(o, list_size);
  return out;
}

double to_float(PyObject* o) {
  if (PyFloat_CheckExact(o)) return PyFloat_AS_DOUBLE(o);
  if (is_tensor(o)) return to_scalar(o).to_double();
  double d = PyFloat_AsDouble(o);
  if (d == -1.0 && PyErr_Occurred()) throw_python_error();
  return d;
}

std::optional<double> to_float_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<double>(to_float(o));
}

std::vector<double> to_float_list(PyObject* o) {
  std::vector<double> out;
  if (!absent(o)) each(o, [&](PyObject* x, Py_ssize_t) { out.push_back(to_float(x)); });
  return out;
}

OptFloats to_float_list_opt(PyObject* o) {
  OptFloats out;
  out.has = !absent(o);
  if (out.has) out.values = to_float_list(o);
  return out;
}

bool to_bool(PyObject* o) {
  if (o == Py_True) return true;
  if (o == Py_False) return false;
  int r = PyObject_IsTrue(o);
  if (r < 0) throw_python_error();
  return r == 1;
}

std::optional<bool> to_bool_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<bool>(to_bool(o));
}

std::vector<bool> to_bool_list(PyObject* o) {
  std::vector<bool> out;
  if (!absent(o)) each(o, [&](PyObject* x, Py_ssize_t) { out.push_back(to_bool(x)); });
  return out;
}

std::string_view to_str(PyObject* o) {
  Py_ssize_t n = 0;
  const char* s = PyUnicode_AsUTF8AndSize(o, &n);
  if (!s) throw_python_error();
  return {s, size_t(n)};
}

std::optional<std::string_view> to_str_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<std::string_view>(to_str(o));
}

DType to_dtype(PyObject* o) {
  if (is_dtype(o)) {
    DType d = dtype_of_object(o);
    if (itemsize(d) == 0 && is_name_only(d)) [[unlikely]]
      fail_as(ErrorKind::NotImplemented, "tensors of torch.", dtype_object_name(d),
              " are not implemented");
    return d;
  }
  DType d = dtype_of_python_type(o);
  check_type(d != DType::Undefined, "expected torch.dtype, but got ", Py_TYPE(o)->tp_name);
  return d;
}

std::optional<DType> to_dtype_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<DType>(to_dtype(o));
}

Device to_device(PyObject* o) {
  if (is_device(o)) return reinterpret_cast<DeviceObject*>(o)->value;
  if (PyUnicode_Check(o)) return parse_device(to_str(o));
  if (is_int_like(o)) {
    int64_t i = to_int(o);
    check(i >= 0, "Device index must not be negative");
    return Device{DeviceType::CUDA, int8_t(i)};
  }
  fail_as(ErrorKind::Type, "expected torch.device, but got ", Py_TYPE(o)->tp_name);
}

std::optional<Device> to_device_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<Device>(to_device(o));
}

std::optional<Layout> to_layout_opt(PyObject* o) {
  if (absent(o)) return std::nullopt;
  check_type(is_layout(o), "expected torch.layout, but got ", Py_TYPE(o)->tp_name);
  return reinterpret_cast<LayoutObject*>(o)->value;
}

MemoryFormat to_memory_format(PyObject* o) {
  check_type(is_memory_format(o), "expected torch.memory_format, but got ", Py_TYPE(o)->tp_name);
  return reinterpret_cast<MemoryFormatObject*>(o)->value;
}

std::optional<MemoryFormat> to_memory_format_opt(PyObject* o) {
  return absent(o) ? std::nullopt : std::optional<MemoryFormat>(to_memory_format(o));
}

Generator* to_generator_opt(PyObject* o) {
  if (absent(o)) return nullptr;
  check_type(is_generator(o), "expected torch.Generator, but got ", Py_TYPE(o)->tp_name);
  return reinterpret_cast<GeneratorObject*>(o)->value;
}

}  // namespace rl::py
