#include "autograd/recording.h"

#include "autograd/engine_ops.h"
#include "kernels/iter/tensor_iter.h"
#include "ops/native.h"
#include "ops/products.h"

namespace rl {

Tensor grad_or_zeros(const Node& n, const Grads& g, size_t i) {
  if (i < g.size() && g[i].defined()) return g[i];
  const OutputInfo& o = n.outputs[i];
  return native::full(o.sizes, Scalar(0), o.dtype, o.device);
}

// Differentiable: higher derivatives go through the old value, too.
Tensor native_clone(const Tensor& t) { return engine_ops::clone(t); }

void check_inplace_result(const Tensor& self, const Tensor& value, const char* name) {
  check(value.sizes() == self.sizes(), name, ": output with shape ", self.sizes(),
        " doesn't match the broadcast shape ", value.sizes());
  check_output_dtype(value.dtype(), self.dtype());
  check_no_internal_overlap(self);
}

void write_inplace(const Tensor& self, const Tensor& value, const char* name) {
  if (any_sparse(self, value)) return sparse::assign(self, value, name);
  check_inplace_result(self, value, name);
  if (!self.is_meta()) native::copy_into(self, value);
}

void adopt_geometry(const Tensor& self, const Tensor& view) {
  if (any_sparse(view)) return sparse::assign(self, view, "a geometry change in place");
  self->sizes = view.sizes();
  self->strides = view.strides();
  self->offset = view.offset();
  self->refresh();
}

void write_out(const Tensor& out, const Tensor& value, const char* name, bool cast) {
  check(out.defined(), name, "(): out= must be a Tensor");
  if (any_sparse(out, value)) return sparse::assign(out, value, name);
  check_out_device(out, value);
  if (cast) check_output_dtype(value.dtype(), out.dtype());
  else
    check(out.dtype() == value.dtype(), "Expected out tensor to have dtype ",
          typeid_name(value.dtype()), ", but got ", typeid_name(out.dtype()), " instead");
  check_no_internal_overlap(out);
  resize_output(out, value.sizes());
  if (!out.is_meta()) native::copy_into(out, value);
}

void refuse_sparse(const OpInfo& op, TensorList args) {
  const char* backend = "SparseCPU";
  for (const Tensor& t : args)
    if (t.defined() && t.is_sparse_csr()) backend = "SparseCsrCPU";
  fail_as(ErrorKind::NotImplemented, "Could not run 'aten::", op.name, *op.overload ? "." : "",
          op.overload, "' with arguments from the '", backend,
          "' backend: this operator has no sparse form. Convert the argument with to_dense().");
}

[[gnu::cold]] void refuse_devices(const char* name, const Tensor& first, const Tensor& other) {
  fail("Expected all tensors to be on the same device, but found at least two devices, ",
       first.device(), " and ", other.device(), "! (when checking the arguments of ", name, ")");
}

[[gnu::cold]] void refuse_out_device(Device out, Device result) {
  fail("Attempting to copy from device ", result, " to device ", out,
       ", but cross-device copies are not allowed!");
}

void check_out(const char* name, bool any_requires_grad) {
  check(!any_requires_grad, name, "(): functions with out=... arguments don't support automatic "
        "differentiation, but one of the arguments requires grad.");
}

void refuse_gradient(const Tensor& t, const char* op, const char* argument) {
  const AutogradMeta* m = meta_or_null(t);
  // In forward mode such an argument counts as constant, as in PyTorch.
  if (m && m->grad_fn && m->grad_fn->name() == "DualInputBackward") return;
  fail("The function '", op, "' is not differentiable with respect to argument '", argument,
       "'. This input cannot have requires_grad True.");
}

void refuse_complex_gradient(const char* op) {
  fail_as(ErrorKind::NotImplemented, op,
          " does not support automatic differentiation for outputs with complex dtype.");
}

}  // namespace rl
