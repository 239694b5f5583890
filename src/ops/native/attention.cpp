// Scaled dot-product attention in tiles that stay in the cache, forward and backward (Dao et al.,
// "FlashAttention", arXiv:2205.14135), without the matrix of all scores.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/onednn/provider.h"
#include "kernels/cpu/tiles.h"
#include "kernels/gemm.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"

namespace rl::native {
namespace {

using cpu::ScoreTile;

constexpr int64_t kQueryTile = 128, kKeyTile = 512, kKeyStep = 64;

struct Heads {  // one (batch, head) matrix of a tensor [B, H, T, E] whose last stride is 1
  const Tensor& t;
  char* at(int64_t b, int64_t h, int64_t row) const {
    const IntRef s = t.strides();
    return static_cast<char*>(t.data()) + (b * s[0] + h * s[1] + row * s[2]) * t.itemsize();
  }
  int64_t row() const { return t.strides()[2]; }
};

struct Attention {
  DType dtype, compute;        // of the operands; of scores and sums
  int64_t batch, heads, queries, keys, width, group;  // `group` query heads share a key head
  bool causal;
  double scale;
  Tensor q, k, v, mask;        // mask: [B, H, T, S] by strides 0, of the compute dtype; or none

  ScoreTile tile(int64_t b, int64_t h, int64_t q0, int64_t rows, int64_t k0, int64_t cols) const {
    ScoreTile t{.rows = rows, .cols = cols, .ld = cols};
    t.causal = causal && k0 + cols > q0 + 1;
    t.visible = q0 + 1 - k0;
    if (mask.defined()) {
      const IntRef s = mask.strides();
      t.mask_row = s[2];
      t.mask_col = s[3];
      t.mask = static_cast<const char*>(mask.data()) +
               (b * s[0] + h * s[1] + q0 * s[2] + k0 * s[3]) * mask.itemsize();
    }
    return t;
  }
  // Keys that the rows q0 .. q0 + rows see, rounded up so that few shapes of products occur.
  int64_t reach(int64_t q0, int64_t rows) const {
    if (!causal) return keys;
    return std::min(keys, (q0 + rows + kKeyStep - 1) / kKeyStep * kKeyStep);
  }
};

Tensor rows_ready(const Tensor& t, DType d) {
  const Tensor x = rl::to_dtype(t, d);
  return x.strides()[3] == 1 && x.size(3) > 1 ? x : contiguous_tensor(x);
}

// 0 where attention is allowed, -inf elsewhere.
template <class T>
void bias_of(const Tensor& allowed, const Tensor& to) {
  const bool* on = allowed.data<bool>();
  constexpr T lowest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < to.numel(); ++i) to.data<T>()[i] = on[i] ? T(0) : lowest;
}

Tensor ready_mask(const Tensor& mask, const Attention& a) {
  if (!mask.defined()) return {};
  Tensor m = contiguous_tensor(mask.dtype() == DType::Bool ? mask : rl::to_dtype(mask, a.compute));
  if (mask.dtype() == DType::Bool) {
    m = empty_tensor(mask.sizes(), a.compute, mask.device());
    if (a.compute == DType::Float) bias_of<float>(contiguous_tensor(mask), m);
    else bias_of<double>(contiguous_tensor(mask), m);
  }
  return expand(m, {a.batch, a.heads, a.queries, a.keys});
}

Attention describe(const Tensor& query, const Tensor& key, const Tensor& value,
                   const Tensor& mask, bool causal, std::optional<double> scale, bool widen) {
  check(query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.size(3) == key.size(3) &&
            query.size(3) == value.size(3) && query.size(0) == key.size(0) &&
            key.size(0) == value.size(0) && key.size(1) == value.size(1) &&
            key.size(2) == value.size(2) && key.size(1) > 0 &&
            query.size(1) % key.size(1) == 0 && query.dtype() == key.dtype() &&
            key.dtype() == value.dtype(),
        "scaled_dot_product_attention_flash_attention: query, key and value must be 4-dimensional "
        "with the same batch, head size and dtype, but are ", query.sizes(), " ", query.dtype(),
        ", ", key.sizes(), " ", key.dtype(), " and ", value.sizes(), " ", value.dtype());
  Attention a;
  a.compute = opmath(query.dtype());
  a.dtype = widen ? a.compute : query.dtype();
  a.batch = query.size(0), a.heads = query.size(1), a.queries = query.size(2);
  a.keys = key.size(2), a.width = query.size(3), a.group = a.heads / key.size(1);
  a.causal = causal;
  a.scale = scale.value_or(1 / std::sqrt(double(a.width)));
  if (query.is_meta()) return a;
  a.q = rows_ready(query, a.dtype);
  a.k = rows_ready(key, a.dtype);
  a.v = rows_ready(value, a.dtype);
  a.mask = ready_mask(mask, a);
  return a;
}

struct Side {  // a matrix of a product: rows `row` apart, or its transpose
  const void* data;
  int64_t row;
  bool turned = false;
};

// c (m x n, dense) = alpha * a b + beta * c, in the compute dtype; a and b of `dtype`.
bool product(DType dtype, DType compute, int64_t m, int64_t n, int64_t k, Side a, Side b, void* c,
             int64_t c_row, double alpha, double beta) {
  const auto strides = [](const Side& s) {
    return GemmOperand{s.data, s.turned ? 1 : s.row, s.turned ? s.row : 1, 0};
  };
  if (dtype == compute) {
    GemmProblem p;
    p.m = m, p.n = n, p.k = k;
    p.a = strides(a), p.b = strides(b), p.c = {c, c_row, 1, 0};
    p.alpha = alpha, p.beta = beta;
    gemm(dtype, p);
    return true;
  }
  onednn::MatMul p;
  p.type = p.b_type = dtype == DType::Half ? onednn::Type::f16 : onednn::Type::bf16;
  p.m = m, p.n = n, p.k = k;
  const GemmOperand x = strides(a), y = strides(b);
  p.a = {x.data, x.row, x.col, 0}, p.b = {y.data, y.row, y.col, 0}, p.c = {c, c_row, 1, 0};
  p.alpha = float(alpha), p.beta = float(beta);
  return onednn::matmul(p);
}

struct ForwardTile {  // work memory of one thread
  std::vector<char> scores, narrow, out, high, sum;
  explicit ForwardTile(const Attention& a) {
    const size_t item = itemsize(a.compute), tile = kQueryTile * kKeyTile;
    scores.resize(tile * item);
    if (a.dtype != a.compute) narrow.resize(tile * itemsize(a.dtype));
    out.resize(size_t(kQueryTile * a.width) * item);
    high.resize(kQueryTile * item);
    sum.resize(kQueryTile * item);
  }
};

// False where the processor has no product of this dtype.
bool forward_tile(const Attention& a, ForwardTile& w, int64_t b, int64_t h, int64_t q0,
                  const Heads& out, const Tensor& lse) {
  const Heads q{a.q}, k{a.k}, v{a.v};
  const int64_t rows = std::min(kQueryTile, a.queries - q0), reach = a.reach(q0, rows);
  const double lowest = -std::numeric_limits<double>::infinity();
  for (int64_t r = 0; r < rows; ++r) {
    if (a.compute == DType::Float) reinterpret_cast<float*>(w.high.data())[r] = float(lowest);
    else reinterpret_cast<double*>(w.high.data())[r] = lowest;
  }
  std::fill(w.sum.begin(), w.sum.end(), char(0));
  for (int64_t k0 = 0; k0 < reach; k0 += kKeyTile) {
    const int64_t cols = std::min(kKeyTile, reach - k0);
    if (!product(a.dtype, a.compute, rows, cols, a.width, {q.at(b, h, q0), q.row()},
                 {k.at(b, h / a.group, k0), k.row(), true}, w.scores.data(), cols, a.scale, 0))
      return false;
    cpu::attention_exp(a.compute, a.tile(b, h, q0, rows, k0, cols), w.scores.data(),
                       w.high.data(), w.sum.data(), w.out.data(), k0 ? a.width : 0);
    const void* p = w.scores.data();
    if (a.dtype != a.compute) {
      cpu::convert(w.narrow.data(), a.dtype, p, a.compute, rows * cols);
      p = w.narrow.data();
    }
    if (!product(a.dtype, a.compute, rows, a.width, cols, {p, cols},
                 {v.at(b, h / a.group, k0), v.row()}, w.out.data(), a.width, 1, k0 ? 1 : 0))
      return false;
  }
  const IntRef ls = lse.strides();
  cpu::attention_finish(a.compute, rows, a.width, w.high.data(), w.sum.data(), w.out.data(),
                        static_cast<char*>(lse.data()) +
                            (b * ls[0] + h * ls[1] + q0 * ls[2]) * lse.itemsize(),
                        ls[2]);
  for (int64_t r = 0; r < rows; ++r)
    cpu::convert(out.at(b, h, q0 + r), out.t.dtype(),
                 w.out.data() + r * a.width * itemsize(a.compute), a.compute, a.width);
  return true;
}

bool forward(const Attention& a, const Tensor& out, const Tensor& lse) {
  const int64_t tiles = (a.queries + kQueryTile - 1) / kQueryTile;
  const int64_t work = std::min(kQueryTile, a.queries) * a.keys * a.width;
  std::atomic<bool> done{true};
  parallel_for(0, a.batch * a.heads * tiles, 1 + 32768 / std::max<int64_t>(work, 1),
               [&](int64_t begin, int64_t end) {
                 ForwardTile w(a);
                 for (int64_t i = begin; i < end && done; ++i)
                   if (!forward_tile(a, w, i / tiles / a.heads, i / tiles % a.heads,
                                     i % tiles * kQueryTile, {out}, lse))
                     done = false;
               });
  return done;
}

Tensor log_sum_exp_like(const Attention& a, Device device) {
  return transpose(empty_tensor({a.batch, a.queries, a.heads}, a.compute, device), 1, 2);
}

struct BackwardWork {
  std::vector<char> p, dp;
  std::vector<double> wide;
  explicit BackwardWork(const Attention& a)
      : p(kQueryTile * kKeyTile * itemsize(a.compute)), dp(p.size()), wide(kQueryTile) {}
};

template <class T>
void row_dots(const Heads& x, const Heads& y, int64_t b, int64_t h, int64_t q0, int64_t rows,
              int64_t width, double* to) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* u = reinterpret_cast<const T*>(x.at(b, h, q0 + r));
    const T* v = reinterpret_cast<const T*>(y.at(b, h, q0 + r));
    double s = 0;
    for (int64_t i = 0; i < width; ++i) s += double(u[i]) * double(v[i]);
    reinterpret_cast<T*>(to)[r] = T(s);
  }
}

struct Gradients {
  Tensor grad_out, out, lse, dq, dk, dv;
};

void backward_tile(const Attention& a, const Gradients& g, BackwardWork& w, int64_t b, int64_t h,
                   int64_t q0) {
  const Heads q{a.q}, k{a.k}, v{a.v}, go{g.grad_out}, out{g.out}, dq{g.dq}, dk{g.dk}, dv{g.dv};
  const int64_t rows = std::min(kQueryTile, a.queries - q0), reach = a.reach(q0, rows);
  const int64_t kh = h / a.group;
  if (a.compute == DType::Float) row_dots<float>(go, out, b, h, q0, rows, a.width, w.wide.data());
  else row_dots<double>(go, out, b, h, q0, rows, a.width, w.wide.data());
  const IntRef ls = g.lse.strides();
  const void* lse = static_cast<const char*>(g.lse.data()) +
                    (b * ls[0] + h * ls[1] + q0 * ls[2]) * g.lse.itemsize();
  const auto multiply = [&](int64_t m, int64_t n, int64_t kk, Side x, Side y, void* c, int64_t cr,
                            double alpha, double beta) {
    product(a.compute, a.compute, m, n, kk, x, y, c, cr, alpha, beta);
  };
  for (int64_t k0 = 0; k0 < reach; k0 += kKeyTile) {
    const int64_t cols = std::min(kKeyTile, reach - k0);
    void *p = w.p.data(), *dp = w.dp.data();
    multiply(rows, cols, a.width, {q.at(b, h, q0), q.row()}, {k.at(b, kh, k0), k.row(), true}, p,
             cols, a.scale, 0);
    multiply(rows, cols, a.width, {go.at(b, h, q0), go.row()}, {v.at(b, kh, k0), v.row(), true},
             dp, cols, 1, 0);
    cpu::attention_backward_rows(a.compute, a.tile(b, h, q0, rows, k0, cols), p, dp, lse, ls[2],
                                 w.wide.data(), a.scale);
    multiply(cols, a.width, rows, {p, cols, true}, {go.at(b, h, q0), go.row()}, dv.at(b, kh, k0),
             dv.row(), 1, 1);
    multiply(cols, a.width, rows, {dp, cols, true}, {q.at(b, h, q0), q.row()}, dk.at(b, kh, k0),
             dk.row(), 1, 1);
    multiply(rows, a.width, cols, {dp, cols}, {k.at(b, kh, k0), k.row()}, dq.at(b, h, q0),
             dq.row(), 1, k0 ? 1 : 0);
  }
}

// [B, H, T, E] in the memory order [B, T, H, E].
Tensor zero_grad_like(const Attention& a, int64_t heads, int64_t rows, Device device) {
  return transpose(full_tensor({a.batch, rows, heads, a.width}, Scalar(0), a.compute, device), 1,
                   2);
}

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu(
    const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p, bool is_causal,
    const Tensor& attn_mask, std::optional<double> scale) {
  check(dropout_p == 0, "scaled_dot_product_attention_flash_attention: Currently do not support "
        "dropout > 0, but got ", dropout_p);
  Attention a = describe(query, key, value, attn_mask, is_causal, scale, false);
  const bool rows = query.strides()[3] == 1 && query.size(3) > 1;  // Heads reads and writes rows
  Tensor out = rows ? empty_like_tensor(query, query.dtype())
                    : empty_tensor(query.sizes(), query.dtype(), query.device());
  Tensor lse = log_sum_exp_like(a, query.device());
  if (out.is_meta() || out.numel() == 0) return {out, lse};
  if (a.keys == 0) fill_tensor(out, Scalar(0));
  if (!forward(a, out, lse)) {
    a = describe(query, key, value, attn_mask, is_causal, scale, true);
    forward(a, out, lse);
  }
  return {out, lse};
}

std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& out, const Tensor& logsumexp, double dropout_p, bool is_causal,
    const Tensor& attn_mask, std::optional<double> scale) {
  check(dropout_p == 0, "scaled_dot_product_attention_flash_attention: Currently do not support "
        "dropout > 0, but got ", dropout_p);
  const Attention a = describe(query, key, value, attn_mask, is_causal, scale, true);
  const int64_t kv = a.heads / a.group;
  Gradients g;
  g.dq = zero_grad_like(a, a.heads, a.queries, query.device());
  g.dk = zero_grad_like(a, kv, a.keys, query.device());
  g.dv = zero_grad_like(a, kv, a.keys, query.device());
  if (!query.is_meta() && g.dq.numel() > 0 && a.keys > 0) {
    g.grad_out = rows_ready(grad_out, a.compute);
    g.out = rows_ready(out, a.compute);
    g.lse = logsumexp;
    parallel_for(0, a.batch * kv, 1, [&](int64_t begin, int64_t end) {
      BackwardWork w(a);
      for (int64_t i = begin; i < end; ++i)
        for (int64_t s = 0; s < a.group; ++s)
          for (int64_t q0 = 0; q0 < a.queries; q0 += kQueryTile)
            backward_tile(a, g, w, i / kv, i % kv * a.group + s, q0);
    });
  }
  return {rl::to_dtype(g.dq, query.dtype()), rl::to_dtype(g.dk, query.dtype()),
          rl::to_dtype(g.dv, query.dtype())};
}

}  // namespace rl::native
