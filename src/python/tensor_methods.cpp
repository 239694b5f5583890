// Methods of torch.Tensor that have no entry in ops/: geometry, conversion to Python values,
// memory, subclasses. Those easier said in Python are in torch/_tensor.py.
#include "autograd/node.h"
#include "python/accepts.h"
#include "python/errors.h"
#include "python/ops.h"
#include "python/overrides.h"
#include "python/sequence.h"
#include "python/tensor_memory.h"
#include "python/types.h"

namespace rl::py {
namespace {

using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

// Binds with a table and runs `F(signature, v)`.
template <const Overloads& O, int N, PyObject* (*F)(int, PyObject* const*)>
PyObject* bound(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* v[N] = {};
    int which = bind(O, self, args, nargs, kwnames, v);
    return which == kHandled ? take_bound_result() : F(which, v);
  });
}

// A method without arguments.
template <const char* Name, PyObject* (*F)(const Tensor&)>
PyObject* simple(PyObject* self, PyObject*) {
  PyObject* r = nullptr;
  if (!is_exact_tensor(self) || function_state.modes_on) [[unlikely]]
    if (method_overridden(self, Name, nullptr, 0, nullptr, &r)) return r;
  return guarded([&] { return F(tensor_of(self)); });
}

#define RL_SELF {"self", Kind::Tensor, false, false, 0, nullptr}

// ---- geometry
const Param kDimParams[] = {RL_SELF, {"dim", Kind::IntOpt, false, true, 0, nullptr}};
const Signature kSizeSignatures[] = {{"(int dim=None)", kDimParams, 2, 2, false, 0}};
const Overloads kSize = {"size", "torch.Tensor.size", kSizeSignatures, 1, true};
const Overloads kStride = {"stride", "torch.Tensor.stride", kSizeSignatures, 1, true};

PyObject* do_size(int, PyObject* const* v) {
  const Tensor& t = to_tensor(v[0]);
  if (!v[1] || v[1] == Py_None) return wrap_sizes(t.sizes());
  return PyLong_FromLongLong(t.size(to_int(v[1])));
}

PyObject* int_tuple(IntRef v) {
  PyObject* r = PyTuple_New(Py_ssize_t(v.size()));
  for (size_t i = 0; r && i < v.size(); ++i)
    PyTuple_SET_ITEM(r, Py_ssize_t(i), PyLong_FromLongLong(v[i]));
  return r;
}

const char* compressed_name(const Tensor& t) {
  switch (t.layout()) {
    case Layout::SparseCsc: return "CSC";
    case Layout::SparseBsr: return "BSR";
    case Layout::SparseBsc: return "BSC";
    default: return "CSR";
  }
}

PyObject* do_stride(int, PyObject* const* v) {
  const Tensor& t = to_tensor(v[0]);
  check(!t.is_sparse_csr(), "Sparse ", compressed_name(t), " tensors do not have strides");
  if (!v[1] || v[1] == Py_None) return int_tuple(t.strides());
  return PyLong_FromLongLong(t.stride(to_int(v[1])));
}

const Param kFormatParams[] = {RL_SELF,
                               {"memory_format", Kind::MemoryFormat, true, true, 0, nullptr}};
const Signature kContiguousSignatures[] = {
    {"(*, torch.memory_format memory_format=torch.contiguous_format)", kFormatParams, 2, 1, false,
     0}};
const Overloads kIsContiguous = {"is_contiguous", "torch.Tensor.is_contiguous",
                                 kContiguousSignatures, 1, true};
PyObject* do_is_contiguous(int, PyObject* const* v) {
  MemoryFormat f = v[1] ? to_memory_format(v[1]) : MemoryFormat::Contiguous;
  const Tensor& t = to_tensor(v[0]);
  check(!t.is_sparse_csr(), "Sparse ", compressed_name(t),
        " tensors do not have is_contiguous");
  return wrap(t.is_contiguous(f));
}

PyObject* get_dim(const Tensor& t) { return PyLong_FromLongLong(t.dim()); }
PyObject* get_numel(const Tensor& t) { return PyLong_FromLongLong(t.numel()); }
PyObject* get_element_size(const Tensor& t) { return PyLong_FromLongLong(t.itemsize()); }
PyObject* get_offset(const Tensor& t) { return PyLong_FromLongLong(t.offset()); }
PyObject* get_data_ptr(const Tensor& t) {
  check(t->kind == ImplKind::Strided,
        "Cannot access data pointer of Tensor that doesn't have storage");
  if (!t.storage() || !t.storage()->data()) return PyLong_FromLong(0);
  return PyLong_FromVoidPtr(t.data());
}
PyObject* get_is_floating(const Tensor& t) { return wrap(t.is_floating()); }
PyObject* get_is_complex(const Tensor& t) { return wrap(t.is_complex()); }
PyObject* get_is_signed(const Tensor& t) {
  return wrap(!is_unsigned_int(t.dtype()) && t.dtype() != DType::Bool);
}
PyObject* get_false(const Tensor&) { return wrap(false); }
PyObject* get_is_inference(const Tensor& t) { return wrap(bool(t->inference)); }

// ---- values
PyObject* get_item(const Tensor& t) {
  check(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  check(!t.is_meta(), "Tensor.item() cannot be called on meta tensors");
  return scalar_object(ops::item(t), t.dtype());
}
PyObject* get_tolist(const Tensor& t) {
  check(!t->dispatches, ".tolist() is not supported for tensor subclasses, got ",
        object_of(t) ? Py_TYPE(object_of(t))->tp_name : "one");
  check(t->kind == ImplKind::Strided,
        "Cannot access data pointer of Tensor that doesn't have storage");
  return nested_list(t);
}

PyObject* complex_method(const Tensor& t) {
  check(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  cdouble c = item(t).to_complex();
  return PyComplex_FromDoubles(c.real(), c.imag());
}

// ---- autograd flags
const Param kFlagParams[] = {RL_SELF, {"requires_grad", Kind::Bool, false, true, 0, nullptr}};
const Signature kFlagSignatures[] = {{"(bool requires_grad=True)", kFlagParams, 2, 2, false, 0}};
const Overloads kRequiresGrad = {"requires_grad_", "torch.Tensor.requires_grad_", kFlagSignatures,
                                 1, true};
PyObject* do_requires_grad(int, PyObject* const* v) {
  const Tensor& t = to_tensor(v[0]);
  bool on = !v[1] || to_bool(v[1]);
  check(is_leaf(t) || on, "you can only change requires_grad flags of leaf variables. If you want "
        "to use a computed variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach().");
  check(!on || is_differentiable(t.dtype()),
        "only Tensors of floating point dtype can require gradients");
  set_requires_grad(t, on);
  return new_ref(v[0]);
}

PyObject* do_retain_grad(const Tensor& t) {
  retain_grad(t);
  return none();
}
PyObject* do_detach_inplace(const Tensor& t) {
  detach_inplace(t);
  return wrap(t);
}

// ---- to(...)
const Param kToDevice[] = {RL_SELF,
                           {"device", Kind::DeviceOpt, false, true, 0, nullptr},
                           {"dtype", Kind::DTypeOpt, false, true, 0, nullptr},
                           {"non_blocking", Kind::Bool, false, true, 0, nullptr},
                           {"copy", Kind::Bool, false, true, 0, nullptr},
                           {"memory_format", Kind::MemoryFormatOpt, true, true, 0, nullptr}};
const Param kToDType[] = {RL_SELF,
                          {"dtype", Kind::DType, false, false, 0, nullptr},
                          {"non_blocking", Kind::Bool, false, true, 0, nullptr},
                          {"copy", Kind::Bool, false, true, 0, nullptr},
                          {"memory_format", Kind::MemoryFormatOpt, true, true, 0, nullptr}};
const Param kToOther[] = {RL_SELF,
                          {"tensor", Kind::Tensor, false, false, 0, "other"},
                          {"non_blocking", Kind::Bool, false, true, 0, nullptr},
                          {"copy", Kind::Bool, false, true, 0, nullptr},
                          {"memory_format", Kind::MemoryFormatOpt, true, true, 0, nullptr}};
const Signature kToSignatures[] = {
    {"(torch.device device=None, torch.dtype dtype=None, bool non_blocking=False, bool copy=False, "
     "*, torch.memory_format memory_format=None)", kToDevice, 6, 5, false, 0},
    {"(torch.dtype dtype, bool non_blocking=False, bool copy=False, *, torch.memory_format "
     "memory_format=None)", kToDType, 5, 4, false, 0},
    {"(Tensor tensor, bool non_blocking=False, bool copy=False, *, torch.memory_format "
     "memory_format=None)", kToOther, 5, 4, false, 0}};
const Overloads kTo = {"to", "torch.Tensor.to", kToSignatures, 3, true};

PyObject* do_to(int which, PyObject* const* v) {
  const Tensor& t = to_tensor(v[0]);
  std::optional<DType> dtype;
  std::optional<Device> device;
  int at = 2;
  if (which == 0) {
    device = to_device_opt(v[1]);
    dtype = to_dtype_opt(v[2]);
    at = 3;
  } else if (which == 1) {
    dtype = to_dtype(v[1]);
  } else {
    dtype = to_tensor(v[1]).dtype();
    device = to_tensor(v[1]).device();
  }
  bool copy = v[at + 1] && to_bool(v[at + 1]);
  return wrap(ops::to(t, dtype, device, copy, to_memory_format_opt(v[at + 2])));
}

// _nn._parse_to(*args): (device, dtype, non_blocking, memory_format) of a call of to(), for modules
const Signature kParseSignatures[] = {
    {"(torch.device device=None, torch.dtype dtype=None, bool non_blocking=False, bool copy=False, "
     "*, torch.memory_format memory_format=None)", kToDevice + 1, 5, 4, false, 0},
    {"(torch.dtype dtype, bool non_blocking=False, bool copy=False, *, torch.memory_format "
     "memory_format=None)", kToDType + 1, 4, 3, false, 0},
    {"(Tensor tensor, bool non_blocking=False, bool copy=False, *, torch.memory_format "
     "memory_format=None)", kToOther + 1, 4, 3, false, 0}};
const Overloads kParseTo = {"to", "torch._C._nn._parse_to", kParseSignatures, 3, false};

PyObject* do_parse_to(int which, PyObject* const* v) {
  Ref device(none()), dtype(none());
  int at = which == 0 ? 2 : 1;
  if (which == 2) {
    device = Ref(wrap(to_tensor(v[0]).device()));
    dtype = Ref(wrap(to_tensor(v[0]).dtype()));
  } else {
    PyObject* d = which == 0 ? v[1] : v[0];
    if (d && d != Py_None) dtype = Ref(wrap(to_dtype(d)));
    if (which == 0 && v[0] && v[0] != Py_None) device = Ref(wrap(to_device(v[0])));
  }
  bool non_blocking = v[at] && to_bool(v[at]);
  PyObject* format = v[at + 2] ? v[at + 2] : Py_None;
  return Py_BuildValue("(OOOO)", device.get(), dtype.get(), non_blocking ? Py_True : Py_False,
                       format);
}

// x.float(), x.long() ...: a dtype by name of the method
template <DType D>
struct Cast {
  static PyObject* run(int, PyObject* const* v) {
    return wrap(ops::to(to_tensor(v[0]), D, std::nullopt, false, to_memory_format_opt(v[1])));
  }
};
const Param kCastParams[] = {RL_SELF,
                             {"memory_format", Kind::MemoryFormatOpt, true, true, 0, nullptr}};
const Signature kCastSignatures[] = {
    {"(*, torch.memory_format memory_format=None)", kCastParams, 2, 1, false, 0}};
#define RL_CAST(name) \
  const Overloads kCast_##name = {#name, "torch.Tensor." #name, kCastSignatures, 1, true};
RL_CAST(float) RL_CAST(double) RL_CAST(half) RL_CAST(bfloat16) RL_CAST(int) RL_CAST(long)
RL_CAST(short) RL_CAST(char) RL_CAST(byte) RL_CAST(bool) RL_CAST(cfloat) RL_CAST(cdouble)
RL_CAST(chalf)
#undef RL_CAST

const Param kDeviceMoveParams[] = {RL_SELF,
                                   {"device", Kind::DeviceOpt, false, true, 0, nullptr},
                                   {"non_blocking", Kind::Bool, false, true, 0, nullptr},
                                   {"memory_format", Kind::MemoryFormatOpt, true, true, 0,
                                    nullptr}};
const Signature kCudaSignatures[] = {
    {"(torch.device device=None, bool non_blocking=False, *, torch.memory_format "
     "memory_format=None)", kDeviceMoveParams, 4, 3, false, 0}};
const Overloads kCuda = {"cuda", "torch.Tensor.cuda", kCudaSignatures, 1, true};
const Overloads kCpu = {"cpu", "torch.Tensor.cpu", kCastSignatures, 1, true};
PyObject* do_cpu(int, PyObject* const* v) {
  return wrap(ops::to(to_tensor(v[0]), std::nullopt, Device{}, false, to_memory_format_opt(v[1])));
}
PyObject* do_cuda(int, PyObject* const*) {
  fail_as(ErrorKind::Assertion, "Torch not compiled with CUDA enabled");
}

// ---- subclasses
PyObject* make_subclass(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    check_type(nargs >= 2 && PyType_Check(args[0]) && is_tensor(args[1]),
               "_make_subclass() expects a type and a Tensor");
    PyObject* flag = nargs > 2 ? args[2] : nullptr;
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
      if (!PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "require_grad"))
        flag = args[nargs + k];
    auto* type = reinterpret_cast<PyTypeObject*>(args[0]);
    check_type(PyType_IsSubtype(type, &tensor_base_type), "cls must be a type of tensors");
    Tensor t = detached(tensor_of(args[1]));
    bool on = flag && to_bool(flag);
    check(!on || is_differentiable(t.dtype()),
          "Only Tensors of floating point and complex dtype can require gradients");
    if (on) set_requires_grad(t, true);
    return wrap_as(type, std::move(t));
  });
}

// _make_wrapper_subclass(cls, size, *, ...): a tensor of that geometry without memory
constexpr int kWrapperParams = 12;
const Param kWrapper[] = {{"size", Kind::IntList, false, false, 0, nullptr},
                          {"strides", Kind::IntListOpt, true, true, 0, nullptr},
                          {"storage_offset", Kind::IntOpt, true, true, 0, nullptr},
                          {"memory_format", Kind::MemoryFormatOpt, true, true, 0, nullptr},
                          {"dtype", Kind::DTypeOpt, true, true, 0, nullptr},
                          {"layout", Kind::LayoutOpt, true, true, 0, nullptr},
                          {"device", Kind::DeviceOpt, true, true, 0, nullptr},
                          {"pin_memory", Kind::Bool, true, true, 0, nullptr},
                          {"requires_grad", Kind::Bool, true, true, 0, nullptr},
                          {"dispatch_sizes_strides_policy", Kind::StrOpt, true, true, 0, nullptr},
                          {"dispatch_device", Kind::Bool, true, true, 0, nullptr},
                          {"dispatch_layout", Kind::Bool, true, true, 0, nullptr}};
const Signature kWrapperSignatures[] = {
    {"(IntArrayRef size, *, IntArrayRef strides=None, int storage_offset=None, torch.memory_format "
     "memory_format=None, torch.dtype dtype=None, torch.layout layout=None, torch.device "
     "device=None, bool pin_memory=False, bool requires_grad=False, str "
     "dispatch_sizes_strides_policy=None, bool dispatch_device=False, bool dispatch_layout=False)",
     kWrapper, kWrapperParams, 1, false, 0}};
const Overloads kMakeWrapper = {"_make_wrapper_subclass", "torch.Tensor._make_wrapper_subclass",
                                kWrapperSignatures, 1, false};

Tensor memoryless(PyObject* const* v) {
  const Dims size = to_int_list(v[0]);
  const DType dtype = to_dtype_opt(v[4]).value_or(default_dtype());
  auto format = to_memory_format_opt(v[3]);
  Tensor t = format ? empty_format(size, dtype, Device{DeviceType::Meta}, *format)
                    : empty_tensor(size, dtype, Device{DeviceType::Meta});
  if (OptDims strides = to_int_list_opt(v[1]); strides.has) {
    check(strides.dims.size() == size.size(), "mismatch in length of strides and shape");
    t->strides = strides.dims;
  }
  t->offset = to_int_opt(v[2]).value_or(0);
  t->device = to_device_opt(v[6]).value_or(Device{});
  t->refresh();
  if (v[8] && to_bool(v[8])) set_requires_grad(t, true);
  return t;
}

PyObject* make_wrapper_subclass(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                                PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    check_type(nargs >= 1 && PyType_Check(args[0]), "cls must be a type (got ",
               nargs ? Py_TYPE(args[0])->tp_name : "nothing", ")");
    auto* type = reinterpret_cast<PyTypeObject*>(args[0]);
    check_type(PyType_IsSubtype(type, &tensor_base_type) && class_dispatches(type),
               reinterpret_cast<PyTypeObject*>(args[0])->tp_name,
               " must define __torch_dispatch__");
    PyObject* v[kWrapperParams] = {};
    if (bind(kMakeWrapper, nullptr, args + 1, nargs - 1, kwnames, v) == kHandled)
      return take_bound_result();
    return wrap_as(type, memoryless(v));
  });
}

PyObject* as_subclass(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* cls = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) == 1 ? args[0] : nullptr;
    check_type(cls && PyType_Check(cls), "as_subclass(): argument 'cls' must be a type");
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    check_type(PyType_IsSubtype(type, &tensor_base_type),
               "cls must be a type of tensors, not ", type->tp_name);
    return wrap_as(type, ops::alias_view(tensor_of(self)));
  });
}

// _convert(x, cls): an exact tensor becomes the subclass; used by the default __torch_function__.
PyObject* convert_result(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_type(nargs == 2 && PyType_Check(args[1]), "expected (value, cls)");
    auto* type = reinterpret_cast<PyTypeObject*>(args[1]);
    if (type == tensor_type || !is_tensor(args[0]) || PyType_IsSubtype(Py_TYPE(args[0]), type))
      return new_ref(args[0]);
    return wrap_as(type, ops::alias_view(tensor_of(args[0])));
  });
}

// ---- memory
PyObject* get_untyped_storage(const Tensor& t) {
  check_implemented(bool(t.storage()), "Cannot access storage of ", t.is_sparse_csr() ? "SparseCsr"
                    : t.is_sparse() ? "Sparse" : "", "TensorImpl");
  return wrap_storage(t.storage());
}

PyObject* share_version_of(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_type(nargs == 1 && is_tensor(args[0]), "expected a Tensor");
    bump_version(tensor_of(args[0]));
    return none();
  });
}

constexpr char n_dim[] = "dim", n_ndimension[] = "ndimension", n_numel[] = "numel",
               n_nelement[] = "nelement", n_element_size[] = "element_size",
               n_storage_offset[] = "storage_offset", n_data_ptr[] = "data_ptr",
               n_is_floating_point[] = "is_floating_point", n_is_complex[] = "is_complex",
               n_is_signed[] = "is_signed", n_item[] = "item", n_tolist[] = "tolist",
               n_complex[] = "__complex__", n_retain_grad[] = "retain_grad",
               n_detach_[] = "detach_", n_untyped_storage[] = "untyped_storage",
               n_is_conj[] = "is_conj", n_is_neg[] = "is_neg", n_is_inference[] = "is_inference",
               n_is_pinned[] = "is_pinned";

PyCFunction fast(Fast f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)); }

}  // namespace

PyMethodDef nn_functions[] = {
    {"_parse_to", fast(bound<kParseTo, 5, do_parse_to>), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {}};

#define RL_BOUND(name, o, n, f) \
  {name, fast(bound<o, n, f>), METH_FASTCALL | METH_KEYWORDS, nullptr}
#define RL_CAST(name, d) RL_BOUND(#name, kCast_##name, 2, Cast<DType::d>::run)

PyMethodDef tensor_methods[] = {
    RL_BOUND("size", kSize, 2, do_size),
    RL_BOUND("stride", kStride, 2, do_stride),
    RL_BOUND("is_contiguous", kIsContiguous, 2, do_is_contiguous),
    RL_BOUND("requires_grad_", kRequiresGrad, 2, do_requires_grad),
    RL_BOUND("to", kTo, 6, do_to),
    RL_BOUND("cpu", kCpu, 2, do_cpu),
    RL_BOUND("cuda", kCuda, 4, do_cuda),
    RL_CAST(float, Float), RL_CAST(double, Double), RL_CAST(half, Half),
    RL_CAST(bfloat16, BFloat16), RL_CAST(int, Int32), RL_CAST(long, Int64), RL_CAST(short, Int16),
    RL_CAST(char, Int8), RL_CAST(byte, UInt8), RL_CAST(bool, Bool), RL_CAST(cfloat, ComplexFloat),
    RL_CAST(cdouble, ComplexDouble), RL_CAST(chalf, ComplexHalf),
    {"dim", simple<n_dim, get_dim>, METH_NOARGS, nullptr},
    {"ndimension", simple<n_ndimension, get_dim>, METH_NOARGS, nullptr},
    {"numel", simple<n_numel, get_numel>, METH_NOARGS, nullptr},
    {"nelement", simple<n_nelement, get_numel>, METH_NOARGS, nullptr},
    {"element_size", simple<n_element_size, get_element_size>, METH_NOARGS, nullptr},
    {"storage_offset", simple<n_storage_offset, get_offset>, METH_NOARGS, nullptr},
    {"data_ptr", simple<n_data_ptr, get_data_ptr>, METH_NOARGS, nullptr},
    {"is_floating_point", simple<n_is_floating_point, get_is_floating>, METH_NOARGS, nullptr},
    {"is_complex", simple<n_is_complex, get_is_complex>, METH_NOARGS, nullptr},
    {"is_signed", simple<n_is_signed, get_is_signed>, METH_NOARGS, nullptr},
    {"is_conj", simple<n_is_conj, get_false>, METH_NOARGS, nullptr},
    {"is_neg", simple<n_is_neg, get_false>, METH_NOARGS, nullptr},
    {"is_pinned", simple<n_is_pinned, get_false>, METH_NOARGS, nullptr},
    {"is_inference", simple<n_is_inference, get_is_inference>, METH_NOARGS, nullptr},
    {"item", simple<n_item, get_item>, METH_NOARGS, nullptr},
    {"tolist", simple<n_tolist, get_tolist>, METH_NOARGS, nullptr},
    {"__complex__", simple<n_complex, complex_method>, METH_NOARGS, nullptr},
    {"retain_grad", simple<n_retain_grad, do_retain_grad>, METH_NOARGS, nullptr},
    {"detach_", simple<n_detach_, do_detach_inplace>, METH_NOARGS, nullptr},
    {"set_", fast(tensor_set), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"untyped_storage", simple<n_untyped_storage, get_untyped_storage>, METH_NOARGS, nullptr},
    {"_make_subclass", fast(make_subclass), METH_FASTCALL | METH_KEYWORDS | METH_STATIC, nullptr},
    {"_make_wrapper_subclass", fast(make_wrapper_subclass),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC, nullptr},
    {"as_subclass", fast(as_subclass), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"_convert", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(convert_result)),
     METH_FASTCALL | METH_STATIC, nullptr},
    {"_bump_version", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(share_version_of)),
     METH_FASTCALL | METH_STATIC, nullptr},
    {}};

}  // namespace rl::py
