// DLPack capsules to and from tensors: zero copy, versioned and unversioned.
#include "python/dlpack_bridge.h"

#include "python/dlpack.h"
#include "python/errors.h"
#include "python/types.h"

namespace rl::py {
namespace {

struct TypePair {
  DType d;
  uint8_t code, bits;
};
constexpr TypePair kTypes[] = {
    {DType::UInt8, dlpack::kUInt, 8}, {DType::Int8, dlpack::kInt, 8},
    {DType::Int16, dlpack::kInt, 16}, {DType::Int32, dlpack::kInt, 32},
    {DType::Int64, dlpack::kInt, 64}, {DType::UInt16, dlpack::kUInt, 16},
    {DType::UInt32, dlpack::kUInt, 32}, {DType::UInt64, dlpack::kUInt, 64},
    {DType::Half, dlpack::kFloat, 16}, {DType::Float, dlpack::kFloat, 32},
    {DType::Double, dlpack::kFloat, 64}, {DType::BFloat16, dlpack::kBfloat, 16},
    {DType::Bool, dlpack::kBool, 8}, {DType::ComplexHalf, dlpack::kComplex, 32},
    {DType::ComplexFloat, dlpack::kComplex, 64}, {DType::ComplexDouble, dlpack::kComplex, 128},
    {DType::Float8_e4m3fn, dlpack::kFloat8E4M3FN, 8}, {DType::Float8_e5m2, dlpack::kFloat8E5M2, 8},
    {DType::Float8_e4m3fnuz, dlpack::kFloat8E4M3FNUZ, 8},
    {DType::Float8_e5m2fnuz, dlpack::kFloat8E5M2FNUZ, 8}};

dlpack::DataType type_out(DType d) {
  for (auto& t : kTypes)
    if (t.d == d) return {t.code, t.bits, 1};
  fail_as(ErrorKind::Runtime, dtype_name(d), " types are not supported by dlpack");
}

DType type_in(dlpack::DataType t) {
  check(t.lanes == 1, "ATen does not support lanes != 1");
  for (auto& k : kTypes)
    if (k.code == t.code && k.bits == t.bits) return k.d;
  fail("Unsupported dlpack data type: code ", int(t.code), ", ", int(t.bits), " bits");
}

// What a capsule keeps: the tensor and its geometry.
template <class M>
struct Kept {
  M managed{};
  Tensor tensor;
  Dims shape, strides;
};

template <class M>
void drop(M* m) {
  delete static_cast<Kept<M>*>(m->context);
}

template <class M>
M* make_managed(const Tensor& t) {
  auto* k = new Kept<M>;
  k->tensor = t;
  k->shape = Dims(t.sizes());
  k->strides = Dims(t.strides());
  // Strides of dimensions without a choice are normalised, as consumers compare them.
  for (size_t i = 0; i < k->shape.size(); ++i)
    if (k->shape[i] < 2) k->strides[i] = 1;
  k->managed.context = k;
  k->managed.deleter = drop<M>;
  auto& d = k->managed.tensor;
  d.data = t.numel() ? t.data() : nullptr;
  d.device = {dlpack::kCPU, 0};
  d.ndim = int32_t(t.dim());
  d.dtype = type_out(t.dtype());
  d.shape = k->shape.data();
  d.strides = k->strides.data();
  return &k->managed;
}

template <class M>
void capsule_destroyed(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  if (!name || std::string_view(name).starts_with("used_")) return;
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (m && m->deleter) m->deleter(m);
}

PyObject* py_to_dlpack(PyObject*, PyObject* args) {  // _to_dlpack(x, versioned, copied)
  PyObject* o;
  int versioned = 0, copied = 0;
  if (!PyArg_ParseTuple(args, "O|pp", &o, &versioned, &copied)) return nullptr;
  return guarded([&]() -> PyObject* {
    const Tensor& t = to_tensor(o);
    check(t.device().is_cpu() && t.storage(), "only CPU tensors have a DLPack form here");
    if (!versioned)
      return PyCapsule_New(make_managed<dlpack::Managed>(t), "dltensor",
                           capsule_destroyed<dlpack::Managed>);
    auto* m = make_managed<dlpack::ManagedVersioned>(t);
    m->version = {1, 0};
    m->flags = copied ? dlpack::kCopied : 0;
    return PyCapsule_New(m, "dltensor_versioned", capsule_destroyed<dlpack::ManagedVersioned>);
  });
}

template <class M>
void release_managed(void* ctx, void*, size_t) {
  auto* m = static_cast<M*>(ctx);
  if (!m->deleter || !Py_IsInitialized()) return;
  GilAcquire gil;
  m->deleter(m);
}

template <class M>
Tensor from_managed(M* m) {
  const dlpack::Tensor& d = m->tensor;
  check(d.device.type == dlpack::kCPU, "Unsupported device_type: ", d.device.type);
  DType dtype = type_in(d.dtype);
  Dims sizes(d.shape, d.shape + d.ndim);
  Dims strides = d.strides ? Dims(d.strides, d.strides + d.ndim) : contiguous_strides(sizes);
  size_t bytes = size_t(storage_bytes_needed(sizes, strides, 0, itemsize(dtype)));
  auto storage = make_intrusive<Storage>(static_cast<char*>(d.data) + d.byte_offset, bytes,
                                         release_managed<M>, m);
  Tensor t(new TensorImpl(storage, dtype, Device{}));
  t->sizes = sizes;
  t->strides = strides;
  t->refresh();
  return t;
}

Tensor from_capsule(PyObject* c) {
  if (PyCapsule_IsValid(c, "dltensor_versioned")) {
    auto* m = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(c, "dltensor_versioned"));
    check(m->version.major <= 1, "Unsupported DLPack version ", m->version.major);
    Tensor t = from_managed(m);
    PyCapsule_SetName(c, "used_dltensor_versioned");
    return t;
  }
  auto* m = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(c, "dltensor"));
  if (!m) {
    PyErr_Clear();
    fail("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
         "only once, so you might have already constructed a tensor from it once.");
  }
  Tensor t = from_managed(m);
  PyCapsule_SetName(c, "used_dltensor");
  return t;
}

PyObject* py_from_dlpack(PyObject*, PyObject* o) {
  return guarded([&] { return wrap(tensor_from_dlpack(o)); });
}

PyMethodDef functions[] = {{"_to_dlpack", py_to_dlpack, METH_VARARGS, nullptr},
                           {"_from_dlpack", py_from_dlpack, METH_O, nullptr},
                           {}};

}  // namespace

Tensor tensor_from_dlpack(PyObject* o) {
  if (PyCapsule_CheckExact(o)) return from_capsule(o);
  Ref method(PyObject_GetAttrString(o, "__dlpack__"));
  if (!method) throw_python_error();
  // Newer producers hand out versioned capsules when asked; older ones refuse the argument.
  Ref kwargs = owned(Py_BuildValue("{s(ii)}", "max_version", 1, 0));
  Ref none_args = owned(PyTuple_New(0));
  Ref capsule(PyObject_Call(method.get(), none_args.get(), kwargs.get()));
  if (!capsule) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw_python_error();
    PyErr_Clear();
    capsule = owned(PyObject_Call(method.get(), none_args.get(), nullptr));
  }
  return from_capsule(capsule.get());
}

bool add_dlpack_bridge(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace rl::py
