// torch.tensor, as_tensor, asarray, from_numpy, frombuffer, the old constructors torch.Tensor(...)
// and torch.FloatTensor(...), and Tensor.new_tensor.
#include "gen/ops/sparse.h"
#include "autograd/node.h"
#include "python/accepts.h"
#include "python/dlpack_bridge.h"
#include "python/errors.h"
#include "python/generated.h"
#include "python/numpy_bridge.h"
#include "python/ops.h"
#include "python/sequence.h"
#include "python/types.h"

namespace rl::py {
namespace {

void warn(const char* text) {
  check_python(PyErr_WarnEx(PyExc_UserWarning, text, 1) == 0);
}

Tensor placed(Tensor t, std::optional<DType> dtype, std::optional<Device> device, bool copy) {
  NoGrad off;
  return ops::to(t, dtype, device, copy, std::nullopt);
}

// A one-dimensional tensor over all of a storage's bytes, which it shares. Untyped bytes without a
// dtype are read as int64, as PyTorch does; a typed storage has its own dtype.
Tensor over_storage(PyObject* o, std::optional<DType> dtype) {
  Ref untyped = Ref::borrow(o);
  if (!is_storage(o)) {
    DType own = to_dtype(owned(PyObject_GetAttrString(o, "dtype")).get());
    check(!dtype || *dtype == own, "Expected a Storage of type ", scalar_type_name(*dtype),
          " or an UntypedStorage, but got ", scalar_type_name(own));
    dtype = own;
    untyped = owned(PyObject_GetAttrString(o, "_untyped_storage"));
  }
  StoragePtr s(storage_of(untyped.get()));
  Tensor t(new TensorImpl(s, dtype.value_or(DType::Int64), s->device()));
  t->set_contiguous(Dims{int64_t(s->nbytes()) / itemsize(t.dtype())});
  return t;
}

bool is_any_storage(PyObject* o) {
  return is_storage(o) || (Py_TYPE(o)->tp_dict && PyObject_HasAttrString(o, "_untyped_storage"));
}

// A copy of whatever `data` is, without history; storages are shared.
Tensor fresh(PyObject* data, std::optional<DType> dtype, std::optional<Device> device) {
  if (is_tensor(data)) {
    warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() "
         "or sourceTensor.detach().clone().requires_grad_(True), rather than "
         "torch.tensor(sourceTensor).");
    return placed(detached(tensor_of(data)), dtype, device, true);
  }
  if (is_numpy_array(data)) return placed(tensor_from_numpy(data, false), dtype, device, true);
  if (!PyList_Check(data) && !PyTuple_Check(data) && is_any_storage(data))
    return placed(over_storage(data, dtype), std::nullopt, device, false);
  return placed(tensor_from_data(data, dtype), std::nullopt, device, false);
}

Tensor with_flag(Tensor t, PyObject* flag) {
  if (flag && to_bool(flag)) {
    check(is_differentiable(t.dtype()),
          "Only Tensors of floating point and complex dtype can require gradients");
    set_requires_grad(t, true);
  }
  return t;
}

// ---- torch.tensor
const Param kTensorParams[] = {{"data", Kind::Ignored, false, false, 0, nullptr},
                               {"dtype", Kind::DTypeOpt, true, true, 0, nullptr},
                               {"device", Kind::DeviceOpt, true, true, 0, nullptr},
                               {"pin_memory", Kind::Bool, true, true, 0, nullptr},
                               {"requires_grad", Kind::Bool, true, true, 0, nullptr},
                               {"names", Kind::Ignored, true, true, 0, nullptr}};
const Signature kTensorSignatures[] = {
    {"(object data, *, torch.dtype dtype=None, torch.device device=None, bool pin_memory=False, "
     "bool requires_grad=False, tuple of names names=None)", kTensorParams, 6, 1, false, 0}};
const Overloads kTensor = {"tensor", "torch.tensor", kTensorSignatures, 1, false};

PyObject* do_tensor(int, PyObject* const* v) {
  return wrap(with_flag(fresh(v[0], to_dtype_opt(v[1]), to_device_opt(v[2])), v[4]));
}

// ---- torch.as_tensor
const Param kAsTensorParams[] = {{"data", Kind::Ignored, false, false, 0, nullptr},
                                 {"dtype", Kind::DTypeOpt, false, true, 0, nullptr},
                                 {"device", Kind::DeviceOpt, false, true, 0, nullptr}};
const Signature kAsTensorSignatures[] = {
    {"(object data, torch.dtype dtype=None, torch.device device=None)", kAsTensorParams, 3, 3,
     false, 0}};
const Overloads kAsTensor = {"as_tensor", "torch.as_tensor", kAsTensorSignatures, 1, false};

PyObject* do_as_tensor(int, PyObject* const* v) {
  auto dtype = to_dtype_opt(v[1]);
  auto device = to_device_opt(v[2]);
  if (is_tensor(v[0])) return wrap(ops::to(tensor_of(v[0]), dtype, device, false, std::nullopt));
  if (is_numpy_array(v[0]))
    return wrap(placed(tensor_from_numpy(v[0], true), dtype, device, false));
  return wrap(fresh(v[0], dtype, device));
}

// ---- torch.frombuffer
void release_view(void* ctx, void*, size_t) {
  if (!Py_IsInitialized()) return;
  auto* view = static_cast<Py_buffer*>(ctx);
  GilAcquire gil;
  PyBuffer_Release(view);
  delete view;
}

void warn_read_only() {
  static bool said = false;
  warn_once(said, "The given buffer is not writable, and PyTorch does not support "
            "non-writable tensors. Writing to this tensor would change memory that is meant to be "
            "constant; copy the buffer first, or make it writable. This warning is shown once.");
}

// Shares the memory of any object with the buffer protocol.
Tensor from_buffer(PyObject* object, DType dtype, int64_t count, int64_t offset) {
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(object, view, PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0) {
      delete view;
      PyErr_Clear();
      fail_as(ErrorKind::Value, "object does not implement Python buffer protocol.");
    }
    warn_read_only();
  }
  int64_t length = view->len, size = itemsize(dtype);
  auto storage = make_intrusive<Storage>(view->buf, size_t(length), release_view, view);
  check_value(length > 0 && count != 0, "both buffer length (", length, ") and count (", count,
              ") must not be 0");
  check_value(offset >= 0 && offset < length, "offset (", offset,
              " bytes) must be non-negative and no greater than buffer length (", length,
              " bytes) minus 1");
  check_value(count > 0 || (length - offset) % size == 0, "buffer length (", length - offset,
              " bytes) after offset (", offset, " bytes) must be a multiple of element size (",
              size, ")");
  int64_t n = count < 0 ? (length - offset) / size : count;
  check_value(offset + n * size <= length, "requested buffer length (", n, " * ", size,
              " bytes) after offset (", offset, " bytes) must not be greater than actual buffer "
              "length (", length, " bytes)");
  if (offset) {
    auto* keep = new StoragePtr(storage);
    auto drop = [](void* ctx, void*, size_t) { delete static_cast<StoragePtr*>(ctx); };
    storage = make_intrusive<Storage>(static_cast<char*>(view->buf) + offset,
                                      size_t(length - offset), drop, keep);
  }
  Tensor t(new TensorImpl(storage, dtype, Device{}));
  t->set_contiguous(Dims{n});
  return t;
}

const Param kBufferParams[] = {{"buffer", Kind::Ignored, false, false, 0, nullptr},
                               {"dtype", Kind::DType, true, false, 0, nullptr},
                               {"count", Kind::Int, true, true, 0, nullptr},
                               {"offset", Kind::Int, true, true, 0, nullptr},
                               {"requires_grad", Kind::Bool, true, true, 0, nullptr}};
const Signature kBufferSignatures[] = {
    {"(object buffer, *, torch.dtype dtype, int count=-1, int offset=0, bool requires_grad=False)",
     kBufferParams, 5, 1, false, 0}};
const Overloads kFromBuffer = {"frombuffer", "torch.frombuffer", kBufferSignatures, 1, false};

PyObject* do_frombuffer(int, PyObject* const* v) {
  int64_t count = v[2] ? to_int(v[2]) : -1, offset = v[3] ? to_int(v[3]) : 0;
  return wrap(with_flag(from_buffer(v[0], to_dtype(v[1]), count, offset), v[4]));
}

// ---- torch.asarray
const Param kAsArrayParams[] = {{"obj", Kind::Ignored, false, false, 0, nullptr},
                                {"dtype", Kind::DTypeOpt, true, true, 0, nullptr},
                                {"device", Kind::DeviceOpt, true, true, 0, nullptr},
                                {"copy", Kind::BoolOpt, true, true, 0, nullptr},
                                {"requires_grad", Kind::Bool, true, true, 0, nullptr}};
const Signature kAsArraySignatures[] = {
    {"(object obj, *, torch.dtype dtype=None, torch.device device=None, bool copy=None, bool "
     "requires_grad=False)", kAsArrayParams, 5, 1, false, 0}};
const Overloads kAsArray = {"asarray", "torch.asarray", kAsArraySignatures, 1, false};

// What can share memory; undefined when `o` cannot.
Tensor shared(PyObject* o, std::optional<DType> dtype) {
  if (is_tensor(o)) return tensor_of(o);
  if (is_numpy_array(o)) return tensor_from_numpy(o, true);
  if (PyObject_HasAttrString(o, "__dlpack__")) return tensor_from_dlpack(o);
  if (is_any_storage(o)) return over_storage(o, dtype);
  if (PyObject_CheckBuffer(o) && !is_numpy_scalar(o))
    return from_buffer(o, dtype.value_or(default_dtype()), -1, 0);
  return Tensor();
}

PyObject* do_asarray(int, PyObject* const* v) {
  auto dtype = to_dtype_opt(v[1]);
  auto device = to_device_opt(v[2]);
  auto copy = to_bool_opt(v[3]);
  bool wants_grad = v[4] && to_bool(v[4]);
  Tensor t = shared(v[0], dtype);
  if (!t.defined()) {
    check_value(!copy || *copy, "can't alias arbitrary sequence.");
    return wrap(with_flag(fresh(v[0], dtype, device), v[4]));
  }
  bool changes = (dtype && *dtype != t.dtype()) || (device && !(device->type == t.device().type));
  check_value(!changes || !copy || *copy,
              dtype && *dtype != t.dtype()
                  ? str("can't alias tensor with dtype '", dtype_name(t.dtype()), "' into dtype '",
                        dtype_name(*dtype), "'.")
                  : std::string("can't alias tensor to another device."));
  Tensor r = ops::to(t, dtype, device, copy.value_or(false), std::nullopt);
  if (!wants_grad && r.requires_grad()) r = detached(r);
  if (wants_grad && !r.requires_grad()) {
    if (r.is_same(t)) r = detached(r);
    set_requires_grad(r, true);
  }
  return wrap(r);
}

// ---- Tensor.new_tensor
const Param kNewTensorParams[] = {{"self", Kind::Tensor, false, false, 0, nullptr},
                                  {"data", Kind::Ignored, false, false, 0, nullptr},
                                  {"dtype", Kind::DTypeOpt, true, true, 0, nullptr},
                                  {"device", Kind::DeviceOpt, true, true, 0, nullptr},
                                  {"requires_grad", Kind::Bool, true, true, 0, nullptr}};
const Signature kNewTensorSignatures[] = {
    {"(object data, *, torch.dtype dtype=None, torch.device device=None, bool "
     "requires_grad=False)", kNewTensorParams, 5, 2, false, 0}};
const Overloads kNewTensor = {"new_tensor", "torch.Tensor.new_tensor", kNewTensorSignatures, 1,
                              true};

PyObject* do_new_tensor(int, PyObject* const* v) {
  const Tensor& self = to_tensor(v[0]);
  auto dtype = to_dtype_opt(v[2]);
  auto device = to_device_opt(v[3]);
  bool typed = is_tensor(v[1]) || is_numpy_array(v[1]);
  if (!dtype && !typed) dtype = self.dtype();
  if (!dtype) dtype = self.dtype();
  return wrap(with_flag(fresh(v[1], dtype, device ? device : self.device()), v[4]));
}

// ---- torch.Tensor(...), torch.FloatTensor(...), x.new(...)
Tensor legacy_from_sequence(PyObject* data, DType dtype, Device device) {
  if (is_numpy_array(data)) return placed(tensor_from_numpy(data, false), dtype, device, true);
  check_type(!PyUnicode_Check(data), "new(): invalid data type 'str'");
  check_type(PySequence_Check(data) && !is_numpy_scalar(data),
             "new(): data must be a sequence (got ", Py_TYPE(data)->tp_name, ")");
  return placed(tensor_from_data(data, dtype), std::nullopt, device, false);
}

Tensor legacy_from_tensor(const Tensor& other, DType dtype, const char* name) {
  check_type(other.dtype() == dtype, "expected ", name, " (got ", dtype_name(other.dtype()), ")");
  return ops::alias_view(other);
}

Tensor legacy_from_storage(PyObject* o, DType dtype) {
  StoragePtr s(storage_of(o));
  Tensor t(new TensorImpl(s, dtype, s->device()));
  t->set_contiguous(Dims{int64_t(s->nbytes()) / itemsize(dtype)});
  return t;
}

bool all_int_arguments(PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    if (!is_int_like(PyTuple_GET_ITEM(args, i)) || is_tensor(PyTuple_GET_ITEM(args, i)))
      return false;
  return true;
}

Tensor legacy_new(DType dtype, Device device, PyObject* args, PyObject* kwargs) {
  PyObject* d = kwargs ? PyDict_GetItemString(kwargs, "device") : nullptr;
  if (d && d != Py_None) {
    Device asked = to_device(d);
    check(asked.type == device.type, "legacy constructor expects device type: ",
          device_type_name(device.type), " but device type: ", device_type_name(asked.type),
          " was passed");
    device = asked;
  }
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  Py_ssize_t others = kwargs ? PyDict_GET_SIZE(kwargs) - (d ? 1 : 0) : 0;
  PyObject* named = kwargs ? PyDict_GetItemString(kwargs, "data") : nullptr;
  if (named && n == 0 && others == 1) return legacy_from_sequence(named, dtype, device);
  check_type(others == 0, "new() received an invalid combination of arguments: unexpected keyword");
  if (n == 0) return empty_tensor(Dims{0}, dtype, device);
  if (all_int_arguments(args)) return empty_tensor(to_int_list(args), dtype, device);
  check_type(n == 1, "new() received an invalid combination of arguments");
  PyObject* a = PyTuple_GET_ITEM(args, 0);
  if (Py_TYPE(a) == &size_type) return empty_tensor(to_int_list(a), dtype, device);
  if (is_tensor(a)) return legacy_from_tensor(tensor_of(a), dtype, scalar_type_name(dtype));
  if (is_storage(a)) return legacy_from_storage(a, dtype);
  return legacy_from_sequence(a, dtype, device);
}

PyObject* py_legacy_new(PyObject*, PyObject* args) {  // _legacy_new(dtype, args, kwargs)
  PyObject *dtype, *rest, *kwargs;
  if (!PyArg_ParseTuple(args, "OO!O", &dtype, &PyTuple_Type, &rest, &kwargs)) return nullptr;
  return guarded([&] {
    return wrap(legacy_new(to_dtype(dtype), {}, rest, kwargs == Py_None ? nullptr : kwargs));
  });
}

PyObject* method_new(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    PyObject* a = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : nullptr;
    if (a && is_tensor(a)) return wrap(ops::alias_view(tensor_of(a)));
    return wrap(legacy_new(t.dtype(), t.device(), args, kwargs));
  });
}

PyObject* py_from_numpy(PyObject*, PyObject* array) {
  return guarded([&] { return wrap(tensor_from_numpy(array, true)); });
}

PyObject* py_to_numpy(PyObject*, PyObject* o) {  // _to_numpy(x): checks are in torch/_tensor.py
  return guarded([&] { return numpy_from_tensor(to_tensor(o)); });
}

template <const Overloads& O, int N, PyObject* (*F)(int, PyObject* const*)>
PyObject* bound(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* v[N] = {};
    int which = bind(O, self, args, nargs, kwnames, v);
    return which == kHandled ? take_bound_result() : F(which, v);
  });
}

template <class F>
PyCFunction fast(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}
constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
PyMethodDef torch_functions[] = {
    {"tensor", fast(bound<kTensor, 6, do_tensor>), kFast, nullptr},
    {"as_tensor", fast(bound<kAsTensor, 3, do_as_tensor>), kFast, nullptr},
    {"asarray", fast(bound<kAsArray, 5, do_asarray>), kFast, nullptr},
    {"frombuffer", fast(bound<kFromBuffer, 5, do_frombuffer>), kFast, nullptr},
    {"from_numpy", py_from_numpy, METH_O, nullptr},
    {}};
PyMethodDef private_functions[] = {{"_legacy_new", py_legacy_new, METH_VARARGS, nullptr},
                                   {"_to_numpy", py_to_numpy, METH_O, nullptr},
                                   {}};
PyMethodDef methods[] = {
    {"new_tensor", fast(bound<kNewTensor, 5, do_new_tensor>), kFast, nullptr},
    {"new", fast(method_new), METH_VARARGS | METH_KEYWORDS, nullptr},
    {}};

}  // namespace

bool wants_sparse(PyObject* layout) {
  return layout && layout != Py_None && *to_layout_opt(layout) != Layout::Strided;
}

PyObject* wrap_sparse_empty(PyObject* size, PyObject* dtype, PyObject* layout,
                            PyObject* requires_grad) {
  return wrap(with_flag(_sparse_empty(to_int_list(size), to_dtype_opt(dtype),
                                      to_layout_opt(layout)), requires_grad));
}

PyObject* wrap_new(Tensor t, PyObject* requires_grad, PyObject* layout) {
  if (layout && layout != Py_None) {
    Layout l = *to_layout_opt(layout);
    if (l == Layout::Strided && t.layout() != l) t = to_dense(t);
    check_implemented(l == t.layout(), "factories with layout=", layout_name(l),
                      " are not implemented");
  }
  return wrap(with_flag(std::move(t), requires_grad));
}

PyObject* legacy_tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  Tensor t = legacy_new(default_dtype(), {}, args, kwargs);
  if (type == tensor_type) return wrap(std::move(t));
  return wrap_as(type, std::move(t));
}

bool add_construct_functions(PyObject* module) {
  for (PyMethodDef* m = methods; m->ml_name; ++m) {
    Ref d(PyDescr_NewMethod(&tensor_base_type, m));
    if (!d || PyDict_SetItemString(tensor_base_type.tp_dict, m->ml_name, d.get()) < 0) return false;
  }
  PyType_Modified(&tensor_base_type);
  Ref torch_module(PyObject_GetAttrString(module, "_VariableFunctions"));
  if (!torch_module) return false;
  return PyModule_AddFunctions(torch_module.get(), torch_functions) == 0 &&
         PyModule_AddFunctions(module, private_functions) == 0 && add_numpy_bridge(module) &&
         add_dlpack_bridge(module);
}

}  // namespace rl::py
