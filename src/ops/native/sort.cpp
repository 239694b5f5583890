// sort, topk, kthvalue, median and mode along a dimension.
#include <cmath>
#include <numeric>

#include "ops/sort_lines.h"

namespace rl::native {
namespace {

void refuse_complex(const Tensor& t, const char* name) {
  check_type(!t.is_complex(), " ", name, " does not support complex dtypes on CPU");
}

void move_item(char* to, const char* from, int64_t item) { std::memcpy(to, from, size_t(item)); }

}  // namespace

namespace {

// Without `stable` the places of equal elements are those that the library's introsort leaves, as
// programs see them from PyTorch; lines longer than this are sorted stably, which is faster.
constexpr int64_t kUnstable = 4096;

using Pair = std::pair<uint64_t, int64_t>;
bool by_key(const Pair& a, const Pair& b) { return a.first < b.first; }

void unstable_order(const uint64_t* keys, int64_t n, std::vector<Pair>& pairs, int64_t* order) {
  pairs.resize(size_t(n));
  for (int64_t i = 0; i < n; ++i) pairs[size_t(i)] = {keys[i], i};
  std::sort(pairs.begin(), pairs.end(), by_key);
  for (int64_t i = 0; i < n; ++i) order[i] = pairs[size_t(i)].second;
}

}  // namespace

std::tuple<Tensor, Tensor> sort_stable(const Tensor& self, std::optional<bool> stable, int64_t dim,
                                       bool descending) {
  const int64_t d = wrap_dim(dim, self.dim());
  refuse_complex(self, "Sort");
  Tensor values = empty_like_tensor(self, self.dtype()), indices = empty_like_tensor(self,
      DType::Int64);
  if (values.is_meta() || self.numel() == 0) return {values, indices};
  const int64_t n = line_size(self, d), item = self.itemsize();
  const Lines from(self, d, 1), to(values, d, 1), at(indices, d, 1);
  const bool loose = !stable.value_or(false) && n > 16 && n <= kUnstable;
  for_lines(line_count(self, d), n, [&](int64_t begin, int64_t end) {
    StableSort sorter;
    std::vector<Pair> pairs;
    std::vector<uint64_t> keys(static_cast<size_t>(n));
    std::vector<int64_t> order(static_cast<size_t>(n));
    const GatherRow row = gather_row(item);
    for (int64_t l = begin; l < end; ++l) {
      const char* in = from.line(l);
      sort_keys(self.dtype(), in, from.step(), n, descending, keys.data());
      if (loose) unstable_order(keys.data(), n, pairs, order.data());
      else sorter.run(keys.data(), n, sort_key_bits(self.dtype()), order.data());
      row(to.line(l), to.step(), in, RowPlaces{order.data(), from.step(), 0}, n);
      int64_t* out = reinterpret_cast<int64_t*>(at.line(l));
      for (int64_t i = 0; i < n; ++i) out[i * at.step()] = order[size_t(i)];
    }
  });
  return {values, indices};
}

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  return sort_stable(self, false, dim, descending);
}

// ---- topk
namespace {

// The elements that can be among the first `take`, in their order. Those that are not smaller than
// the `take`-th of the beginning would never enter the heap of a partial sort.
void candidates(const std::vector<uint64_t>& keys, int64_t take, std::vector<Pair>& out) {
  const size_t n = keys.size(), chunk = std::min(n, size_t(std::max<int64_t>(512, take * 16)));
  out.clear();
  for (size_t i = 0; i < chunk; ++i) out.emplace_back(keys[i], int64_t(i));
  if (chunk == n) return;
  std::vector<uint64_t> begin(keys.begin(), keys.begin() + ptrdiff_t(chunk));
  std::nth_element(begin.begin(), begin.begin() + take - 1, begin.end());
  const uint64_t limit = begin[size_t(take - 1)];
  for (size_t i = chunk; i < n; ++i)
    if (keys[i] < limit) out.emplace_back(keys[i], int64_t(i));
}

}  // namespace

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest,
    bool sorted) {
  const int64_t d = wrap_dim(dim, self.dim()), n = line_size(self, d);
  check(k >= 0 && k <= n, "selected index k out of range");
  refuse_complex(self, "topk");
  check_implemented(self.dtype() != DType::Bool, "topk does not support bool dtypes on CPU");
  Dims sizes(self.sizes());
  if (!sizes.empty()) sizes[size_t(d)] = k;
  Tensor values = empty_tensor(sizes, self.dtype(), self.device());
  Tensor indices = empty_tensor(sizes, DType::Int64, self.device());
  if (values.is_meta() || values.numel() == 0) return {values, indices};
  const int64_t take = self.dim() == 0 ? 1 : k, item = self.itemsize();
  const Lines from(self, d, 1), to(values, d, 1), at(indices, d, 1);
  for_lines(line_count(self, d), n, [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> keys(static_cast<size_t>(n));
    std::vector<Pair> queue;
    for (int64_t l = begin; l < end; ++l) {
      const char* in = from.line(l);
      sort_keys(self.dtype(), in, from.step(), n, largest, keys.data());
      if (take * 64 <= n) {  // a heap of the few is cheaper than parting the line
        candidates(keys, take, queue);
        std::partial_sort(queue.begin(), queue.begin() + take, queue.end(), by_key);
      } else {
        queue.resize(size_t(n));
        for (int64_t i = 0; i < n; ++i) queue[size_t(i)] = {keys[size_t(i)], i};
        const auto first = queue.begin();
        std::nth_element(first, first + take - 1, queue.end(), by_key);
        if (sorted) std::sort(first, first + take - 1, by_key);
      }
      for (int64_t i = 0; i < take; ++i) {
        const int64_t where = queue[size_t(i)].second;
        move_item(to.line(l) + i * to.step() * item, in + where * from.step() * item, item);
        reinterpret_cast<int64_t*>(at.line(l))[i * at.step()] = where;
      }
    }
  });
  return {values, indices};
}

// ---- one element of each line
namespace {

// Hoare's selection with the median of three as pivot; afterwards order[k] is the k-th.
void select_kth(const uint64_t* keys, int64_t* order, int64_t n, int64_t k) {
  auto less = [&](int64_t a, int64_t b) { return keys[a] < keys[b]; };
  int64_t low = 0, high = n - 1;
  while (high > low + 1) {
    std::swap(order[low + (high - low) / 2], order[low + 1]);
    if (less(order[high], order[low + 1])) std::swap(order[low + 1], order[high]);
    if (less(order[high], order[low])) std::swap(order[low], order[high]);
    if (less(order[low], order[low + 1])) std::swap(order[low + 1], order[low]);
    const int64_t pivot = order[low];
    int64_t i = low + 1, j = high;
    for (;;) {
      do ++i; while (less(order[i], pivot));
      do --j; while (less(pivot, order[j]));
      if (j < i) break;
      std::swap(order[i], order[j]);
    }
    std::swap(order[low], order[j]);
    if (j <= k) low = i;
    if (j >= k) high = j - 1;
  }
  if (high == low + 1 && less(order[high], order[low])) std::swap(order[low], order[high]);
}

Dims reduced_sizes(const Tensor& self, int64_t d, bool keepdim) {
  Dims sizes(self.sizes());
  if (sizes.empty()) return sizes;
  if (keepdim) sizes[size_t(d)] = 1;
  else sizes.erase(size_t(d));
  return sizes;
}

void check_not_empty(const Tensor& self, int64_t d, const char* name) {
  check_index(line_size(self, d) > 0, name, "(): Expected reduction dim ", d,
              " to have non-zero size.");
}

// pick(keys, order, n) -> the position whose element is the result of a line.
template <class F>
std::tuple<Tensor, Tensor> pick_lines(const Tensor& self, int64_t d, bool keepdim, F&& pick) {
  const Dims sizes = reduced_sizes(self, d, keepdim);
  Tensor values = empty_tensor(sizes, self.dtype(), self.device());
  Tensor indices = empty_tensor(sizes, DType::Int64, self.device());
  if (values.is_meta() || values.numel() == 0) return {values, indices};
  const int64_t n = line_size(self, d), item = self.itemsize();
  const Lines from(self, d, 1);
  char* to = static_cast<char*>(values.data());
  int64_t* at = indices.data<int64_t>();
  for_lines(line_count(self, d), n, [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> keys(static_cast<size_t>(n));
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (int64_t l = begin; l < end; ++l) {
      const char* in = from.line(l);
      sort_keys(self.dtype(), in, from.step(), n, false, keys.data());
      std::iota(order.begin(), order.end(), 0);
      at[l] = pick(keys.data(), order.data(), n);
      move_item(to + l * item, in + at[l] * from.step() * item, item);
    }
  });
  return {values, indices};
}

void refuse(const Tensor& self, const char* name) {
  if (self.is_complex() || self.dtype() == DType::Bool) dtype_not_implemented(name, self.dtype());
}

// The (lower) median; `skip`: NaN does not count, otherwise the first NaN is the result.
int64_t median_of(DType dtype, const uint64_t* keys, int64_t* order, int64_t n, bool skip) {
  int64_t count = n;
  if (is_floating(dtype)) {
    const uint64_t nan = nan_key(dtype);
    const int64_t nans = std::count(keys, keys + n, nan);
    if (nans > 0 && (!skip || nans == n)) return std::find(keys, keys + n, nan) - keys;
    count = n - nans;
  }
  int64_t* const middle = order + (count - 1) / 2;
  std::nth_element(order, middle, order + n,
                   [keys](int64_t a, int64_t b) {
                     return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
                   });
  return *middle;
}

std::tuple<Tensor, Tensor> median_lines(const Tensor& self, int64_t dim, bool keepdim, bool skip,
                                        const char* name) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_not_empty(self, d, "median");
  refuse(self, name);
  return pick_lines(self, d, keepdim, [&](const uint64_t* keys, int64_t* order, int64_t n) {
    return median_of(self.dtype(), keys, order, n, skip);
  });
}

Tensor median_of_all(const Tensor& self, bool skip) {
  refuse(self, "median_cpu");
  Tensor out = empty_tensor({}, self.dtype(), self.device());
  if (out.is_meta()) return out;
  if (self.numel() == 0) {
    fill(out, is_floating(self.dtype()) ? Scalar(std::nan("")) : Scalar(INT64_MIN));
    return out;
  }
  const Tensor flat = view(contiguous(self), {self.numel()});
  return std::get<0>(median_lines(flat, 0, false, skip, "median_cpu"));
}

}  // namespace

std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_not_empty(self, d, "kthvalue");
  check(k >= 1 && k <= line_size(self, d), "kthvalue(): selected number k out of range for "
      "dimension ",
        d);
  refuse(self, "kthvalue_cpu");
  return pick_lines(self, d, keepdim, [&](const uint64_t* keys, int64_t* order, int64_t n) {
    select_kth(keys, order, n, k - 1);
    return order[k - 1];
  });
}

std::tuple<Tensor, Tensor> median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return median_lines(self, dim, keepdim, false, "median_out");
}
std::tuple<Tensor, Tensor> nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return median_lines(self, dim, keepdim, true, "median_out");
}
Tensor median(const Tensor& self) { return median_of_all(self, false); }
Tensor nanmedian(const Tensor& self) { return median_of_all(self, true); }

// ---- mode: of the most frequent elements the smallest
namespace {

// The place of the mode. Equal elements lie as the library's introsort leaves them, and the last
// one
// of the run is taken. Short lines compare NaN as C++ does (never less, never equal).
int64_t mode_of(const uint64_t* keys, int64_t n, uint64_t nan, std::vector<Pair>& pairs) {
  pairs.resize(size_t(n));
  for (int64_t i = 0; i < n; ++i) pairs[size_t(i)] = {keys[i], i};
  if (nan && n <= 16)
    std::sort(pairs.begin(), pairs.end(), [nan](const Pair& a, const Pair& b) {
      return a.first < b.first && b.first != nan;
    });
  else
    std::sort(pairs.begin(), pairs.end(), by_key);
  int64_t best = 0, longest = 0, run = 0;
  for (size_t i = 0; i < size_t(n); ++i) {
    const uint64_t key = pairs[i].first;
    run = i > 0 && key == pairs[i - 1].first && !(nan && key == nan) ? run + 1 : 1;
    if (run <= longest) continue;
    longest = run;
    best = pairs[i].second;
  }
  return best;
}

}  // namespace

std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_not_empty(self, d, "mode");
  if (self.is_complex()) dtype_not_implemented("mode_cpu", self.dtype());
  const uint64_t nan = is_floating(self.dtype()) ? nan_key(self.dtype()) : 0;
  return pick_lines(self, d, keepdim, [&](const uint64_t* keys, int64_t*, int64_t n) {
    std::vector<Pair> pairs;
    return mode_of(keys, n, nan, pairs);
  });
}

}  // namespace rl::native
