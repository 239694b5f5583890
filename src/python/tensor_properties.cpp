// Attributes of torch.Tensor.
#include "autograd/node.h"
#include "python/accepts.h"
#include "python/errors.h"
#include "python/opaque.h"
#include "python/overrides.h"
#include "python/ops.h"
#include "python/types.h"

namespace rl::py {
namespace {

// A getter: subclasses and modes first, then `F(const Tensor&)` -> new reference.
template <const char* Name, PyObject* (*F)(const Tensor&)>
PyObject* getter(PyObject* self, void*) {
  PyObject* r = nullptr;
  if (!is_exact_tensor(self) || function_state.modes_on) [[unlikely]]
    if (property_overridden(self, Name, &r)) return r;
  return guarded([&] { return F(tensor_of(self)); });
}

template <const char* Name, void (*F)(const Tensor&, PyObject*)>
int setter(PyObject* self, PyObject* value, void*) {
  int r = 0;
  if (!is_exact_tensor(self) || function_state.modes_on) [[unlikely]]
    if (property_set_overridden(self, Name, value, &r)) return r;
  try {
    F(tensor_of(self), value);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

PyObject* boolean(bool v) { return PyBool_FromLong(v); }

PyObject* get_shape(const Tensor& t) { return wrap_sizes(t.sizes()); }
PyObject* get_dtype(const Tensor& t) { return wrap(t.dtype()); }
PyObject* get_device(const Tensor& t) { return wrap(t.device()); }
PyObject* get_layout(const Tensor& t) { return wrap(t.layout()); }
PyObject* get_ndim(const Tensor& t) { return PyLong_FromLongLong(t.dim()); }
PyObject* get_itemsize(const Tensor& t) { return PyLong_FromLongLong(t.itemsize()); }
PyObject* get_nbytes(const Tensor& t) {
  check(t->kind == ImplKind::Strided, "nbytes is not defined for sparse tensors.  If you want the "
        "size of the constituent tensors, add the nbytes of the indices and values.");
  return PyLong_FromLongLong(t.nbytes());
}
PyObject* get_requires_grad(const Tensor& t) { return boolean(t.requires_grad()); }
PyObject* get_is_leaf(const Tensor& t) { return boolean(is_leaf(t)); }
PyObject* get_version(const Tensor& t) {
  check(!t->inference, "Inference tensors do not track version counter.");
  return PyLong_FromUnsignedLong(t.version());
}
PyObject* get_output_nr(const Tensor& t) {
  auto* m = meta_or_null(t);
  return PyLong_FromUnsignedLong(m ? m->output_nr : 0);
}
PyObject* get_retains_grad(const Tensor& t) {
  auto* m = meta_or_null(t);
  return boolean(m && m->retains_grad);
}
PyObject* get_name(const Tensor& t) {
  auto* m = meta_or_null(t);
  return m && !m->name.empty() ? PyUnicode_FromString(m->name.c_str()) : none();
}
PyObject* get_grad(const Tensor& t) {
  auto* m = meta_or_null(t);
  return m ? wrap(m->grad) : none();
}
PyObject* get_grad_warned(const Tensor& t) {
  auto* m = meta_or_null(t);
  if (m && !m->grad.defined() && !m->retains_grad && !is_leaf(t)) {
    check_python(
        PyErr_WarnEx(
            PyExc_UserWarning,
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
            ".grad "
            "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
            "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
            "Tensor. If "
            "you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
            "instead. See "
            "github.com/pytorch/pytorch/pull/30531 for more information.",
            1) == 0);
  }
  return get_grad(t);
}
PyObject* get_grad_dtype(const Tensor& t) {
  check(is_leaf(t), "grad_dtype can only be accessed on leaf tensors.");
  auto* m = meta_or_null(t);
  if (m && m->any_grad_dtype) return none();
  return wrap(m && m->grad_dtype != DType::Undefined ? m->grad_dtype : t.dtype());
}
PyObject* get_grad_fn(const Tensor& t) { return wrap_grad_fn ? wrap_grad_fn(t) : none(); }
PyObject* get_data(const Tensor& t) {
  if (t->dispatches) return wrap(ops::call_tensor("detach", "", {t}));
  return wrap(shallow_copy(t));
}
PyObject* get_base(const Tensor& t) {
  auto* m = meta_or_null(t);
  return m && m->view ? wrap(m->view->base) : none();
}
PyObject* get_is_cpu(const Tensor& t) { return boolean(t.device().is_cpu()); }
PyObject* get_is_cuda(const Tensor& t) { return boolean(t.device().is_cuda()); }
PyObject* get_is_meta(const Tensor& t) { return boolean(t.is_meta()); }
PyObject* get_is_sparse(const Tensor& t) { return boolean(t.is_sparse()); }
PyObject* get_is_sparse_csr(const Tensor& t) { return boolean(t.layout() == Layout::SparseCsr); }
PyObject* get_false(const Tensor&) { return boolean(false); }
PyObject* get_is_mps(const Tensor& t) { return boolean(t.device().type == DeviceType::MPS); }
PyObject* get_is_xpu(const Tensor& t) { return boolean(t.device().type == DeviceType::XPU); }
PyObject* get_hooks(const Tensor& t) {
  auto* m = meta_or_null(t);
  return m ? object_in(m->python_backward_hooks) : none();
}
PyObject* get_accumulate_hooks(const Tensor& t) {
  auto* m = meta_or_null(t);
  return m ? object_in(m->python_accumulate_hooks) : none();
}
PyObject* get_cdata(const Tensor& t) { return PyLong_FromVoidPtr(t.impl()); }

PyObject* get_T(const Tensor& t) { return wrap(ops::numpy_T(t)); }
PyObject* get_mT(const Tensor& t) { return wrap(ops::matrix_transpose(t, "mT", false)); }
PyObject* get_mH(const Tensor& t) { return wrap(ops::matrix_transpose(t, "mH", true)); }
PyObject* get_H(const Tensor& t) { return wrap(ops::matrix_H(t)); }
PyObject* get_real(const Tensor& t) { return wrap(ops::real(t)); }
PyObject* get_imag(const Tensor& t) { return wrap(ops::imag(t)); }

void set_grad_property(const Tensor& t, PyObject* v) {
  check(v, "can't delete Tensor.grad; set it to None instead");
  check_type(v == Py_None || is_tensor(v), "assigned grad expected to be a Tensor or None but got "
             "grad of type ", Py_TYPE(v)->tp_name);
  check(v == Py_None || !tensor_of(v).is_same(t), "can't assign Variable as its own grad");
  set_grad(t, to_tensor_opt(v));
}
void set_grad_dtype(const Tensor& t, PyObject* v) {
  check(is_leaf(t), "grad_dtype can only be set on leaf tensors.");
  check_type(v && (v == Py_None || is_dtype(v)), "grad_dtype must be a torch.dtype or None");
  AutogradMeta& m = meta(t);
  DType d = v == Py_None ? DType::Undefined : dtype_of_object(v);
  check(!m.grad.defined() || v == Py_None || m.grad.dtype() == d, "Cannot set grad_dtype to '",
        d, "' because there is already a gradient with dtype '",
        m.grad.defined() ? m.grad.dtype() : d, "'.");
  m.any_grad_dtype = v == Py_None;
  m.grad_dtype = d;
}
void set_requires_grad_property(const Tensor& t, PyObject* v) {
  check(v && PyBool_Check(v), "requires_grad must be a bool");
  bool on = v == Py_True;
  check(is_leaf(t) || on, "you can only change requires_grad flags of leaf variables. If you want "
        "to use a computed variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach().");
  check(!on || is_differentiable(t.dtype()),
        "only Tensors of floating point dtype can require gradients");
  set_requires_grad(t, on);
}
void set_data_property(const Tensor& t, PyObject* v) {
  check(v, "Deleting tensor data is not allowed. Delete tensor instead!");
  check_type(is_tensor(v), "Variable data has to be a tensor, but got ", Py_TYPE(v)->tp_name);
  ops::set_data(t, tensor_of(v));
}
void set_hooks(const Tensor& t, PyObject* v) {
  meta(t).python_backward_hooks = v && v != Py_None ? hold_object(v) : nullptr;
}
void set_accumulate_hooks(const Tensor& t, PyObject* v) {
  meta(t).python_accumulate_hooks = v && v != Py_None ? hold_object(v) : nullptr;
}
void set_real(const Tensor& t, PyObject* v) { ops::copy_into(ops::real(t), to_operand(v)); }
void set_imag(const Tensor& t, PyObject* v) { ops::copy_into(ops::imag(t), to_operand(v)); }

}  // namespace

// The template arguments of getters need names with linkage.
#define RL_NAME(n) constexpr char name_##n[] = #n
#define RL_GET(n, f) {#n, getter<name_##n, f>, nullptr, nullptr, nullptr}
#define RL_GETSET(n, f, s) {#n, getter<name_##n, f>, setter<name_##n, s>, nullptr, nullptr}

namespace {
RL_NAME(shape); RL_NAME(dtype); RL_NAME(device); RL_NAME(layout); RL_NAME(ndim);
RL_NAME(itemsize); RL_NAME(nbytes); RL_NAME(requires_grad); RL_NAME(is_leaf);
RL_NAME(_version); RL_NAME(output_nr); RL_NAME(retains_grad); RL_NAME(name); RL_NAME(grad);
RL_NAME(_grad); RL_NAME(grad_fn); RL_NAME(grad_dtype); RL_NAME(_grad_fn); RL_NAME(data);
RL_NAME(_base);
RL_NAME(is_cpu); RL_NAME(is_cuda); RL_NAME(is_meta); RL_NAME(is_sparse);
RL_NAME(is_sparse_csr); RL_NAME(is_mkldnn); RL_NAME(is_mps); RL_NAME(is_xpu); RL_NAME(is_xla);
RL_NAME(is_ipu); RL_NAME(is_hpu); RL_NAME(is_maia); RL_NAME(is_mtia); RL_NAME(is_vulkan);
RL_NAME(is_quantized); RL_NAME(is_nested); RL_NAME(_backward_hooks);
RL_NAME(_post_accumulate_grad_hooks); RL_NAME(_cdata); RL_NAME(T); RL_NAME(mT); RL_NAME(H);
RL_NAME(mH); RL_NAME(real); RL_NAME(imag); RL_NAME(_has_symbolic_sizes_strides);
}  // namespace

PyGetSetDef tensor_properties[] = {
    RL_GET(shape, get_shape), RL_GET(dtype, get_dtype), RL_GET(device, get_device),
    RL_GET(layout, get_layout), RL_GET(ndim, get_ndim), RL_GET(itemsize, get_itemsize),
    RL_GET(nbytes, get_nbytes),
    RL_GETSET(requires_grad, get_requires_grad, set_requires_grad_property),
    RL_GET(is_leaf, get_is_leaf), RL_GET(_version, get_version), RL_GET(output_nr, get_output_nr),
    RL_GET(retains_grad, get_retains_grad), RL_GET(name, get_name),
    RL_GETSET(grad, get_grad_warned, set_grad_property),
    RL_GETSET(_grad, get_grad, set_grad_property),
    RL_GETSET(grad_dtype, get_grad_dtype, set_grad_dtype), RL_GET(grad_fn, get_grad_fn),
    RL_GET(_grad_fn, get_grad_fn),
    RL_GETSET(data, get_data, set_data_property), RL_GET(_base, get_base),
    RL_GET(is_cpu, get_is_cpu),
    RL_GET(is_cuda, get_is_cuda), RL_GET(is_meta, get_is_meta), RL_GET(is_sparse, get_is_sparse),
    RL_GET(is_sparse_csr, get_is_sparse_csr), RL_GET(is_mkldnn, get_false),
    RL_GET(is_mps, get_is_mps), RL_GET(is_xpu, get_is_xpu), RL_GET(is_xla, get_false),
    RL_GET(is_ipu, get_false), RL_GET(is_hpu, get_false), RL_GET(is_maia, get_false),
    RL_GET(is_mtia, get_false), RL_GET(is_vulkan, get_false), RL_GET(is_quantized, get_false),
    RL_GET(is_nested, get_false), RL_GETSET(_backward_hooks, get_hooks, set_hooks),
    RL_GETSET(_post_accumulate_grad_hooks, get_accumulate_hooks, set_accumulate_hooks),
    RL_GET(_cdata, get_cdata), RL_GET(T, get_T), RL_GET(mT, get_mT), RL_GET(H, get_H),
    RL_GET(mH, get_mH), RL_GETSET(real, get_real, set_real), RL_GETSET(imag, get_imag, set_imag),
    RL_GET(_has_symbolic_sizes_strides, get_false),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {}};

}  // namespace rl::py
