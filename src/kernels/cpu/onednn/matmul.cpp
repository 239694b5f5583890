// Matrix products: the caller's strides become a plain or transposed layout, batches of stride 0
// become oneDNN's broadcast dimension.
#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/onednn/plan.h"

namespace rl::onednn {
namespace {

struct Key {
  Type a_type, b_type, c_type, bias_type;
  Post post;
  bool has_bias, scaled, batched;
  int32_t threads;
  float beta;
  int64_t batch, m, n, k;
  int64_t a[3], b[3], c[3];  // strides: batch, row, column
};
static_assert(sizeof(Key) == 16 + 4 * 8 + 9 * 8);

// oneDNN takes a matrix with one unit stride and the other no smaller than the row it spans.
// Strides of dimensions of length one mean nothing and get the dense value.
bool set_strides(const Matrix& x, int64_t rows, int64_t cols, int64_t batch, int64_t* to) {
  int64_t row = x.row, col = x.col;
  if (cols == 1) {
    col = 1;
    if (rows == 1) row = 1;
  } else if (rows == 1) {
    row = col == 1 ? cols : 1;
  }
  const bool plain = col == 1 && row >= std::max<int64_t>(cols, 1);
  const bool transposed = row == 1 && col >= std::max<int64_t>(rows, 1);
  if (!plain && !transposed) return false;
  to[0] = batch == 1 ? rows * cols : x.batch;
  to[1] = row;
  to[2] = col;
  return true;
}

Desc matrix_desc(Type type, const Key& key, const int64_t* strides, int64_t rows, int64_t cols) {
  if (!key.batched) {
    const int64_t dims[2] = {rows, cols};
    return strided_desc(type, 2, dims, strides + 1);
  }
  const bool broadcast = strides[0] == 0 && key.batch > 1;
  const int64_t dims[3] = {broadcast ? 1 : key.batch, rows, cols};
  const int64_t s[3] = {broadcast ? rows * cols : strides[0], strides[1], strides[2]};
  return strided_desc(type, 3, dims, s);
}

dnnl_primitive_attr_t make_attr(const Key& key) {
  const Api& a = api();
  dnnl_primitive_attr_t attr = nullptr;
  must(a.dnnl_primitive_attr_create(&attr), "attributes");
  a.dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  if (key.scaled) must(a.dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, 0), "scale");
  dnnl_post_ops_t ops = nullptr;
  must(a.dnnl_post_ops_create(&ops), "post-ops");
  if (key.beta != 0) {
    must(a.dnnl_post_ops_append_sum(ops, key.beta, 0, dnnl_data_type_undef), "post-ops");
  }
  if (key.post == Post::relu) {
    must(a.dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0), "post-ops");
  }
  must(a.dnnl_primitive_attr_set_post_ops(attr, ops), "post-ops");
  a.dnnl_post_ops_destroy(ops);
  return attr;
}

void make_plan(const Key& key, Plan& plan) {
  const Api& a = api();
  Desc src = matrix_desc(key.a_type, key, key.a, key.m, key.k);
  Desc weights = matrix_desc(key.b_type, key, key.b, key.k, key.n);
  Desc dst = matrix_desc(key.c_type, key, key.c, key.m, key.n);
  Desc bias(nullptr, a.dnnl_memory_desc_destroy);
  if (key.has_bias) {
    const int64_t dims[3] = {1, 1, key.n}, strides[3] = {key.n, key.n, 1};
    const int skip = key.batched ? 0 : 1;
    bias = strided_desc(key.bias_type, 3 - skip, dims + skip, strides + skip);
  }
  dnnl_primitive_attr_t attr = make_attr(key);
  dnnl_primitive_desc_t raw = nullptr;
  const dnnl_status_t status = a.dnnl_matmul_primitive_desc_create(
      &raw, a.engine, src.get(), weights.get(), bias.get(), dst.get(), attr);
  a.dnnl_primitive_attr_destroy(attr);
  if (status != dnnl_success) return;
  PrimitiveDesc pd = own(raw);
  if (!skip_reference(pd.get())) return;
  plan.start(pd.get());
  plan.argument(DNNL_ARG_SRC, src, false);
  plan.argument(DNNL_ARG_WEIGHTS, weights, false);
  plan.argument(DNNL_ARG_DST, dst, true);
  if (key.has_bias) plan.argument(DNNL_ARG_BIAS, bias, false);
  if (key.scaled) plan.runtime_scale(DNNL_ARG_SRC);
}

}  // namespace

bool matmul(const MatMul& p) {
  const Team team(2.0 * double(p.batch) * double(p.m) * double(p.n) * double(p.k));
  Key key;
  std::memset(static_cast<void*>(&key), 0, sizeof key);
  key.a_type = p.type;
  key.b_type = p.b_type;
  key.c_type = p.c_type;
  key.bias_type = p.bias_type;
  key.post = p.post;
  key.has_bias = p.bias != nullptr;
  key.scaled = p.alpha != 1;
  key.batched = p.batch != 1;
  key.threads = team.size();
  key.beta = p.beta;
  key.batch = p.batch;
  key.m = p.m;
  key.n = p.n;
  key.k = p.k;
  if (!set_strides(p.a, p.m, p.k, p.batch, key.a) || !set_strides(p.b, p.k, p.n, p.batch, key.b) ||
      !set_strides(p.c, p.m, p.n, p.batch, key.c)) {
    return false;
  }
  Plan& plan = cached_plan(key, make_plan);
  if (!plan.usable()) return false;
  plan.set_scale(p.alpha);
  const void* pointers[4] = {p.a.data, p.b.data, p.c.data, p.bias};
  plan.run(pointers);
  return true;
}

bool gemm(Type type, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
          const void* a, int64_t lda, const void* b, int64_t ldb, float beta, void* c, int64_t ldc,
          const void* bias) {
  MatMul p;
  p.type = p.b_type = p.c_type = p.bias_type = type;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = trans_a ? Matrix{a, 1, lda, 0} : Matrix{a, lda, 1, 0};
  p.b = trans_b ? Matrix{b, 1, ldb, 0} : Matrix{b, ldb, 1, 0};
  p.c = {c, ldc, 1, 0};
  p.bias = bias;
  p.alpha = alpha;
  p.beta = beta;
  return matmul(p);
}

}  // namespace rl::onednn
