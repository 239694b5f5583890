// The few operators that the glue calls by itself.
#include "python/ops.h"

#include "abi/schema.h"
#include "autograd/node.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/misc.h"
#include "gen/ops/views.h"
#include "python/errors.h"

namespace rl::py::ops {

Stack call(const char* name, const char* overload, Stack arguments) {
  const OpInfo* op = find_op(name, overload);
  check_implemented(op, "torch: operator aten::", name, *overload ? "." : "", overload,
                    " is not implemented");
  abi::call_op(*op, arguments);
  return arguments;
}

Tensor call_tensor(const char* name, const char* overload, Stack arguments) {
  Stack r = call(name, overload, std::move(arguments));
  check(!r.empty() && r[0].is_tensor(), "aten::", name, " returned no tensor");
  return r[0].tensor();
}

Scalar item(const Tensor& t) { return tls.modes ? _local_scalar_dense(t) : rl::item(t); }

Tensor numpy_T(const Tensor& t) {
  static bool said = false;
  if (t.dim() != 2 && t.dim() != 0)
    warn_once(said, "The use of `x.T` on tensors of dimension other than 2 to reverse their shape "
              "is deprecated and it will throw an error in a future release. Consider `x.mT` to "
              "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
              "reverse the dimensions of a tensor.");
  Dims dims;
  for (int64_t d = t.dim(); d-- > 0;) dims.push_back(d);
  return permute(t, dims);
}

Tensor conj(const Tensor& t) { return t.is_complex() ? call_tensor("conj", "", {t}) : t; }

Tensor matrix_transpose(const Tensor& t, const char* name, bool conjugate) {
  check(t.dim() >= 2, "tensor.", name,
        " is only supported on matrices or batches of matrices. Got ", t.dim(), "-D tensor.");
  Tensor r = transpose(t, -2, -1);
  return conjugate ? conj(r) : r;
}

Tensor matrix_H(const Tensor& t) {
  if (t.dim() == 0) return conj(t);
  check(t.dim() == 2, "tensor.H is only supported on matrices (2-D tensors). Got ", t.dim(),
        "-D tensor.", t.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return matrix_transpose(t, "H", true);
}

Tensor real(const Tensor& t) {
  if (!t.is_complex()) return t;
  return select(view_as_real(t), -1, 0);
}

Tensor imag(const Tensor& t) {
  check_type(t.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  return select(view_as_real(t), -1, 1);
}

void copy_into(const Tensor& self, const Tensor& source) {
  copy_(self, source, false);
}

void set_data(const Tensor& t, const Tensor& data) {
  check(t->kind == data->kind && t.device().type == data.device().type,
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
        "incompatible tensor type. ");
  check(!t->requires_grad || is_differentiable(data.dtype()),
        "data set to a tensor that requires gradients must be floating point or complex dtype");
  TensorImpl* i = t.impl();
  i->storage = data->storage;
  i->offset = data->offset;
  i->sizes = data->sizes;
  i->strides = data->strides;
  i->dtype = data->dtype;
  i->device = data->device;
  i->refresh();
}

Tensor to(const Tensor& t, std::optional<DType> dtype, std::optional<Device> device, bool copy,
          std::optional<MemoryFormat> format) {
  bool same = (!dtype || *dtype == t.dtype()) && (!device || device->type == t.device().type);
  if (same && !copy && (!format || *format == MemoryFormat::Preserve || t.is_contiguous(*format)))
    return t;
  if (device && device->is_cuda() && !(tls.modes & kBelowAutograd))
    fail_as(ErrorKind::Assertion, "Torch not compiled with CUDA enabled");
  return _to_copy(t, dtype, device, false, format);
}

Tensor alias_view(const Tensor& t) { return _alias(t); }

void fill(const Tensor& self, const Tensor& value) {
  fill_(self, value);
}

Tensor index(const Tensor& self, const std::vector<Tensor>& indices) {
  return rl::index(self, indices);
}

void index_put(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& values) {
  rl::index_put_(self, indices, values, false);
}

Tensor on_device(const Tensor& t, Device d) {
  return d.type == t.device().type ? t : to(t, std::nullopt, d, false, std::nullopt);
}

const char* c_type_name(DType d) {
  switch (d) {
    case DType::Float: return "float";
    case DType::Double: return "double";
    case DType::Half: return "at::Half";
    case DType::BFloat16: return "at::BFloat16";
    case DType::Int64: return "int64_t";
    case DType::Int32: return "int";
    case DType::Int16: return "int16_t";
    case DType::Int8: return "int8_t";
    case DType::UInt8: return "uint8_t";
    case DType::Bool: return "bool";
    default: return dtype_name(d);
  }
}

}  // namespace rl::py::ops
