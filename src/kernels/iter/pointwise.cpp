// run_pointwise: dtypes, then geometry, then the loop; and a short cut for the plain case.
#include "kernels/iter/pointwise.h"

#include "base/parallel.h"
#include "kernels/cpu/tiles.h"
#include "kernels/iter/copy.h"
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
  if (op.complex_refusal && is_complex(d)) fail_as(ErrorKind::Type, op.complex_refusal);
  if (op.bool_refusal && d == DType::Bool) fail_as(ErrorKind::NotImplemented, op.bool_refusal);
  dtype_not_implemented(op.error_name ? op.error_name : op.name, d);
}

void check_output(const PointwiseOp& op, DType result, DType out) {
  if (op.exact_out) check(result == out, "Found dtype ", out, " but expected ", result);
  else check_output_dtype(result, out);
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

int category(DType d) {
  return is_complex(d) ? 3 : is_floating(d) ? 2 : d == DType::Bool ? 0 : 1;
}

bool is_plain_tensor(const TensorImpl* t) {
  return t->contiguous && t->device.is_cpu() && t->kind == ImplKind::Strided;
}

// The plain case: row-major CPU tensors of one shape and dtype, which the loop reads and writes,
// and 0-dim operands of no higher category.
struct Plain {
  const Tensor* shape = nullptr;  // an operand of the result's shape
  uint32_t scalars = 0;           // bit i: input i is 0-dim beside one that is not

  bool matches(const PointwiseOp& op, const Tensor* const* in, int n);
  // In place: the first input has the result's shape, and no other shares its memory.
  bool writes_safely(const Tensor* const* in, int n) const {
    if (scalars & 1) return false;
    for (int i = 1; i < n; ++i)
      if (!in[i]->is_same(*in[0]) && in[i]->storage() == in[0]->storage()) return false;
    return true;
  }
};

bool Plain::matches(const PointwiseOp& op, const Tensor* const* in, int n) {
  if (op.outputs != 1) return false;
  for (int i = 0; i < n; ++i)
    if (in[i]->dim() > 0 && takes_part(op, i)) {
      shape = in[i];
      break;
    }
  if (!shape) {
    if (!takes_part(op, 0) || in[0]->is_wrapped_number()) return false;
    shape = in[0];
  }
  const TensorImpl* a = shape->impl();
  if (!is_plain_tensor(a) || opmath(a->dtype) != a->dtype) return false;
  if (op.promote == Promote::ToFloat && !is_differentiable(a->dtype)) return false;
  for (int i = 0; i < n; ++i) {
    const TensorImpl* b = in[i]->impl();
    if (b == a) continue;
    if (!is_plain_tensor(b)) return false;
    if (b->sizes == a->sizes && !b->wrapped_number) {
      if (b->dtype != (takes_part(op, i) ? a->dtype : op.fixed[i].value)) return false;
    } else if (b->sizes.empty() && takes_part(op, i) && op.promote != Promote::First &&
               category(b->dtype) <= category(a->dtype) &&
               (op.promote != Promote::None || b->dtype == a->dtype)) {
      scalars |= 1u << i;
    } else {
      return false;
    }
  }
  return true;
}

constexpr int64_t kConstants = 1024;  // elements of a filled tile

struct PlainRun {
  InnerLoop loop;
  const Scalar* attrs;
  int n;
  void* ptrs[TensorIter::kMaxOperands];
  int64_t step[TensorIter::kMaxOperands];  // bytes an element, 0: a filled tile

  void run(int64_t begin, int64_t end, int64_t tile) const {
    void* here[TensorIter::kMaxOperands];
    for (int64_t at = begin; at < end; at += tile) {
      for (int i = 0; i <= n; ++i) here[i] = static_cast<char*>(ptrs[i]) + at * step[i];
      loop(here, std::min(tile, end - at), attrs);
    }
  }
};

Tensor run_plain(const PointwiseOp& op, const Plain& plain, const Tensor* const* in, int n,
                 const Scalar* attrs, const Tensor* out) {
  const DType common = plain.shape->dtype();
  PlainRun r{loop_for(op, common), attrs, n, {}, {}};
  if (op.check_attrs) op.check_attrs(common, attrs);
  Tensor result =
      out ? *out : empty_tensor(plain.shape->sizes(), result_dtype(op.results[0], common));
  const int64_t numel = plain.shape->numel(), item = itemsize(common);
  r.ptrs[0] = result.data();
  r.step[0] = result.itemsize();
  alignas(64) char constants[4][kConstants * 16];
  for (int i = 0; i < n; ++i) {
    r.ptrs[1 + i] = in[i]->data();
    r.step[1 + i] = in[i]->itemsize();
    if (!(plain.scalars >> i & 1)) continue;
    alignas(16) char one[16];
    cpu::convert(one, common, in[i]->data(), in[i]->dtype(), 1);
    cpu::fill_run(constants[i], one, int(item), std::min(kConstants, numel));
    r.ptrs[1 + i] = constants[i];
    r.step[1 + i] = 0;
  }
  const int64_t tile = plain.scalars ? kConstants : std::max<int64_t>(numel, 1);
  parallel_for(0, numel, grain_of(op.cost),
               [&](int64_t begin, int64_t end) { r.run(begin, end, tile); });
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

namespace {

// Results of 16-bit operands are rounded to their dtype, whatever the dtype of `out`.
bool rounds_first(const PointwiseOp& op, DType common, const Tensor* results) {
  if (opmath(common) == common) return false;
  for (int i = 0; i < op.outputs; ++i)
    if (results[i].defined() && results[i].dtype() != result_dtype(op.results[i], common))
      return true;
  return false;
}

void run_rounded(const PointwiseOp& op, DType common, const Tensor* const* in, int n,
                 const Scalar* attrs, Tensor* results) {
  Tensor made[2];
  run_pointwise_into(op, in, n, attrs, made);
  for (int i = 0; i < op.outputs; ++i) {
    if (results[i].defined()) {
      check_output(op, result_dtype(op.results[i], common), results[i].dtype());
      resize_output(results[i], made[i].sizes());
      copy_tensor(results[i], made[i]);
    } else {
      results[i] = made[i];
    }
  }
}

}  // namespace

void run_pointwise_into(const PointwiseOp& op, const Tensor* const* in, int n, const Scalar* attrs,
                        Tensor* results) {
  if (results[0].defined()) {
    const DType common = pointwise_dtype(op, in, n);
    if (rounds_first(op, common, results)) return run_rounded(op, common, in, n, attrs, results);
  }
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
    if (o.tensor.defined()) check_output(op, d, o.dtype);
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
  Plain plain;
  if (free_or_self && n <= 4 && plain.matches(op, in, n) &&
      (!out || plain.writes_safely(in, n))) [[likely]]
    return run_plain(op, plain, in, n, attrs, out);
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
