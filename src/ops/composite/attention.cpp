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

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check_attention(query, key, value, attn_mask, is_causal);
  check(!is_integral(query.dtype(), true), "expected scalar type Float but found ", query.dtype());
  const double by = std::sqrt(scale.value_or(1 / std::sqrt(double(query.size(-1)))));
  Tensor k = key, v = value;
  if (enable_gqa) {
    const int64_t heads = query.size(-3);
    check(key.size(-3) > 0 && heads % key.size(-3) == 0 && heads % value.size(-3) == 0,
          "Number of heads in key and value must divide the number of heads in query");
    if (key.size(-3) != heads) k = repeat_heads(key, heads / key.size(-3));
    if (value.size(-3) != heads) v = repeat_heads(value, heads / value.size(-3));
  }
  if (is_reduced(query.dtype())) {  // products and softmax in float, rounded once
    const Tensor mask = attn_mask.defined() && attn_mask.dtype() != DType::Bool
                            ? rl::to(attn_mask, DType::Float) : attn_mask;
    return rl::to(rl::scaled_dot_product_attention(
                      rl::to(query, DType::Float), rl::to(k, DType::Float),
                      rl::to(v, DType::Float), mask, dropout_p, is_causal, scale, false),
                  query.dtype());
  }
  // Half of the scale on each side keeps 16-bit products in range.
  Tensor scores = rl::matmul(query * Scalar(by), rl::transpose(k, -2, -1) * Scalar(by));
  const Tensor lowest = wrapped_number(Scalar(-std::numeric_limits<double>::infinity()));
  if (is_causal) {
    const Tensor allowed = rl::tril(
        rl::full({query.size(-2), k.size(-2)}, Scalar(true), DType::Bool, query.device()), 0);
    scores = rl::_where(allowed, scores, lowest);
  } else if (attn_mask.defined()) {
    scores = attn_mask.dtype() == DType::Bool
                 ? rl::_where(attn_mask, scores, lowest)
                 : scores + rl::to(attn_mask, scores.dtype());
  }
  Tensor weights = safe_softmax(scores, is_causal || attn_mask.defined());
  if (dropout_p != 0) weights = rl::dropout(weights, dropout_p, true);
  return rl::matmul(weights, v);
}

}  // namespace rl::composite
