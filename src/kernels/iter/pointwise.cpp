// run_pointwise: dtypes, then geometry, then the loop; and a short cut for the plain case.
#include "kernels/iter/pointwise.h"

#include "base/parallel.h"
#include "kernels/iter/promote.h"

namespace rl {
namespace {

DType result_dtype(Result rule, DType common) {
  switch (rule) {
    case Result::Same: return common;
    case Result::Bool: return DType::Bool;
    case Result::Real: return to_real(common);
    case Result::Int32: return DType::Int32;
    default: return DType::Int64;
  }
}

[[noreturn, gnu::cold]] void refuse_dtype(const PointwiseOp& op, DType d) {
  dtype_not_implemented(op.error_name ? op.error_name : op.name, d);
}

InnerLoop loop_for(const PointwiseOp& op, DType common) {
  const bool allowed = unsigned(common) < 32 && (op.dtypes & dtype_bit(common)) != 0;
  InnerLoop loop = allowed ? (*op.loop)(opmath(common)) : nullptr;
  if (!loop) [[unlikely]] refuse_dtype(op, common);
  return loop;
}

bool takes_part(const PointwiseOp& op, int i) {
  return i >= 4 || op.fixed[i].value == DType::Undefined;
}

// All operands are row-major CPU tensors of one shape, and the loop reads and writes their dtype.
bool is_plain(const PointwiseOp& op, const Tensor* const* in, int n) {
  if (op.outputs != 1 || !in[0]->defined()) return false;
  const TensorImpl* a = in[0]->impl();
  if (!a->contiguous || !a->device.is_cpu() || a->kind != ImplKind::Strided || a->wrapped_number)
    return false;
  if (opmath(a->dtype) != a->dtype) return false;
  if (op.promote == Promote::ToFloat && !is_differentiable(a->dtype)) return false;
  for (int i = 0; i < n; ++i) {
    if (!takes_part(op, i)) return false;
    if (i == 0) continue;
    const TensorImpl* b = in[i]->impl();
    if (b->dtype != a->dtype || !b->contiguous || b->wrapped_number || !b->device.is_cpu() ||
        b->kind != ImplKind::Strided || !(b->sizes == a->sizes))
      return false;
  }
  return true;
}

Tensor run_plain(const PointwiseOp& op, const Tensor* const* in, int n, const Scalar* attrs,
                 const Tensor* out) {
  const DType common = in[0]->dtype();
  InnerLoop loop = loop_for(op, common);
  if (op.check_attrs) op.check_attrs(common, attrs);
  Tensor result =
      out ? *out : empty_tensor(in[0]->sizes(), result_dtype(op.results[0], common));
  void* ptrs[TensorIter::kMaxOperands];
  ptrs[0] = result.data();
  for (int i = 0; i < n; ++i) ptrs[1 + i] = in[i]->data();
  const int64_t numel = in[0]->numel();
  const int64_t grain = grain_of(op.cost);
  if (numel <= grain) {
    loop(ptrs, numel, attrs);
    return result;
  }
  int64_t item[TensorIter::kMaxOperands];
  item[0] = result.itemsize();
  for (int i = 0; i < n; ++i) item[1 + i] = in[i]->itemsize();
  parallel_for(0, numel, grain, [&](int64_t begin, int64_t end) {
    void* here[TensorIter::kMaxOperands];
    for (int i = 0; i <= n; ++i) here[i] = static_cast<char*>(ptrs[i]) + begin * item[i];
    loop(here, end - begin, attrs);
  });
  return result;
}

}  // namespace

DType pointwise_dtype(const PointwiseOp& op, const Tensor* const* in, int n) {
  if (op.promote == Promote::First) return in[0]->dtype();
  Promotion p;
  DType one = DType::Undefined;
  for (int i = 0; i < n; ++i) {
    if (!takes_part(op, i)) continue;
    p.add(*in[i]);
    if (op.promote != Promote::None) continue;
    check(one == DType::Undefined || one == in[i]->dtype(), "Found dtype ", in[i]->dtype(),
          " but expected ", one);
    one = in[i]->dtype();
  }
  DType d = p.result();
  if (op.promote == Promote::ToFloat && is_integral(d, true)) d = default_dtype();
  return d;
}

void run_pointwise_into(const PointwiseOp& op, const Tensor* const* in, int n, const Scalar* attrs,
                        Tensor* results) {
  TensorIter it;
  for (int i = 0; i < op.outputs; ++i) it.add_output(results[i], DType::Undefined);
  for (int i = 0; i < n; ++i) it.add_input(*in[i]);
  it.infer_shape();
  const DType common = pointwise_dtype(op, in, n);
  const DType compute = opmath(common);
  for (int i = 0; i < op.outputs; ++i) {
    TensorIter::Operand& o = it.operand(i);
    const DType d = result_dtype(op.results[i], common);
    o.loop_dtype = result_dtype(op.results[i], compute);
    if (o.tensor.defined()) check_output_dtype(d, o.dtype);
    else o.dtype = d;
  }
  for (int i = 0; i < n; ++i)
    it.operand(op.outputs + i).loop_dtype = takes_part(op, i) ? compute : op.fixed[i].value;
  if (op.check_attrs) op.check_attrs(common, attrs);
  InnerLoop loop = loop_for(op, common);
  it.allocate();
  it.run(loop, attrs, op.cost);
  for (int i = 0; i < op.outputs; ++i) results[i] = it.operand(i).tensor;
}

Tensor run_pointwise(const PointwiseOp& op, const Tensor* const* in, int n, const Scalar* attrs,
                     const Tensor* out) {
  const bool free_or_self = !out || (out->is_same(*in[0]) && op.results[0] == Result::Same);
  if (free_or_self && is_plain(op, in, n)) [[likely]] return run_plain(op, in, n, attrs, out);
  Tensor result;
  if (out) result = *out;
  run_pointwise_into(op, in, n, attrs, &result);
  return result;
}

void check_alpha(DType common, const Scalar* alpha) {
  check(!alpha->is_bool() || common == DType::Bool,
        "Boolean alpha only supported for Boolean results.");
  check(is_differentiable(common) || alpha->is_integral(true),
        "For integral input tensors, argument alpha must not be a floating point number.");
  check(is_complex(common) || !alpha->is_complex(),
        "For non-complex input tensors, argument alpha must not be a complex number.");
}

}  // namespace rl
