// NumPy arrays in and out: see numpy_bridge.h.
#include "python/numpy_bridge.h"

#include <cstring>
#include <string>

#include "python/accepts.h"
#include "python/errors.h"
#include "python/types.h"

namespace rl::py {
namespace {

struct FormatCode {
  const char* numpy;   // dtype.str without the byte order: kind and size
  const char* buffer;  // PEP 3118
  DType d;
};
constexpr FormatCode kFormats[] = {
    {"f4", "f", DType::Float}, {"f8", "d", DType::Double}, {"f2", "e", DType::Half},
    {"i8", "l", DType::Int64}, {"i4", "i", DType::Int32}, {"i2", "h", DType::Int16},
    {"i1", "b", DType::Int8}, {"u1", "B", DType::UInt8}, {"u2", "H", DType::UInt16},
    {"u4", "I", DType::UInt32}, {"u8", "L", DType::UInt64}, {"b1", "?", DType::Bool},
    {"c8", "Zf", DType::ComplexFloat}, {"c16", "Zd", DType::ComplexDouble}};

[[noreturn]] void unsupported_type(PyObject* dtype) {
  Ref type = owned(PyObject_GetAttrString(dtype, "type"));
  auto* t = reinterpret_cast<PyTypeObject*>(type.get());
  fail_as(ErrorKind::Type, "can't convert np.ndarray of type ",
          PyType_Check(type.get()) ? t->tp_name : "object",
          ". The only supported types are: float64, float32, float16, complex64, complex128, "
          "int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.");
}

// Of a numpy.dtype object.
DType dtype_of_numpy(PyObject* dtype) {
  Ref text = owned(PyObject_GetAttrString(dtype, "str"));
  std::string s(to_str(text.get()));
  check_value(s.empty() || s[0] != '>',
              "given numpy array has byte order different from the native byte order. Conversion "
              "between byte orders is currently not supported.");
  for (auto& f : kFormats)
    if (s.size() > 1 && s.substr(1) == f.numpy) return f.d;
  unsupported_type(dtype);
}

DType dtype_attribute(PyObject* o) {
  Ref dtype = owned(PyObject_GetAttrString(o, "dtype"));
  return dtype_of_numpy(dtype.get());
}

void release_object(void* ctx, void*, size_t) {
  if (!Py_IsInitialized()) return;
  GilAcquire gil;
  Py_DECREF(static_cast<PyObject*>(ctx));
}


void warn_not_writable() {
  static bool said = false;
  warn_once(said, "The given NumPy array is not writable, and PyTorch does not support "
            "non-writable tensors. Writing to this tensor would change memory that is meant to be "
            "constant; copy the array first, or make it writable. This warning is shown once.");
}

}  // namespace

bool is_numpy_array(PyObject* o) {
  for (PyTypeObject* t = Py_TYPE(o); t; t = t->tp_base)
    if (!std::strcmp(t->tp_name, "numpy.ndarray")) return true;
  return false;
}

DType numpy_scalar_dtype(PyObject* o) { return dtype_attribute(o); }
DType numpy_array_dtype(PyObject* o) { return dtype_attribute(o); }

Tensor tensor_from_numpy(PyObject* array, bool warn) {
  check_type(is_numpy_array(array), "expected np.ndarray (got ", Py_TYPE(array)->tp_name, ")");
  DType d = numpy_array_dtype(array);
  Ref interface = owned(PyObject_GetAttrString(array, "__array_interface__"));
  PyObject* data = PyDict_GetItemString(interface.get(), "data");
  PyObject* shape = PyDict_GetItemString(interface.get(), "shape");
  // The interface leaves the strides out of arrays that count as contiguous; they are wanted as is.
  Ref strides = owned(PyObject_GetAttrString(array, "strides"));
  check_type(data && PyTuple_Check(data) && shape, "the array has no usable __array_interface__");
  if (warn && PyObject_IsTrue(PyTuple_GET_ITEM(data, 1))) warn_not_writable();
  Dims sizes = to_int_list(shape);
  Dims steps = to_int_list(strides.get());
  int64_t size = itemsize(d);
  for (auto& s : steps) {
    check_value(s >= 0, "At least one stride in the given numpy array is negative, and tensors "
                "with negative strides are not currently supported. (You can probably work around "
                "this by making a copy of your array  with array.copy().) ");
    check_value(s % size == 0, "given numpy array strides not a multiple of the element byte "
                "size. Copy the numpy array to reallocate the memory.");
    s /= size;
  }
  void* p = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  size_t bytes = size_t(storage_bytes_needed(sizes, steps, 0, size));
  auto storage = make_intrusive<Storage>(p, bytes, release_object, new_ref(array));
  Tensor t(new TensorImpl(storage, d, Device{}));
  t->sizes = sizes;
  t->strides = steps;
  t->refresh();
  return t;
}

// ---- out: an object with the buffer protocol that keeps the tensor
namespace {

struct ExportObject {
  PyObject_HEAD
  Tensor tensor;
  char format[4];
  Py_ssize_t* shape;    // ndim sizes, then ndim strides in bytes
};
ExportObject* cast(PyObject* o) { return reinterpret_cast<ExportObject*>(o); }

int export_buffer(PyObject* self, Py_buffer* view, int flags) {
  ExportObject* o = cast(self);
  const Tensor& t = o->tensor;
  int n = int(t.dim());
  static char nothing[16];
  view->buf = t.numel() && t.storage() ? t.data() : nothing;
  view->obj = new_ref(self);
  view->len = t.nbytes();
  view->itemsize = t.itemsize();
  view->readonly = 0;
  view->ndim = n;
  view->format = flags & PyBUF_FORMAT ? o->format : nullptr;
  view->shape = o->shape;
  view->strides = o->shape + n;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void export_dealloc(PyObject* self) {
  cast(self)->tensor.~Tensor();
  delete[] cast(self)->shape;
  Py_TYPE(self)->tp_free(self);
}

PyBufferProcs export_procs = {export_buffer, nullptr};
PyTypeObject export_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* make_export(const Tensor& t, const char* format) {
  auto* o = PyObject_New(ExportObject, &export_type);
  if (!o) throw_python_error();
  new (&o->tensor) Tensor(t);
  std::strncpy(o->format, format, sizeof o->format);
  size_t n = size_t(t.dim());
  o->shape = new Py_ssize_t[2 * n + 1];
  for (size_t i = 0; i < n; ++i) {
    o->shape[i] = t.sizes()[i];
    o->shape[n + i] = t.strides()[i] * t.itemsize();
  }
  return reinterpret_cast<PyObject*>(o);
}

}  // namespace

PyObject* numpy_from_tensor(const Tensor& t) {
  check(!t->dispatches, ".numpy() is not supported for tensor subclasses.");
  const char* format = nullptr;
  for (auto& f : kFormats)
    if (f.d == t.dtype()) format = f.buffer;
  check_type(format, "Got unsupported ScalarType ", t.dtype());
  static PyObject* asarray = nullptr;
  if (!asarray) {
    Ref numpy(PyImport_ImportModule("numpy"));
    if (!numpy) {
      PyErr_Clear();
      fail("Numpy is not available");
    }
    asarray = owned(PyObject_GetAttrString(numpy.get(), "asarray")).release();
  }
  Ref source(make_export(t, format));
  return owned(PyObject_CallOneArg(asarray, source.get())).release();
}

bool add_numpy_bridge(PyObject*) {
  export_type.tp_name = "torch._C._TensorBuffer";
  export_type.tp_basicsize = sizeof(ExportObject);
  export_type.tp_flags = Py_TPFLAGS_DEFAULT;
  export_type.tp_dealloc = export_dealloc;
  export_type.tp_as_buffer = &export_procs;
  return PyType_Ready(&export_type) == 0;
}

}  // namespace rl::py
