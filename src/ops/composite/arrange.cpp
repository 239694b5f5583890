// Rearrangements made of other operators, and what their gradients need.
#include <algorithm>

#include "gen/ops/arith.h"
#include "gen/ops/arrange.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/join.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "kernels/iter/promote.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

Dims negated_shifts(IntRef v) {
  Dims out(v);
  for (int64_t& x : out) x = -x;
  return out;
}

Tensor zeros_of_sizes(const Tensor& grad, IntRef sizes) {
  return rl::full(sizes, Scalar(0), grad.dtype(), grad.device());
}

// The sum of all blocks.
Tensor repeat_grad(const Tensor& grad, IntRef sizes, IntRef repeats) {
  if (std::find(repeats.begin(), repeats.end(), 0) != repeats.end()) return zeros_of_sizes(grad,
      sizes);
  Dims blocks, over;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const size_t at = i + sizes.size() - repeats.size();
    over.push_back(int64_t(blocks.size()));
    blocks.push_back(repeats[i]);
    if (i + sizes.size() >= repeats.size()) blocks.push_back(sizes[at]);
  }
  return over.empty() ? grad : rl::sum(rl::reshape(grad, blocks), IntRef(over), false,
      std::nullopt);
}

namespace composite {

Tensor fliplr(const Tensor& self) {
  check(self.dim() >= 2, "Input must be >= 2-d.");
  return rl::flip(self, {1});
}
Tensor flipud(const Tensor& self) {
  check(self.dim() >= 1, "Input must be >= 1-d.");
  return rl::flip(self, {0});
}

Tensor rot90(const Tensor& self, int64_t k, IntRef dims) {
  check(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  check(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  check(dims[0] != dims[1] && std::abs(dims[0] - dims[1]) != self.dim(),
        "expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ",
        dims[1]);
  const int64_t a = wrap_dim(dims[0], self.dim()), b = wrap_dim(dims[1], self.dim());
  switch (((k % 4) + 4) % 4) {
    case 1: return rl::transpose(rl::flip(self, {b}), a, b);
    case 2: return rl::flip(self, {a, b});
    case 3: return rl::transpose(rl::flip(self, {a}), a, b);
    default: return rl::clone(self, MemoryFormat::Contiguous);
  }
}

Tensor tile(const Tensor& self, IntRef dims) {
  Dims repeats(dims);
  while (int64_t(repeats.size()) < self.dim()) repeats.insert(0, 1);
  return rl::repeat(self, repeats);
}

Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats,
    std::optional<int64_t> dim,
                                std::optional<int64_t> output_size) {
  Tensor in = dim ? self : rl::flatten(self, 0, -1);
  const int64_t d = wrap_dim(dim.value_or(0), in.dim()), n = in.dim() == 0 ? 1 : in.size(d);
  check(repeats.dim() <= 1, "repeats must be 0-dim or 1-dim tensor");
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1))
    counts = rl::expand(rl::reshape(repeats, {1}), {n});
  else
    check(repeats.size(0) == n, "repeats must have the same size as input along dim, but got "
          "repeats.size(0) = ", repeats.size(0), " and input.size(", d, ") = ", n);
  return rl::index_select(in, d, rl::repeat_interleave(counts, output_size));
}

Tensor repeat_interleave_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                             std::optional<int64_t> output_size) {
  check(repeats >= 0, "Repeats must be non-negative");
  Tensor in = dim ? self : rl::flatten(self, 0, -1);
  const int64_t d = wrap_dim(dim.value_or(0), in.dim());
  if (in.dim() == 0) in = rl::reshape(in, {1});
  check(!output_size || *output_size == in.size(d) * repeats,
      "repeat_interleave: Invalid output_size, "
        "expected ", in.size(d) * repeats, " but got ", output_size.value_or(0));
  Dims sizes(in.sizes());
  sizes.insert(size_t(d) + 1, repeats);
  Tensor wide = rl::clone(rl::expand(rl::unsqueeze(in, d + 1), sizes), MemoryFormat::Contiguous);
  return rl::flatten(wide, d, d + 1);
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  check(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
      self.dim(), "D");
  if (self.dim() == 1) return rl::diag_embed(self, diagonal, 0, 1);
  return rl::clone(rl::diagonal(self, diagonal, 0, 1), MemoryFormat::Contiguous);
}
Tensor diagflat(const Tensor& self, int64_t offset) {
  return rl::diag(rl::view(rl::contiguous(self), {-1}), offset);
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  check(x.dim() == 1, "x must be a one-dimensional tensor.");
  const int64_t n = N.value_or(x.size(0));
  check(n >= 0, "N must be non-negative.");
  const DType d = is_integral(x.dtype(), true) ? DType::Int64 : x.dtype();
  Tensor base = rl::to(x, d);
  std::vector<Tensor> columns;
  Tensor power = rl::full(x.sizes(), Scalar(1), d, x.device());
  for (int64_t k = 0; k < n; ++k) {
    columns.push_back(rl::unsqueeze(power, 1));
    if (k + 1 < n) power = power * base;
  }
  if (columns.empty()) return rl::empty({x.size(0), 0}, d, x.device(), std::nullopt);
  if (!increasing) std::reverse(columns.begin(), columns.end());
  return rl::cat(columns, 1);
}

// All increasing index tuples, in lexicographic order.
Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  check(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  check(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return rl::empty({0}, self.dtype(), self.device(), std::nullopt);
  const int64_t n = self.size(0);
  std::vector<int64_t> all, at(size_t(r), 0);
  if (!with_replacement)
    for (int64_t i = 0; i < r; ++i) at[size_t(i)] = i;
  bool more = with_replacement ? n > 0 : r <= n;
  while (more) {
    all.insert(all.end(), at.begin(), at.end());
    int64_t i = r - 1;
    auto last = [&](int64_t k) { return with_replacement ? n - 1 : n - r + k; };
    while (i >= 0 && at[size_t(i)] == last(i)) --i;
    more = i >= 0;
    if (!more) break;
    ++at[size_t(i)];
    for (int64_t k = i + 1; k < r; ++k)
      at[size_t(k)] = with_replacement ? at[size_t(i)] : at[size_t(k - 1)] + 1;
  }
  Tensor rows = rl::index_select(self, 0, tensor_from_ints(all));
  return rl::view(rows, {int64_t(all.size()) / r, r});
}

// ---- stacks
namespace {
std::vector<Tensor> at_least(TensorList tensors, int64_t dims) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) {
    Tensor x = t.dim() == 0 ? rl::reshape(t, {1}) : t;
    if (dims >= 2 && x.dim() == 1) x = rl::unsqueeze(x, 0);
    if (dims == 3 && x.dim() == 2) x = rl::unsqueeze(x, -1);
    out.push_back(x);
  }
  return out;
}
}  // namespace

Tensor hstack(TensorList tensors) {
  check(!tensors.empty(), "hstack expects a non-empty TensorList");
  const std::vector<Tensor> parts = at_least(tensors, 1);
  return rl::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(TensorList tensors) {
  check(!tensors.empty(), "vstack expects a non-empty TensorList");
  return rl::cat(at_least(tensors, 2), 0);
}
Tensor dstack(TensorList tensors) {
  check(!tensors.empty(), "dstack expects a non-empty TensorList");
  return rl::cat(at_least(tensors, 3), 2);
}
Tensor column_stack(TensorList tensors) {
  check(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors)
    parts.push_back(t.dim() <= 1 ? rl::reshape(t, {t.numel(), 1}) : t);
  return rl::cat(parts, 1);
}

namespace {
int64_t split_dim(const Tensor& self, const char* name, int64_t needs, int64_t dim) {
  check(self.dim() >= needs, "torch.", name, " requires a tensor with at least ", needs,
        " dimension, but got a tensor with ", self.dim(), " dimensions!");
  return self.dim() == 1 ? 0 : dim;
}
std::vector<Tensor> split_equal(const Tensor& self, int64_t sections, const char* name,
    int64_t dim) {
  const int64_t n = self.size(dim);
  check(sections != 0 && n % sections == 0, "torch.", name, " attempted to split along dimension "
      "", dim,
        ", but the size of the dimension ", n, " is not divisible by the split_size ", sections,
        "!");
  return rl::tensor_split(self, sections, dim);
}
}  // namespace

std::vector<Tensor> hsplit_sections(const Tensor& self, int64_t sections) {
  return split_equal(self, sections, "hsplit", split_dim(self, "hsplit", 1, 1));
}
std::vector<Tensor> vsplit_sections(const Tensor& self, int64_t sections) {
  return split_equal(self, sections, "vsplit", split_dim(self, "vsplit", 2, 0));
}
std::vector<Tensor> dsplit_sections(const Tensor& self, int64_t sections) {
  return split_equal(self, sections, "dsplit", split_dim(self, "dsplit", 3, 2));
}
std::vector<Tensor> hsplit_indices(const Tensor& self, IntRef indices) {
  return rl::tensor_split(self, indices, split_dim(self, "hsplit", 1, 1));
}
std::vector<Tensor> vsplit_indices(const Tensor& self, IntRef indices) {
  return rl::tensor_split(self, indices, split_dim(self, "vsplit", 2, 0));
}
std::vector<Tensor> dsplit_indices(const Tensor& self, IntRef indices) {
  return rl::tensor_split(self, indices, split_dim(self, "dsplit", 3, 2));
}

}  // namespace composite
}  // namespace rl
