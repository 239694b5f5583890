// Attention as products and a softmax.
#include <cmath>
#include <limits>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/matmul.h"
#include "gen/ops/random.h"
#include "gen/ops/reduce.h"
#include "gen/ops/rnn.h"
#include "gen/ops/softmax.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"
#include "ops/products.h"

namespace rl::composite {
namespace {

void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                     bool causal) {
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2,
        "Expected query, key, and value to all be  at "
        "least 2 dimensional, but got query.dim: ",
        q.dim(), " key.dim: ", k.dim(), " and value.dim: ", v.dim(), " instead.");
  check(q.dtype() == k.dtype() && q.dtype() == v.dtype(), "Expected query, key, and value to have "
        "the same dtype, but got query.dtype: ", typeid_name(q.dtype()), " key.dtype: ",
        typeid_name(k.dtype()), " and value.dtype: ", typeid_name(v.dtype()), " instead.");
  if (!mask.defined()) return;
  check(mask.dtype() == DType::Bool || mask.dtype() == DType::Float || mask.dtype() == q.dtype(),
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
        "attn_mask.dtype: ", typeid_name(mask.dtype()), " and  query.dtype: ",
        typeid_name(q.dtype()), " instead.");
  check(!causal, "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
        "is_causal=True");
}

// Each key head serves a group of query heads.
Tensor repeat_heads(const Tensor& t, int64_t times) {
  Dims sizes(t.sizes());
  const size_t heads = sizes.size() - 3;
  Dims wide(sizes);
  wide.insert(heads + 1, times);
  sizes[heads] *= times;
  return rl::reshape(rl::expand(rl::unsqueeze(t, int64_t(heads) + 1), wide, false), sizes);
}

// Softmax whose rows of nothing but -inf are zero instead of nan.
Tensor safe_softmax(const Tensor& scores, bool masked) {
  const Tensor out = rl::softmax(scores, -1, std::nullopt);
  if (!masked) return out;
  const Tensor lowest = wrapped_number(Scalar(-std::numeric_limits<double>::infinity()));
  const Tensor none = rl::all(rl::eq(scores, lowest), std::optional<IntRef>(IntRef({-1})), true);
  return rl::_where(none, wrapped_number(Scalar(0.0)), out);
}

// A lower triangle of true: query i sees the keys up to i.
Tensor causal_mask(const Tensor& q, const Tensor& k) {
  const Tensor all = rl::full({q.size(-2), k.size(-2)}, Scalar(true), DType::Bool, q.device());
  return rl::tril(all, 0);
}

// softmax(q k' scale + mask) with the matrix of all scores.
Tensor attention_weights(const Tensor& q, const Tensor& k, const Tensor& mask, bool causal,
                         std::optional<double> scale) {
  // Half of the scale on each side keeps 16-bit products in range.
  const Scalar by(std::sqrt(scale.value_or(1 / std::sqrt(double(q.size(-1))))));
  Tensor scores = rl::matmul(q * by, rl::transpose(k, -2, -1) * by);
  const Tensor lowest = wrapped_number(Scalar(-std::numeric_limits<double>::infinity()));
  if (causal) {
    scores = rl::_where(causal_mask(q, k), scores, lowest);
  } else if (mask.defined()) {
    scores = mask.dtype() == DType::Bool ? rl::_where(mask, scores, lowest)
                                         : scores + rl::to(mask, scores.dtype());
  }
  return safe_softmax(scores, causal || mask.defined());
}

bool broadcasts_to(const Tensor& mask, const Tensor& q, const Tensor& k) {
  if (mask.dim() < 2 || mask.dim() > 4) return false;
  const int64_t shape[4] = {q.size(0), q.size(1), q.size(2), k.size(2)};
  for (int64_t d = 0; d < mask.dim(); ++d) {
    const int64_t n = mask.size(d);
    if (n != 1 && n != shape[4 - mask.dim() + d]) return false;
  }
  return true;
}

// The tiled kernel takes it: four dimensions, one head size, no dropout, a constant mask.
bool tiled(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout) {
  if (dropout != 0 || q.dim() != 4 || k.dim() != 4 || v.dim() != 4) return false;
  if (!is_floating(q.dtype()) || !q.device().is_cpu()) return false;
  for (int64_t d = 0; d < 4; ++d)
    if (k.size(d) != v.size(d)) return false;
  if (q.size(0) != k.size(0) || q.size(3) != k.size(3) || q.size(3) == 0) return false;
  if (k.size(1) == 0 || k.size(2) == 0 || q.size(1) % k.size(1) != 0) return false;
  return !mask.defined() ||
         (!(grad_enabled() && mask.requires_grad()) && !mask->has_forward_grad &&
          broadcasts_to(mask, q, k));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check_attention(query, key, value, attn_mask, is_causal);
  check(!is_integral(query.dtype(), true), "expected scalar type Float but found ", query.dtype());
  Tensor k = key, v = value;
  if (enable_gqa) {
    const int64_t heads = query.size(-3);
    check(key.size(-3) > 0 && heads % key.size(-3) == 0 && heads % value.size(-3) == 0,
          "Number of heads in key and value must divide the number of heads in query");
    if (tiled(query, key, value, attn_mask, dropout_p))
      return std::get<0>(rl::_scaled_dot_product_flash_attention_for_cpu(
          query, key, value, 0, is_causal, attn_mask, scale));
    if (key.size(-3) != heads) k = repeat_heads(key, heads / key.size(-3));
    if (value.size(-3) != heads) v = repeat_heads(value, heads / value.size(-3));
  }
  if (query.dim() == 4 && query.size(1) == k.size(1) && tiled(query, k, v, attn_mask, dropout_p))
    return std::get<0>(rl::_scaled_dot_product_flash_attention_for_cpu(
        query, k, v, 0, is_causal, attn_mask, scale));
  if (is_reduced(query.dtype())) {  // products and softmax in float, rounded once
    const Tensor mask = attn_mask.defined() && attn_mask.dtype() != DType::Bool
                            ? rl::to(attn_mask, DType::Float) : attn_mask;
    return rl::to(rl::scaled_dot_product_attention(
                      rl::to(query, DType::Float), rl::to(k, DType::Float),
                      rl::to(v, DType::Float), mask, dropout_p, is_causal, scale, false),
                  query.dtype());
  }
  Tensor weights = attention_weights(query, k, attn_mask, is_causal, scale);
  if (dropout_p != 0) weights = rl::dropout(weights, dropout_p, true);
  return rl::matmul(weights, v);
}

}  // namespace rl::composite

namespace rl {

// Without a graph to build, by tiles. Otherwise written out, so that it can be differentiated:
// dS = P (dP - sum(P dP)), where P are the weights and dP = dO V'.
std::tuple<Tensor, Tensor, Tensor> flash_attention_grad(
    const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
    const Tensor& logsumexp, bool is_causal, const Tensor& mask, std::optional<double> scale) {
  if (!grad_enabled())
    return rl::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad, q, k, v, out, logsumexp, 0, is_causal, mask, scale);
  const int64_t times = q.size(1) / k.size(1);
  const Tensor kk = times > 1 ? composite::repeat_heads(k, times) : k;
  const Tensor vv = times > 1 ? composite::repeat_heads(v, times) : v;
  const Tensor p = composite::attention_weights(q, kk, mask, is_causal, scale);
  const Tensor dp = rl::matmul(grad, rl::transpose(vv, -2, -1));
  const Tensor sum = rl::sum(p * dp, std::optional<IntRef>(IntRef({-1})), true, std::nullopt);
  const Tensor ds = p * (dp - sum) * Scalar(scale.value_or(1 / std::sqrt(double(q.size(-1)))));
  const auto gather = [&](const Tensor& g) {  // over the query heads that share a key head
    if (times == 1) return g;
    const Tensor split = rl::reshape(g, {g.size(0), k.size(1), times, g.size(2), g.size(3)});
    return rl::sum(split, std::optional<IntRef>(IntRef({2})), false, std::nullopt);
  };
  return {rl::matmul(ds, kk), gather(rl::matmul(rl::transpose(ds, -2, -1), q)),
          gather(rl::matmul(rl::transpose(p, -2, -1), grad))};
}

}  // namespace rl
