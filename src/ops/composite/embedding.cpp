// one_hot, bags of embeddings, and the gradients of embeddings.
#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/embedding.h"
#include "gen/ops/index.h"
#include "gen/ops/scatter.h"
#include "gen/ops/sparse.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"
#include "ops/index_tools.h"

namespace rl {

// A coordinate tensor of the rows used, not coalesced; the padding row is left out.
static Tensor sparse_embedding_grad(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                                    int64_t padding_idx, bool scale_grad_by_freq) {
  check(!scale_grad_by_freq,
        "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  const int64_t width = grad.size(-1);
  Tensor at = rl::reshape(indices, {-1}), rows = rl::reshape(grad, {at.numel(), width});
  if (padding_idx >= 0) {
    const Tensor numbers = index_numbers(at);
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < at.numel(); ++i)
      if (numbers.data<int64_t>()[i] != padding_idx) kept.push_back(i);
    at = rl::index_select(at, 0, tensor_from_ints(kept));
    rows = rl::index_select(rows, 0, tensor_from_ints(kept));
  }
  return rl::_sparse_coo_tensor_with_dims_and_tensors(1, 1, {num_weights, width},
                                                      rl::unsqueeze(at, 0), rows, std::nullopt);
}

Tensor embedding_grad(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                      int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  if (sparse) return sparse_embedding_grad(grad, indices, num_weights, padding_idx,
                                           scale_grad_by_freq);
  return rl::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor embedding_dense_grad(const Tensor& grad, const Tensor& indices, int64_t padding_idx) {
  Tensor rows = rl::index_select(grad, 0, rl::reshape(indices, {-1}));
  Dims sizes(indices.sizes());
  sizes.push_back(grad.size(1));
  rows = rl::reshape(rows, sizes);
  if (padding_idx < 0) return rows;
  return rl::masked_fill(rows, rl::unsqueeze(rl::eq(indices, wrapped_number(padding_idx)), -1),
                         Scalar(0));
}

namespace composite {

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  check(self.dtype() == DType::Int64,
        "one_hot is only applicable to index tensor of type LongTensor.");
  Dims sizes(self.sizes());
  if (self.numel() == 0) {
    check(num_classes > 0, "Can not infer total number of classes from empty tensor.");
    sizes.push_back(num_classes);
    return rl::empty(sizes, DType::Int64, self.device(), std::nullopt);
  }
  check_implemented(!self.is_meta() || num_classes > 0,
                    "one_hot: the number of classes cannot be found from a meta tensor");
  if (!self.is_meta()) {
    const Tensor t = index_numbers(self);
    const Span s = span_of(t.data<int64_t>(), t.numel());
    check(s.low >= 0, "Class values must be non-negative.");
    if (num_classes == -1) num_classes = s.high + 1;
    else check(num_classes > s.high, "Class values must be smaller than num_classes.");
  }
  sizes.push_back(num_classes);
  Tensor zeros = rl::full(sizes, Scalar(0), DType::Int64, self.device());
  return rl::scatter(zeros, -1, rl::unsqueeze(self, -1), Scalar(1));
}

// ---- bags
namespace {

using Bag = std::tuple<Tensor, Tensor, Tensor, Tensor>;
enum { kSum = 0, kMean = 1, kMax = 2 };

struct Members {
  std::vector<int64_t> bag, row, position;  // of each member that counts
  std::vector<int64_t> all_bags, sizes;     // bag of each index; members of each bag
};

Members members_of(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                   bool include_last, int64_t padding) {
  const Tensor at = index_numbers(indices), starts = index_numbers(offsets);
  const int64_t* p = at.data<int64_t>();
  const int64_t* o = starts.data<int64_t>();
  const int64_t n = at.numel(), given = starts.numel(), bags = given - (include_last ? 1 : 0);
  check(!include_last || given >= 1, "include_last_offset: number of offset should be at least 1");
  if (given > 0) {
    check(o[0] == 0, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to "
        "start "
          "from position 0. However, got ", o[0]);
    check(o[given - 1] <= n, "offsets[-1] can not be greater than input's length ", n,
          " but got offsets[-1] of ", o[given - 1]);
  }
  Members m;
  m.sizes.assign(size_t(std::max<int64_t>(bags, 0)), 0);
  for (int64_t b = 0; b < bags; ++b) {
    const int64_t end = b + 1 < given ? o[b + 1] : n;
    for (int64_t i = o[b]; i < end; ++i) {
      check(p[i] >= 0 && p[i] < weight.size(0), "Index ", i, " of input takes value ", p[i],
            " which is not in the valid range [0, ", weight.size(0), ")");
      m.all_bags.push_back(b);
      if (p[i] == padding) continue;
      ++m.sizes[size_t(b)];
      m.bag.push_back(b);
      m.row.push_back(p[i]);
      m.position.push_back(i);
    }
  }
  return m;
}

Tensor as_index(const std::vector<int64_t>& v, const Tensor& like) {
  return rl::to(tensor_from_ints(v), like.dtype());
}

// Largest element of each bag and column, and the row it came from.
std::pair<Tensor, Tensor> bag_maxima(const Tensor& weight, const Members& m,
    const Tensor& indices) {
  const int64_t bags = int64_t(m.sizes.size()), width = weight.size(1);
  Tensor best = rl::full({bags, width}, Scalar(0), DType::Int64, weight.device());
  Tensor empty = rl::full({bags, 1}, Scalar(false), DType::Bool, weight.device());
  const Tensor table = native::contiguous(native::to_dtype(weight, DType::Double));
  const double* w = table.data<double>();
  int64_t* to = best.data<int64_t>();
  std::vector<char> started(size_t(bags), 0);
  for (size_t i = 0; i < m.row.size(); ++i) {
    const int64_t b = m.bag[i], r = m.row[i];
    for (int64_t c = 0; c < width; ++c) {
      int64_t& held = to[b * width + c];
      if (!started[size_t(b)] || w[r * width + c] > w[held * width + c]) held = r;
    }
    started[size_t(b)] = 1;
  }
  for (int64_t b = 0; b < bags; ++b) empty.data<bool>()[b] = m.sizes[size_t(b)] == 0;
  Tensor out = rl::masked_fill(rl::gather(weight, 0, best, false), empty, Scalar(0));
  return {out, rl::to(best, indices.dtype())};
}

// Shapes alone: sums keep only the number of bags.
Bag meta_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
              bool include_last) {
  const int64_t bags = indices.dim() == 2 ? indices.size(0) : offsets.numel() - include_last;
  auto like = [&](IntRef sizes, const Tensor& t) {
    return empty_tensor(sizes, t.dtype(), t.device());
  };
  const Tensor sizes = like({bags}, indices);
  return {like({bags, weight.size(1)}, weight), like({mode == kSum ? 0 : indices.numel()}, indices),
          sizes, mode == kMax ? like({bags, weight.size(1)}, indices) : sizes};
}

Bag run_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
             const Tensor& sample_weights, bool include_last, int64_t padding, bool scale,
             bool sparse) {
  check_implemented(weight->kind != ImplKind::Batched && offsets->kind != ImplKind::Batched,
                    "embedding_bag of one example of a vmap");
  check(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        "Long, Int; "
        "but got torch.", scalar_type_name(indices.dtype()),
        "Tensor instead (while checking arguments for embedding_bag)");
  check(weight.is_floating(), "Expected tensor for argument #1 'weight' to have one of the "
        "following scalar types: Half, BFloat16, Float, Double; but got torch.",
        scalar_type_name(weight.dtype()),
        "Tensor instead (while checking arguments for embedding_bag)");
  check(!sample_weights.defined() || mode == kSum,
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
        "mode='sum'");
  if (padding < 0 && padding != -1) padding += weight.size(0);
  if (weight.is_meta()) return meta_bags(weight, indices, offsets, mode, include_last);
  const Members m = members_of(weight, indices, offsets, include_last, padding);
  Tensor sizes = as_index(m.sizes, indices);
  if (mode == kMax) {
    auto [out, best] = bag_maxima(weight, m, indices);
    return {out, as_index(m.all_bags, indices), sizes, best};
  }
  Tensor rows = rl::embedding(weight, tensor_from_ints(m.row), -1, scale, sparse);
  if (sample_weights.defined()) {
    Tensor w = rl::index_select(rl::reshape(sample_weights, {-1}), 0, tensor_from_ints(m.position));
    rows = rows * rl::unsqueeze(w, -1);
  }
  Tensor zeros = rl::full({int64_t(m.sizes.size()), weight.size(1)}, Scalar(0), weight.dtype(),
                          weight.device());
  Tensor out = rl::index_add(zeros, 0, tensor_from_ints(m.bag), rows, Scalar(1));
  if (mode == kMean) {
    std::vector<int64_t> parts(m.sizes);
    for (int64_t& s : parts) s = std::max<int64_t>(s, 1);
    out = out / rl::unsqueeze(rl::to(tensor_from_ints(parts), weight.dtype()), -1);
    return {out, as_index(m.all_bags, indices), sizes, sizes};
  }
  // sums keep no bookkeeping but the number of bags
  Tensor none = rl::full({int64_t(m.sizes.size())}, Scalar(0), indices.dtype(), indices.device());
  return {out, as_index({}, indices), none, none};
}

}  // namespace

Bag embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale,
                  int64_t mode, bool sparse, const Tensor& per_sample_weights,
                  bool include_last_offset) {
  return run_bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, -1,
                  scale, sparse);
}
Bag embedding_bag_padding(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
    bool scale,
                          int64_t mode, bool sparse, const Tensor& per_sample_weights,
                          bool include_last_offset, std::optional<int64_t> padding_idx) {
  if (!padding_idx)
    return composite::embedding_bag(weight, indices, offsets, scale, mode, sparse,
                                    per_sample_weights, include_last_offset);
  const int64_t rows = weight.size(0);
  check(*padding_idx >= -rows && *padding_idx < rows, "padding_idx must be within the number of "
        "embeddings, -", rows, " through ", rows - 1, ", but got ", *padding_idx);
  const int64_t padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  return run_bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding,
                  scale, sparse);
}
Bag _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale,
                   int64_t mode, bool sparse, const Tensor& per_sample_weights,
                   bool include_last_offset, int64_t padding_idx) {
  return run_bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset,
                  padding_idx, scale, sparse);
}

}  // namespace composite
}  // namespace rl
