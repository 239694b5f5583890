// Nested Python sequences to tensors (shape and dtype inference, one pass to store) and back.
#include "python/sequence.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "python/accepts.h"
#include "python/errors.h"
#include "python/numpy_bridge.h"
#include "python/ops.h"
#include "python/types.h"

namespace rl::py {

PyObject* scalar_object(const Scalar& s, DType dtype) {
  if (dtype == DType::UInt64) return PyLong_FromUnsignedLongLong(uint64_t(s.to_int()));
  return wrap(s);
}

namespace {

constexpr int kMaxDepth = 128;

bool is_leaf_object(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_tensor(o) ||
         is_numpy_scalar(o);
}

Dims infer_shape(PyObject* data) {
  static bool said = false;
  Dims shape;
  Ref at = Ref::borrow(data);
  while (!is_leaf_object(at.get()) && PySequence_Check(at.get())) {
    if (PyUnicode_Check(at.get()) || PyBytes_Check(at.get()))
      fail_as(ErrorKind::Value, "too many dimensions '", Py_TYPE(at.get())->tp_name, "'");
    Py_ssize_t n = PySequence_Length(at.get());
    if (n < 0) throw_python_error();
    shape.push_back(n);
    check_value(int(shape.size()) <= kMaxDepth, "too many dimensions '",
                Py_TYPE(at.get())->tp_name, "'");
    if (n == 0) break;
    if (!PyTuple_CheckExact(at.get()) && !PyList_CheckExact(at.get()) && shape.size() > 1 &&
        is_numpy_array(at.get()))
      warn_once(said, "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
                "consider converting the list to a single numpy.ndarray with numpy.array() before "
                "converting to a tensor.");
    Ref next(PySequence_GetItem(at.get(), 0));
    if (!next) {
      PyErr_Clear();
      fail_as(ErrorKind::Value, "could not determine the shape of object type '",
              Py_TYPE(at.get())->tp_name, "'");
    }
    at = std::move(next);
  }
  return shape;
}

DType infer_dtype(PyObject* o, int depth = 0) {
  if (is_numpy_scalar(o)) return numpy_scalar_dtype(o);
  if (PyFloat_Check(o)) return default_dtype();
  if (PyBool_Check(o)) return DType::Bool;
  if (PyLong_Check(o)) return DType::Int64;
  if (PyComplex_Check(o)) return default_complex_dtype();
  if (is_tensor(o)) return tensor_of(o).dtype();
  if (is_numpy_array(o)) return numpy_array_dtype(o);
  check_type(!PyUnicode_Check(o) && !PyBytes_Check(o), "new(): invalid data type '",
             Py_TYPE(o)->tp_name, "'");
  if (!PySequence_Check(o)) fail("Could not infer dtype of ", Py_TYPE(o)->tp_name);
  check_value(depth < kMaxDepth, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
  Ref seq(PySequence_Fast(o, "not a sequence"));
  if (!seq) {
    PyErr_Clear();
    fail("Could not infer dtype of ", Py_TYPE(o)->tp_name);
  }
  Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
  if (n == 0) return default_dtype();
  DType d = DType::Undefined;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(seq.get(), i);
    check_type(item != o, "new(): self-referential lists are incompatible");
    // Most lists are of one kind of number.
    DType next = PyFloat_CheckExact(item) ? default_dtype() : infer_dtype(item, depth + 1);
    if (next != d) d = d == DType::Undefined ? next : promote_types(d, next);
  }
  return d;
}

[[noreturn]] void overflow(const char* type) {
  fail("value cannot be converted to type ", type, " without overflow");
}

template <class T>
const char* c_name() {
  if constexpr (std::is_same_v<T, int8_t>) return "int8";
  else if constexpr (std::is_same_v<T, uint8_t>) return "uint8";
  else if constexpr (std::is_same_v<T, int16_t>) return "int16";
  else if constexpr (std::is_same_v<T, uint16_t>) return "uint16";
  else if constexpr (std::is_same_v<T, int32_t>) return "int32";
  else if constexpr (std::is_same_v<T, uint32_t>) return "uint32";
  else if constexpr (std::is_same_v<T, uint64_t>) return "uint64";
  else return "int64";
}

// One leaf as an integer of T: floats are cut, negative values wrap in unsigned types.
template <class T>
T integer_leaf(PyObject* o) {
  if (is_tensor(o)) {
    check_value(tensor_of(o).numel() == 1,
                "only one element tensors can be converted to Python scalars");
    return item(tensor_of(o)).to<T>();
  }
  if (PyFloat_Check(o)) {
    double d = PyFloat_AS_DOUBLE(o);
    if (!(d >= double(std::numeric_limits<T>::lowest()) &&
          d <= double(std::numeric_limits<T>::max())))
      overflow(c_name<T>());
    return T(d);
  }
  Ref i(PyNumber_Index(o));
  if (!i && is_numpy_scalar(o)) {
    PyErr_Clear();
    return T(to_scalar(o).to_double());
  }
  if (!i) throw_python_error();
  int over = 0;
  int64_t v = PyLong_AsLongLongAndOverflow(i.get(), &over);
  if (over) {
    uint64_t u = over > 0 && std::is_same_v<T, uint64_t> ? PyLong_AsUnsignedLongLong(i.get())
                                                         : uint64_t(-1);
    if (over < 0 || !std::is_same_v<T, uint64_t> || PyErr_Occurred()) {
      PyErr_Clear();
      fail_as(ErrorKind::Value, "Overflow when unpacking long long");
    }
    return T(u);
  }
  bool fits = v <= 0 || uint64_t(v) <= uint64_t(std::numeric_limits<T>::max());
  // A negative number is taken modulo in unsigned types as long as its size fits.
  if constexpr (std::is_unsigned_v<T>)
    fits = fits && (v >= 0 || uint64_t(0) - uint64_t(v) <= uint64_t(std::numeric_limits<T>::max()));
  else
    fits = fits && v >= int64_t(std::numeric_limits<T>::lowest());
  if (!fits) overflow(c_name<T>());
  return T(v);
}

double real_leaf(PyObject* o) {
  if (PyFloat_CheckExact(o)) return PyFloat_AS_DOUBLE(o);
  if (is_tensor(o)) {
    check_value(tensor_of(o).numel() == 1,
                "only one element tensors can be converted to Python scalars");
    return item(tensor_of(o)).to_double();
  }
  double d = PyFloat_AsDouble(o);
  if (d == -1.0 && PyErr_Occurred()) throw_python_error();
  return d;
}

cdouble complex_leaf(PyObject* o) {
  if (is_tensor(o)) return item(tensor_of(o)).to_complex();
  Py_complex c = PyComplex_AsCComplex(o);
  if (c.real == -1.0 && PyErr_Occurred()) throw_python_error();
  return cdouble(c.real, c.imag);
}

template <class T>
T leaf(PyObject* o) {
  if constexpr (std::is_same_v<T, bool>) {
    if (is_tensor(o)) return item(tensor_of(o)).to_bool();
    return to_bool(o);
  } else if constexpr (std::is_integral_v<T>) {
    return integer_leaf<T>(o);
  } else if constexpr (std::is_same_v<T, cfloat> || std::is_same_v<T, cdouble>) {
    return T(complex_leaf(o));
  } else {
    double d = real_leaf(o);
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) return T(d);
    else return T(float(d));
  }
}

template <class T>
void store(PyObject* o, IntRef shape, size_t dim, T*& out) {
  if (dim == shape.size()) {
    *out++ = leaf<T>(o);
    return;
  }
  Ref seq(PySequence_Fast(o, "not a sequence"));
  if (!seq) throw_python_error();
  Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
  check_value(n == shape[dim], "expected sequence of length ", shape[dim], " at dim ", dim,
              " (got ", n, ")");
  for (Py_ssize_t i = 0; i < n; ++i) {
    check_value(i < PySequence_Fast_GET_SIZE(seq.get()), "the sequence changed while it was read");
    store(PySequence_Fast_GET_ITEM(seq.get(), i), shape, dim + 1, out);
  }
}

template <class T>
PyObject* number(T v) {
  if constexpr (std::is_same_v<T, bool>) return PyBool_FromLong(v);
  else if constexpr (std::is_same_v<T, uint64_t>) return PyLong_FromUnsignedLongLong(v);
  else if constexpr (std::is_integral_v<T>) return PyLong_FromLongLong(v);
  else if constexpr (std::is_same_v<T, cfloat> || std::is_same_v<T, cdouble>)
    return PyComplex_FromDoubles(v.real(), v.imag());
  else return PyFloat_FromDouble(double(v));
}

template <class T>
PyObject* list_of(const T* p, IntRef sizes, IntRef strides, size_t dim) {
  if (dim == sizes.size()) {
    // Foreign memory may hold bytes that are neither 0 nor 1.
    if constexpr (std::is_same_v<T, bool>)
      return PyBool_FromLong(*reinterpret_cast<const unsigned char*>(p) != 0);
    else
      return number(*p);
  }
  Ref list = owned(PyList_New(sizes[dim]));
  for (int64_t i = 0; i < sizes[dim]; ++i) {
    PyObject* x = list_of(p + i * strides[dim], sizes, strides, dim + 1);
    if (!x) throw_python_error();
    PyList_SET_ITEM(list.get(), i, x);
  }
  return list.release();
}

}  // namespace

// A type that the loops below know and that holds every value of `d`.
static DType plain_type(DType d) {
  if (d == DType::ComplexHalf) return DType::ComplexFloat;
  return is_float8(d) ? DType::Float : d;
}

PyObject* nested_list(const Tensor& t) {
  check_implemented(!t.is_meta(), "Cannot copy out of meta tensor; no data!");
  if (DType plain = plain_type(t.dtype()); plain != t.dtype()) {
    NoGrad off;
    return nested_list(ops::to(t, plain, std::nullopt, false, std::nullopt));
  }
  PyObject* r = nullptr;
  visit(AllTypesAndUInts{}, t.dtype(), "tolist", [&]<class T>() {
    static const T none_{};
    const T* p = t.numel() ? t.data<T>() : &none_;
    r = list_of(p, t.sizes(), t.strides(), 0);
  });
  return r;
}

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype) {
  check_type(!PyUnicode_Check(data) && !PyBytes_Check(data), "new(): invalid data type '",
             Py_TYPE(data)->tp_name, "'");
  // Shape first: a ragged or too deep sequence is reported before its elements are looked at.
  Dims shape = infer_shape(data);
  DType wanted = dtype ? *dtype : infer_dtype(data), d = plain_type(wanted);
  Tensor t = empty_tensor(shape, d);
  visit(AllTypesAndUInts{}, d, "tensor", [&]<class T>() {
    T* out = t.data<T>();
    store(data, shape, 0, out);
  });
  return wanted == d ? t : ops::to(t, wanted, std::nullopt, false, std::nullopt);
}

}  // namespace rl::py
