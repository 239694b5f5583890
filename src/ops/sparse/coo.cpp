// Coordinate tensors: their places as numbers, sorting, and adding up repeated places.
#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::sparse {

namespace {

// out[g] = sum of rows[order[i]] over the group g's range: `width` numbers a row.
template <class T>
void add_groups(const T* rows, T* out, const Numbers& order, const Numbers& starts,
                int64_t width) {
  const int64_t groups = int64_t(starts.size()) - 1;
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(width, 1));
  parallel_for(0, groups, grain, [&](int64_t from, int64_t to) {
    for (int64_t g = from; g < to; ++g) {
      T* line = out + g * width;
      const T* first = rows + order[size_t(starts[size_t(g)])] * width;
      std::copy(first, first + width, line);
      for (int64_t i = starts[size_t(g)] + 1; i < starts[size_t(g) + 1]; ++i) {
        const T* row = rows + order[size_t(i)] * width;
        for (int64_t k = 0; k < width; ++k) {
          if constexpr (std::is_same_v<T, bool>) line[k] = line[k] || row[k];
          else line[k] = T(line[k] + row[k]);
        }
      }
    }
  });
}

}  // namespace

Numbers flat_places(const Tensor& indices, IntRef sizes) {
  const Tensor idx = native::contiguous(indices);
  const int64_t dims = idx.size(0), n = idx.size(1);
  Numbers out(size_t(n), 0);
  if (n == 0 || dims == 0) return out;
  const int64_t* p = idx.data<int64_t>();
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t size = sizes[size_t(d)];
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = p[d * n + i];
      check(at >= 0, "found negative index ", at, " for dim ", d);
      check(at < size, "size is inconsistent with indices: for dim ", d, ", size is ", size,
            " but found index ", at);
      out[size_t(i)] = out[size_t(i)] * size + at;
    }
  }
  return out;
}

Tensor coalesced(const Tensor& self) {
  const SparseImpl& s = sparse_impl(self);
  if (s.coalesced) return self;
  const int64_t n = s.nnz();
  if (n < 2) return make_coo(s.indices, s.values, s.sizes, true);
  const Numbers key = flat_places(s.indices, s.sizes);
  Numbers order(size_t(n), 0), starts, first;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return key[size_t(a)] < key[size_t(b)]; });
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = order[size_t(i)];
    if (i && key[size_t(at)] == key[size_t(order[size_t(i - 1)])]) continue;
    starts.push_back(i);
    first.push_back(at);
  }
  starts.push_back(n);
  const Tensor values = native::contiguous(s.values);
  Dims shape(values.sizes());
  shape[0] = int64_t(first.size());
  Tensor sums = empty_tensor(shape, values.dtype(), self.device());
  const int64_t width = values.numel() / n;
  if (width) {
    visit(AllTypes{}, values.dtype(), "coalesce", [&]<class T>() {
      add_groups(values.data<T>(), sums.data<T>(), order, starts, width);
    });
  }
  return make_coo(take_columns(s.indices, first), sums, s.sizes, true);
}

Tensor empty_coo(IntRef sizes, int64_t sparse_dim, DType dtype, Device device) {
  Dims shape{0};
  for (size_t d = size_t(sparse_dim); d < sizes.size(); ++d) shape.push_back(sizes[d]);
  return make_coo(empty_tensor({sparse_dim, 0}, DType::Int64, device),
                  empty_tensor(shape, dtype, device), sizes, true);
}

Tensor empty_compressed(Layout layout, IntRef sizes, DType dtype, DType index_dtype,
                        Device device) {
  check(!is_block(layout), "empty_sparse_compressed expected sparse compressed (non-block) tensor "
        "layout but got ", layout == Layout::SparseBsr ? "SparseBsr" : "SparseBsc");
  check(sizes.size() >= 2, "torch.empty: Only batched sparse compressed (non-block) tensors are "
        "supported, but got size ", sizes);
  Dims pointers(sizes.slice(0, sizes.size() - 2)), plain = pointers;
  pointers.push_back(sizes[sizes.size() - (is_row_major(layout) ? 2 : 1)] + 1);
  plain.push_back(0);
  return make_compressed(layout, zeros(pointers, index_dtype, device),
                         empty_tensor(plain, index_dtype, device),
                         empty_tensor(plain, dtype, device), sizes);
}

}  // namespace rl::sparse
