// Distinct elements and slices, membership, places in sorted sequences, counts.
#include <numeric>

#include "kernels/iter/promote.h"
#include "ops/sort_lines.h"

namespace rl::native {
namespace {

using Triple = std::tuple<Tensor, Tensor, Tensor>;

Tensor ints(IntRef sizes) { return empty_tensor(sizes, DType::Int64); }

std::vector<uint64_t> keys_of(const Tensor& row_major) {
  std::vector<uint64_t> keys(size_t(row_major.numel()));
  sort_keys(row_major.dtype(), row_major.data(), 1, row_major.numel(), false, keys.data());
  return keys;
}

// NaN differs from everything, itself too.
uint64_t never_equal(DType d) { return is_floating(d) ? nan_key(d) : 0; }

// Groups of neighbours in `order`: the first of each group, and what inverse and counts say.
// same(a, b): are the elements at positions a and b equal?
template <class Same>
Triple grouped(const Tensor& items, int64_t n, const int64_t* order, IntRef inverse_sizes,
               bool inverse, bool counts, Same&& same) {
  std::vector<int64_t> firsts, sizes;
  Tensor back = inverse ? ints(inverse_sizes) : ints({0});
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || !same(order[i - 1], order[i])) {
      firsts.push_back(order[i]);
      sizes.push_back(0);
    }
    ++sizes.back();
    if (inverse) back.data<int64_t>()[order[i]] = int64_t(firsts.size()) - 1;
  }
  const int64_t groups = int64_t(firsts.size());
  Dims out_sizes(items.sizes());
  out_sizes[0] = groups;
  Tensor out = empty_tensor(out_sizes, items.dtype());
  const int64_t width = n == 0 ? 0 : items.nbytes() / n;
  for (int64_t g = 0; g < groups; ++g)
    std::memcpy(static_cast<char*>(out.data()) + g * width,
                static_cast<char*>(items.data()) + firsts[size_t(g)] * width, size_t(width));
  Tensor number = counts ? ints({groups}) : ints({0});
  if (counts) std::copy(sizes.begin(), sizes.end(), number.data<int64_t>());
  return {out, back, number};
}

void refuse_unique(const Tensor& self, const char* name) {
  if (self.is_complex()) dtype_not_implemented(name, self.dtype());
  check_implemented(!self.is_meta(), name, ": not for meta tensors, whose elements are unknown");
}

Tensor flat_of(const Tensor& self) { return view(contiguous(self), {self.numel()}); }

}  // namespace

Triple _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  refuse_unique(self, "unique");
  const Tensor flat = flat_of(self);
  const std::vector<uint64_t> keys = keys_of(flat);
  std::vector<int64_t> order(keys.size());
  StableSort().run(keys.data(), flat.numel(), sort_key_bits(self.dtype()), order.data());
  const uint64_t nan = never_equal(self.dtype());
  return grouped(flat, flat.numel(), order.data(), self.sizes(), return_inverse, return_counts,
                 [&](int64_t a, int64_t b) {
    return keys[size_t(a)] == keys[size_t(b)] && !(nan && keys[size_t(a)] == nan);
  });
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = _unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

namespace {

// The slices along `dim` as rows of a matrix.
struct Rows {
  Tensor items;  // row-major, `dim` first
  std::vector<uint64_t> keys;
  int64_t n, width;
  uint64_t nan;

  Rows(const Tensor& self, int64_t dim) {
    const int64_t d = wrap_dim(dim, self.dim());
    items = contiguous(self.dim() == 0 ? self : transpose(self, 0, d));
    n = self.dim() == 0 ? 1 : self.size(d);
    int64_t zeros = 0;
    for (int64_t s : self.sizes()) zeros += s == 0;
    check(zeros == 0 || (n == 0 && zeros == 1), zeros == 1 || n != 0
              ? "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                  "applied"
              : "Number of zero sized dimensions is more than one, so unique cannot be applied ");
    width = n == 0 ? 0 : self.numel() / n;
    keys = keys_of(items);
    nan = never_equal(self.dtype());
  }
  const uint64_t* row(int64_t i) const { return keys.data() + i * width; }
  bool same(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i)
      if (row(a)[i] != row(b)[i] || (nan && row(a)[i] == nan)) return false;
    return true;
  }
  bool less(int64_t a, int64_t b) const {
    return std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width);
  }
};

Triple unique_rows(const Tensor& self, int64_t dim, bool sort, bool inverse, bool counts) {
  refuse_unique(self, "unique_dim");
  const int64_t d = wrap_dim(dim, self.dim());
  const Rows rows(self, d);
  std::vector<int64_t> order(size_t(rows.n));
  std::iota(order.begin(), order.end(), 0);
  if (sort)
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return rows.less(a, b); });
  auto [out, back, number] = grouped(rows.items, rows.n, order.data(), {rows.n}, inverse, counts,
                                     [&](int64_t a, int64_t b) { return rows.same(a, b); });
  return {self.dim() == 0 ? out : transpose(out, 0, d), back, number};
}

}  // namespace

Triple unique_dim(const Tensor& self, int64_t dim, bool, bool return_inverse, bool return_counts) {
  return unique_rows(self, dim, true, return_inverse, return_counts);
}
Triple unique_dim_consecutive(const Tensor& self, int64_t dim, bool return_inverse,
                              bool return_counts) {
  return unique_rows(self, dim, false, return_inverse, return_counts);
}
Triple unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                          std::optional<int64_t> dim) {
  if (dim) return unique_rows(self, *dim, false, return_inverse, return_counts);
  refuse_unique(self, "unique");
  const Tensor flat = flat_of(self);
  const std::vector<uint64_t> keys = keys_of(flat);
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const uint64_t nan = never_equal(self.dtype());
  return grouped(flat, flat.numel(), order.data(), self.sizes(), return_inverse, return_counts,
                 [&](int64_t a, int64_t b) {
    return keys[size_t(a)] == keys[size_t(b)] && !(nan && keys[size_t(a)] == nan);
  });
}

// ---- isin
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  for (const Tensor* t : {&elements, &test_elements})
    check_implemented(!t->is_complex() && t->dtype() != DType::Bool,
                      "Unsupported input type encountered for isin(): ", t->dtype());
  const Device device = test_elements.is_meta() ? test_elements.device() : elements.device();
  Tensor out = empty_tensor(elements.sizes(), DType::Bool, device);
  if (out.is_meta()) return out;
  const Tensor both[] = {elements, test_elements};
  const DType common = result_type(both);
  const std::vector<uint64_t> keys = keys_of(contiguous(to_dtype(elements, common)));
  std::vector<uint64_t> among = keys_of(flat_of(to_dtype(test_elements, common)));
  std::sort(among.begin(), among.end());
  const uint64_t nan = never_equal(common);
  bool* p = out.data<bool>();
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool found = !(nan && keys[i] == nan) && std::binary_search(among.begin(), among.end(),
        keys[i]);
    p[i] = found != invert;
  }
  return out;
}

// ---- searchsorted
namespace {

// The first place in n increasing values whose value is not below (right: above) v. NaN counts as
// the largest number.
template <class T>
int64_t place_of(const T* sequence, const int64_t* sorter, int64_t n, T v, bool right) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T m = sequence[sorter ? sorter[middle] : middle];
    const bool reached = right ? m > v : m >= v;
    if (reached) high = middle;
    else low = middle + 1;
  }
  return low;
}

Tensor search(const Tensor& sequence, const Tensor& self, const Tensor& sorter, bool right,
              bool out_int32) {
  const Device device = sequence.is_meta() ? sequence.device() : self.device();
  Tensor out = empty_tensor(self.sizes(), out_int32 ? DType::Int32 : DType::Int64, device);
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor both[] = {sequence, self};
  const DType common = result_type(both);
  const Tensor s = contiguous(to_dtype(sequence, common)), v = contiguous(to_dtype(self, common));
  const Tensor order = sorter.defined() ? contiguous(sorter) : Tensor();
  const int64_t n = sequence.size(-1), per = sequence.dim() == 1 ? v.numel() : self.size(-1);
  visit(RealTypes{}, common, "searchsorted_out_cpu", [&]<class T>() {
    parallel_for(0, v.numel(), 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i / per * n;
        const int64_t place = place_of<T>(s.data<T>() + at, order.defined() ?
            order.data<int64_t>() + at : nullptr,
                                          n, v.data<T>()[i], right);
        if (out_int32) out.data<int32_t>()[i] = int32_t(place);
        else out.data<int64_t>()[i] = place;
      }
    });
  });
  return out;
}

bool side_is_right(bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  check(*side == "left" || *side == "right", "torch.searchsorted(): side can only be 'left' or "
      "'right' "
        "but got ", *side);
  check(!right || *side == "right", "torch.searchsorted(): side and right can't be set to "
      "opposites, got "
        "side of left while right was True");
  return *side == "right";
}

void check_sorter(const Tensor& sequence, const Tensor& sorter) {
  if (!sorter.defined()) return;
  check(sorter.sizes() == sequence.sizes(), "torch.searchsorted(): boundary and sorter must have "
      "the same "
        "size, but got boundary tensor ", sequence.sizes(), "and got sorter tensor ",
        sorter.sizes());
  check(sorter.dtype() == DType::Int64, "torch.searchsorted(): sorter must be a tensor of long "
      "dtype but "
        "got dtype ", sorter.dtype());
  if (sorter.is_meta() || sorter.numel() == 0) return;
  const Tensor t = contiguous(sorter);
  check(first_outside(t.data<int64_t>(), t.numel(), 0, sorter.size(-1)) < 0,
        "torch.searchsorted(): sorter index out of range");
}

}  // namespace

Tensor searchsorted(const Tensor& sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  const bool to_right = side_is_right(right, side);
  check(sequence.dim() > 0, "torch.searchsorted(): boundaries tensor should have positive "
      "dimension, but "
        "got 0 dimension");
  if (self.dim() == 0)
    check(sequence.dim() == 1, "torch.searchsorted(): input value can be a scalar only when "
        "boundaries "
          "tensor dimension is 1, but we got boundaries tensor dim(", sequence.dim(),
          ") and input value's dim(", self.dim(), ") numel(", self.numel(), ")");
  bool fits = sequence.dim() == 1 || sequence.dim() == self.dim();
  for (int64_t d = 0; fits && sequence.dim() > 1 && d + 1 < self.dim(); ++d)
    fits = self.size(d) == sequence.size(d);
  check(fits, "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
      "dimensions "
        "of boundaries tensor and input value tensor must match, but we got boundaries tensor ",
        sequence.sizes(), " and input value tensor ", self.sizes());
  check_sorter(sequence, sorter);
  return search(sequence, self, sorter, to_right, out_int32);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  check(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
      boundaries.dim(),
        ")");
  return search(boundaries, self, Tensor(), right, out_int32);
}

// ---- bincount
Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  check(minlength >= 0, "minlength should be >= 0");
  if (!is_integral(self.dtype())) dtype_not_implemented("bincount_cpu", self.dtype());
  const Tensor at = index_numbers(self);
  const int64_t* p = at.data<int64_t>();
  const int64_t n = at.numel();
  if (self.dim() == 1 && n == 0) return full({minlength}, Scalar(0), DType::Int64, self.device());
  const Span span = n ? span_of(p, n) : Span{0, -1};
  check(self.dim() == 1 && span.low >= 0, "bincount only supports 1-d non-negative integral "
      "inputs.");
  check(!weights.defined() || (weights.dim() == 1 && weights.numel() == n),
        "weights should be 1-d and have the same length as input");
  const int64_t bins = std::max(span.high + 1, minlength);
  const DType d = !weights.defined() ? DType::Int64
                  : weights.dtype() == DType::Float ? DType::Float : DType::Double;
  Tensor out = full({bins}, Scalar(0), d, self.device());
  const Tensor w = weights.defined() ? contiguous(to_dtype(weights, d)) : Tensor();
  visit(TypeList<int64_t, float, double>{}, d, "bincount_cpu", [&]<class T>() {
    T* to = out.data<T>();
    for (int64_t i = 0; i < n; ++i) to[p[i]] += w.defined() ? w.data<T>()[i] : T(1);
  });
  return out;
}

}  // namespace rl::native
