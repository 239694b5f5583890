// x[index] and x[index] = value. Ints, slices, None and Ellipsis make views one after the other;
// tensors, lists and bools are gathered into one call of index / index_put_.
#include "gen/ops/views.h"
#include "python/accepts.h"
#include "python/errors.h"
#include "python/numpy_bridge.h"
#include "python/ops.h"
#include "python/overrides.h"
#include "python/sequence.h"
#include "python/types.h"

namespace rl::py {
namespace {

constexpr const char* kInvalidScalar =
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
    "to convert a 0-dim tensor to a number";

int64_t index_value(PyObject* o) {
  if (PyLong_CheckExact(o)) {
    int over = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &over);
    check_value(!over, "Overflow when unpacking long long");
    return v;
  }
  return to_int(o);
}

Tensor select_checked(const Tensor& t, int64_t dim, int64_t i, int64_t real_dim) {
  check_index(t.dim() != 0, kInvalidScalar);
  int64_t n = t.sizes()[size_t(dim)];
  check_index(i >= -n && i < n, "index ", i, " is out of bounds for dimension ", real_dim,
              " with size ", n);
  return select(t, dim, i);
}

// `whole_is_same`: a slice that takes everything gives the tensor itself, no view.
Tensor slice_checked(const Tensor& t, int64_t dim, PyObject* o, bool whole_is_same) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw_python_error();
  check_value(step > 0, "step must be greater than zero");
  if (whole_is_same && start == 0 && step == 1 && stop >= t.sizes()[size_t(dim)]) return t;
  return slice(t, dim, int64_t(start), int64_t(stop), int64_t(step));
}

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// An array or list as index tensor; ints become int64, bools a mask.
Tensor tensor_of_index(PyObject* o) {
  if (is_numpy_array(o)) return ops::to(tensor_from_numpy(o, false), {}, {}, true, {});
  Tensor t = tensor_from_data(o, std::nullopt);
  // an empty list selects nothing, whatever the default dtype says
  return t.numel() == 0 && t.is_floating() ? empty_tensor(t.sizes(), DType::Int64) : t;
}

bool is_zero_dim_array(PyObject* o) {
  if (!is_numpy_array(o)) return false;
  Ref ndim = owned(PyObject_GetAttrString(o, "ndim"));
  return PyLong_AsLong(ndim.get()) == 0;
}

// Should x[[...]] be read as x[(...)]? PyTorch's rule for short lists that hold more than numbers.
bool sequence_as_tuple(PyObject* o) {
  if (is_tensor(o) || is_numpy_array(o) || PyUnicode_Check(o) || !PySequence_Check(o)) return false;
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) {
    PyErr_Clear();
    return false;
  }
  if (n >= 32) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    Ref x(PySequence_GetItem(o, i));
    if (!x) {
      PyErr_Clear();
      return false;
    }
    if (is_tensor(x.get()) || PySequence_Check(x.get()) || PySlice_Check(x.get()) ||
        x.get() == Py_Ellipsis || x.get() == Py_None)
      return true;
  }
  return false;
}

Ref as_tuple(PyObject* index) {
  if (PyTuple_Check(index)) return Ref::borrow(index);
  if (sequence_as_tuple(index)) {
    check_python(PyErr_WarnEx(PyExc_UserWarning,
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result", 1) == 0);
    return owned(PySequence_Tuple(index));
  }
  return owned(PyTuple_Pack(1, index));
}

// How many dimensions of the tensor an index object takes.
int64_t dims_taken(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    return is_mask(t) ? t.dim() : 1;
  }
  if (is_numpy_array(o)) {
    if (numpy_array_dtype(o) != DType::Bool) return 1;
    Ref ndim = owned(PyObject_GetAttrString(o, "ndim"));
    return PyLong_AsLong(ndim.get());
  }
  return 1;
}

class Indexer {
 public:
  Indexer(const Tensor& self, PyObject* tuple) : result(self), tuple_(tuple), self_(self) {}

  void run() {
    Py_ssize_t n = PyTuple_GET_SIZE(tuple_);
    int64_t taken = 0;
    for (Py_ssize_t i = 0; i < n; ++i) taken += dims_taken(PyTuple_GET_ITEM(tuple_, i));
    check_index(taken <= self_.dim(), "too many indices for tensor of dimension ", self_.dim());
    rest_ = self_.dim() - taken;
    for (Py_ssize_t i = 0; i < n; ++i) apply(PyTuple_GET_ITEM(tuple_, i));
  }

  Tensor result;                 // after the views
  std::vector<Tensor> indices;   // undefined: a whole dimension

 private:
  void apply(PyObject* o) {
    if (PyLong_CheckExact(o)) return apply_int(index_value(o));
    if (PySlice_Check(o)) {
      result = slice_checked(result, dim_, o, true);
      ++dim_;
      ++real_dim_;
    } else if (o == Py_Ellipsis) {
      dim_ += rest_;
      real_dim_ += rest_;
      rest_ = 0;
    } else if (o == Py_None) {
      result = unsqueeze(result, dim_++);
    } else if (PyBool_Check(o)) {
      apply_bool(o == Py_True);
    } else if (is_tensor(o)) {
      apply_tensor(tensor_of(o));
    } else if (is_zero_dim_array(o)) {
      Tensor t = tensor_of_index(o);
      apply_tensor(t);
    } else if (is_numpy_bool(o)) {
      apply_bool(to_bool(o));
    } else if (PyIndex_Check(o) && !is_numpy_array(o)) {
      apply_int(index_value(o));
    } else if (PySequence_Check(o)) {
      record(tensor_of_index(o));
    } else {
      fail_as(ErrorKind::Index, "only integers, slices (`:`), ellipsis (`...`), None and long or "
              "byte Variables are valid indices (got ", Py_TYPE(o)->tp_name, ")");
    }
  }

  void apply_int(int64_t i) { result = select_checked(result, dim_, i, real_dim_++); }

  void apply_bool(bool v) {
    result = unsqueeze(result, dim_);
    Tensor t = empty_tensor(Dims{v ? 1 : 0}, DType::Int64);
    if (v) *t.data<int64_t>() = 0;
    record(t);
    --real_dim_;
  }

  void apply_tensor(const Tensor& t) {
    check_index(is_integral(t.dtype(), true) && !(t.dtype() >= DType::UInt16 &&
                                                 t.dtype() <= DType::UInt64),
                "tensors used as indices must be long, int, byte or bool tensors");
    if (t.dim() == 0 && !t.is_meta() && t->kind != ImplKind::Batched) {
      if (is_mask(t)) return apply_bool(item(t).to_bool());
      return apply_int(item(t).to_int());
    }
    record(t);
  }

  void record(Tensor t) {
    while (covered_ < dim_) {
      indices.emplace_back();
      ++covered_;
    }
    int64_t n = is_mask(t) && t.dim() > 0 ? t.dim() : 1;
    indices.push_back(std::move(t));
    dim_ += n;
    real_dim_ += n;
    covered_ += n;
  }

  PyObject* tuple_;
  const Tensor& self_;
  int64_t dim_ = 0, real_dim_ = 0, rest_ = 0, covered_ = 0;
};

bool index_overrides(PyObject* self, PyObject* index, PyObject* value) {
  if (function_state.modes_on) return true;
  auto check_one = [](PyObject* o) { return o && overrides_from_outside(o); };
  if (check_one(self) || check_one(index) || check_one(value)) return true;
  if (PyTuple_CheckExact(index))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i)
      if (check_one(PyTuple_GET_ITEM(index, i))) return true;
  return false;
}

PyObject* dispatch(PyObject* self, PyObject* index, PyObject* value) {
  const char* name = value ? "__setitem__" : "__getitem__";
  Ref f = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  Ref args = owned(value ? PyTuple_Pack(3, self, index, value) : PyTuple_Pack(2, self, index));
  Overriding who;
  auto add = [&](PyObject* o) {
    if (overrides_from_outside(o)) who.add(o);
  };
  add(self);
  if (PyTuple_Check(index))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) add(PyTuple_GET_ITEM(index, i));
  else add(index);
  if (value) add(value);
  return call_torch_function(who, f.get(), args.get(), nullptr, name);
}

// ---- assignment
Tensor value_tensor(const Tensor& self, PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  if (PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o) || is_numpy_scalar(o)) {
    Scalar s = to_scalar(o);
    check(!s.is_complex() || self.is_complex() || s.to_complex().imag() == 0,
          "value cannot be converted to type ", ops::c_type_name(self.dtype()),
          " without overflow");
    return ops::on_device(scalar_tensor(s, self.dtype()), self.device());
  }
  fail_as(ErrorKind::Type, "can't assign a ", Py_TYPE(o)->tp_name, " to a torch.",
          scalar_type_name(self.dtype()), "Tensor");
}

// Leading dimensions of size one that the destination does not have.
Tensor strip_ones(const Tensor& value, int64_t ndim) {
  int64_t extra = 0;
  while (value.dim() - extra > ndim && value.sizes()[size_t(extra)] == 1) ++extra;
  if (extra == 0) return value;
  return view(value, value.sizes().slice(size_t(extra)));
}

void copy_to(const Tensor& to, const Tensor& value) {
  if (value.dim() == 0 && value.device().is_cpu() && !value.requires_grad())
    return ops::fill(to, value);
  Tensor v = to.sizes() == value.sizes() ? value : strip_ones(value, to.dim());
  if (!(to.sizes() == v.sizes())) v = expand(v, to.sizes());
  ops::copy_into(to, v);
}

void assign(const Tensor& self, PyObject* index, PyObject* o) {
  if (index == Py_False) return;
  check_type(self->kind == ImplKind::Strided, "Cannot assign to a sparse tensor");
  Tensor value = value_tensor(self, o);
  if (index == Py_Ellipsis || index == Py_True) return copy_to(self, value);
  if (PyLong_CheckExact(index))
    return copy_to(select_checked(self, 0, index_value(index), 0), value);
  Ref tuple = as_tuple(index);
  Indexer ix(self, tuple.get());
  ix.run();
  if (ix.indices.empty()) return copy_to(ix.result, value);
  ops::index_put(ix.result, ix.indices, strip_ones(value, ix.result.dim()));
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (index_overrides(self, index, nullptr)) [[unlikely]] return dispatch(self, index, nullptr);
    const Tensor& t = tensor_of(self);
    if (PyLong_CheckExact(index)) return wrap(select_checked(t, 0, index_value(index), 0));
    if (PySlice_Check(index)) {
      check_index(t.dim() != 0, "slice() cannot be applied to a 0-dim tensor.");
      return wrap(slice_checked(t, 0, index, false));
    }
    if (index == Py_None) return wrap(unsqueeze(t, 0));
    if (index == Py_Ellipsis) return wrap(ops::alias_view(t));
    Ref tuple = as_tuple(index);
    Indexer ix(t, tuple.get());
    ix.run();
    if (!ix.indices.empty()) return wrap(ops::index(ix.result, ix.indices));
    return wrap(ix.result.is_same(t) ? ops::alias_view(t) : ix.result);
  });
}

int tensor_setitem(PyObject* self, PyObject* index, PyObject* value) {
  try {
    check_type(value, "Tensor does not support deleting items");
    if (index_overrides(self, index, value)) [[unlikely]] {
      Ref r(dispatch(self, index, value));
      return r ? 0 : -1;
    }
    assign(tensor_of(self), index, value);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

}  // namespace rl::py
