// Tensor.set_: another storage, offset and geometry for a tensor.
#include "autograd/node.h"
#include "python/accepts.h"
#include "python/errors.h"
#include "python/tensor_memory.h"
#include "python/types.h"

namespace rl::py {
namespace {

#define RL_SELF {"self", Kind::Tensor, false, false, 0, nullptr}
const Param kNothing[] = {RL_SELF};
const Param kStorage[] = {RL_SELF, {"source", Kind::Ignored, false, false, 0, nullptr}};
const Param kGeometry[] = {RL_SELF,
                           {"source", Kind::Ignored, false, false, 0, nullptr},
                           {"storage_offset", Kind::Int, false, false, 0, nullptr},
                           {"size", Kind::IntList, false, false, 0, nullptr},
                           {"stride", Kind::IntList, false, true, 0, nullptr}};
const Param kTensor[] = {RL_SELF, {"source", Kind::Tensor, false, false, 0, nullptr}};
const Signature kSignatures[] = {
    {"()", kNothing, 1, 1, false, 0},
    {"(Tensor source)", kTensor, 2, 2, false, 0},
    {"(torch.Storage source)", kStorage, 2, 2, false, 0},
    {"(torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride=())",
     kGeometry, 5, 5, false, 0}};
const Overloads kSet = {"set_", "torch.Tensor.set_", kSignatures, 4, true};

// A storage object, typed or not, or the storage of a tensor.
StoragePtr storage_argument(PyObject* o) {
  if (is_storage(o)) return StoragePtr(storage_of(o));
  if (is_tensor(o)) return tensor_of(o)->storage;
  Ref untyped(PyObject_GetAttrString(o, "_untyped_storage"));
  if (!untyped || !is_storage(untyped.get())) {
    PyErr_Clear();
    fail_as(ErrorKind::Type, "set_(): argument 'source' (position 1) must be Storage, not ",
            Py_TYPE(o)->tp_name);
  }
  return StoragePtr(storage_of(untyped.get()));
}

void check_span(const StoragePtr& s, IntRef sizes, IntRef strides, int64_t offset, int64_t item) {
  check(offset >= 0, "Tensor: invalid storage offset ", offset);
  for (int64_t n : sizes) check(n >= 0, "Trying to create tensor with negative dimension ", n, ": ",
                                sizes);
  for (int64_t n : strides)
    check(n >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ",
          strides);
  int64_t needed = storage_bytes_needed(sizes, strides, offset, item);
  if (numel_of(sizes) == 0 || needed <= int64_t(s->nbytes())) return;
  check(s->resizable(), "Trying to resize storage that is not resizable");
  s->resize(size_t(needed));
}

void set_storage(const Tensor& t, const StoragePtr& s, int64_t offset, IntRef sizes,
                 IntRef strides) {
  check(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  check(s && s->device().type == t.device().type, "Attempted to set the storage of a tensor on "
        "device \"", t.device(), "\" to a storage on different device \"",
        s ? s->device() : Device{}, "\".  This is no longer allowed; the devices must match.");
  check_span(s, sizes, strides, offset, t.itemsize());
  check_inplace(t, false);
  TensorImpl* i = t.impl();
  i->storage = s;
  i->offset = offset;
  i->sizes = Dims(sizes);
  i->strides = Dims(strides);
  i->refresh();
  bump_version(t);
}

PyObject* run(int which, PyObject* const* v) {
  const Tensor& t = to_tensor(v[0]);
  if (which == 0) {
    Dims empty{0}, one{1};
    set_storage(t, make_intrusive<Storage>(size_t(0), t.device()), 0, empty, one);
  } else if (which == 1) {
    const Tensor& o = to_tensor(v[1]);
    check(o.dtype() == t.dtype(), "Could not set tensor of type ", o.dtype(),
          " to a tensor of type ", t.dtype());
    set_storage(t, o->storage, o.offset(), Dims(o.sizes()), Dims(o.strides()));
  } else if (which == 2) {
    StoragePtr s = storage_argument(v[1]);
    Dims size{int64_t(s->nbytes()) / t.itemsize()}, one{1};
    set_storage(t, s, 0, size, one);
  } else {
    Dims size = to_int_list(v[3]);
    Dims stride = v[4] ? to_int_list(v[4]) : Dims();
    if (stride.size() != size.size() && stride.empty()) stride = contiguous_strides(size);
    set_storage(t, storage_argument(v[1]), to_int(v[2]), size, stride);
  }
  return new_ref(v[0]);
}

}  // namespace

PyObject* tensor_set(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* v[5] = {};
    int which = bind(kSet, self, args, nargs, kwnames, v);
    return which == kHandled ? take_bound_result() : run(which, v);
  });
}

}  // namespace rl::py
