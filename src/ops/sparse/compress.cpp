// Compressed layouts: to and from coordinates, and from strided tensors. A batch of matrices has
// one pointer list and one index list each, all of one length.
#include <algorithm>
#include <numeric>

#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::sparse {

namespace {

int64_t product(IntRef s) {
  int64_t n = 1;
  for (int64_t x : s) n *= x;
  return n;
}

// Geometry of a compressed tensor: `lines` runs along the pointers, `across` along plain indices,
// both counted in blocks.
struct Frame {
  Dims batch_sizes, dense_sizes;
  int64_t batch = 1, lines = 0, across = 0, block_rows = 1, block_cols = 1;
  bool by_rows = true;
};

Frame frame_of(IntRef sizes, const Target& t) {
  Frame f;
  const size_t n = sizes.size(), dense = size_t(t.dense_dim);
  check(n >= dense + 2, "sparse compressed tensors need two sparse dimensions, got a tensor of ", n,
        " dimensions with ", dense, " dense ones");
  f.batch_sizes = sizes.slice(0, n - dense - 2);
  f.dense_sizes = sizes.slice(n - dense);
  f.batch = product(f.batch_sizes);
  f.block_rows = t.rows;
  f.block_cols = t.cols;
  f.by_rows = is_row_major(t.layout);
  const int64_t rows = sizes[n - dense - 2] / t.rows, cols = sizes[n - dense - 1] / t.cols;
  f.lines = f.by_rows ? rows : cols;
  f.across = f.by_rows ? cols : rows;
  return f;
}

Dims with_tail(const Dims& head, std::initializer_list<int64_t> middle, IntRef tail = {}) {
  Dims out = head;
  for (int64_t x : middle) out.push_back(x);
  for (int64_t x : tail) out.push_back(x);
  return out;
}

struct Pointers {
  Numbers compressed, plain;
  Frame frame;
  int64_t nnz;
};

// Throws unless every index may be used as an address.
void check_lists(const SparseImpl& s, const Frame& f, const int64_t* compressed,
                 const int64_t* plain) {
  const int64_t nnz = s.nnz();
  check(s.compressed.numel() == f.batch * (f.lines + 1) && s.plain.numel() == f.batch * nnz &&
            s.values.size(int64_t(f.batch_sizes.size())) == nnz,
        "sparse compressed tensor: the shapes of its parts do not fit its size ", IntRef(s.sizes));
  for (int64_t b = 0; b < f.batch; ++b) {
    int64_t last = 0;
    for (int64_t i = 0; i <= f.lines; ++i) {
      const int64_t at = compressed[b * (f.lines + 1) + i];
      check(at >= last && at <= nnz, "sparse compressed tensor: compressed indices must ascend "
            "from 0 to nnz (", nnz, "), but got ", at);
      last = at;
    }
  }
  const uint64_t across = uint64_t(f.across);
  for (int64_t i = 0, n = s.plain.numel(); i < n; ++i)
    check(uint64_t(plain[i]) < across, "sparse compressed tensor: plain index ", plain[i],
          " is out of bounds for size ", f.across);
}

Pointers checked_pointers(const SparseImpl& s, const Frame& f) {
  Pointers p{numbers(s.compressed), numbers(s.plain), f, s.nnz()};
  check_lists(s, f, p.compressed.data(), p.plain.data());
  return p;
}

const char* long_name(Layout l) {
  switch (l) {
    case Layout::SparseCsr: return "SparseCsr";
    case Layout::SparseCsc: return "SparseCsc";
    case Layout::SparseBsr: return "SparseBsr";
    default: return "SparseBsc";
  }
}

const char* lower_name(Layout l) {
  switch (l) {
    case Layout::SparseCsr: return "csr";
    case Layout::SparseCsc: return "csc";
    case Layout::SparseBsr: return "bsr";
    default: return "bsc";
  }
}

void check_blocks(IntRef sizes, const Target& to) {
  if (!is_block(to.layout)) return;
  check(to.rows > 0 && to.cols > 0, "dense_to_sparse_", lower_name(to.layout),
        ": blocksize needs to be positive, but got [", to.rows, ", ", to.cols, "]");
  check(sizes.size() >= size_t(to.dense_dim) + 2, "dense_to_sparse_", lower_name(to.layout),
        ": a tensor of ", sizes.size(), " dimensions has no blocks");
  const size_t n = sizes.size() - size_t(to.dense_dim);
  const int64_t rows = sizes[n - 2], cols = sizes[n - 1];
  check(rows % to.rows == 0 && cols % to.cols == 0, "dense_to_sparse_", lower_name(to.layout),
        ": tensor sparse size (", rows, ",", cols, ") must be divisible by given blocksize (",
        to.rows, ",", to.cols, ")");
}

}  // namespace

Tensor compressed_to_coo(const Tensor& self) {
  const SparseImpl& s = sparse_impl(self);
  const Target t = target_of(self);
  const Frame f = frame_of(s.sizes, t);
  const Pointers p = checked_pointers(s, f);
  const int64_t per = t.rows * t.cols, n = f.batch * p.nnz * per;
  const int64_t batch_dims = int64_t(f.batch_sizes.size());
  Numbers index(size_t((batch_dims + 2) * n), 0);
  int64_t at = 0;
  for (int64_t b = 0; b < f.batch; ++b)
    for (int64_t line = 0; line < f.lines; ++line) {
      const int64_t* ptr = p.compressed.data() + b * (f.lines + 1) + line;
      for (int64_t e = ptr[0]; e < ptr[1]; ++e) {
        const int64_t other = p.plain[size_t(b * p.nnz + e)];
        const int64_t r = (f.by_rows ? line : other) * t.rows;
        const int64_t c = (f.by_rows ? other : line) * t.cols;
        for (int64_t k = 0; k < per; ++k, ++at) {
          int64_t rest = b;
          for (int64_t d = batch_dims; d-- > 0;) {
            index[size_t(d * n + at)] = rest % f.batch_sizes[size_t(d)];
            rest /= f.batch_sizes[size_t(d)];
          }
          index[size_t(batch_dims * n + at)] = r + k / t.cols;
          index[size_t((batch_dims + 1) * n + at)] = c + k % t.cols;
        }
      }
    }
  const Tensor flat = native::contiguous(s.values);
  const Dims shape = with_tail({n}, {}, f.dense_sizes);
  const Tensor values = alias(flat, shape, contiguous_strides(shape), flat.offset());
  const Tensor out = make_coo(from_numbers(index, {batch_dims + 2, n}, DType::Int64,
                                           self.device()), values, s.sizes, false);
  if (t.layout != Layout::SparseCsr) return coalesced(out);
  sparse_impl(out).coalesced = true;
  return out;
}

namespace {

// Sorted coordinates are in the order of CSR already: only the row pointers are new.
Tensor sorted_to_rows(const Tensor& coo) {
  const SparseImpl& s = sparse_impl(coo);
  const Numbers rows = numbers(native::select(s.indices, 0, 0));
  Numbers pointers(size_t(s.sizes[0] + 1), 0);
  for (int64_t r : rows) ++pointers[size_t(r + 1)];
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  return make_compressed(Layout::SparseCsr,
                         from_numbers(pointers, {s.sizes[0] + 1}, DType::Int64, coo.device()),
                         native::contiguous(native::select(s.indices, 0, 1)), s.values, s.sizes);
}

}  // namespace

// Elements are grouped into blocks; those of one block lie together after sorting by block.
Tensor coo_to_compressed(const Tensor& self, const Target& to) {
  const SparseImpl& s0 = sparse_impl(self);
  check(s0.sparse_dim == 2, "coo_to_sparse_", lower_name(to.layout), ": conversion from Sparse to ",
        long_name(to.layout), " for input tensors with sparse_dim()!=2 is not supported");
  check_blocks(s0.sizes, {to.layout, to.rows, to.cols, s0.dense_dim});
  const Tensor coo = coalesced(self);
  const SparseImpl& s = sparse_impl(coo);
  flat_places(s.indices, s.sizes);  // bounds
  if (to.layout == Layout::SparseCsr) return sorted_to_rows(coo);
  const Frame f = frame_of(s.sizes, {to.layout, to.rows, to.cols, s.dense_dim});
  const Numbers index = numbers(s.indices);
  const int64_t n = s.nnz(), per = to.rows * to.cols;
  Numbers key(size_t(n), 0), order(size_t(n), 0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t r = index[size_t(i)] / to.rows, c = index[size_t(n + i)] / to.cols;
    key[size_t(i)] = f.by_rows ? r * f.across + c : c * f.across + r;
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return key[size_t(a)] < key[size_t(b)]; });
  Numbers pointers(size_t(f.lines + 1), 0), plain, place(size_t(n), 0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t e = order[size_t(i)], k = key[size_t(e)];
    if (i == 0 || k != key[size_t(order[size_t(i - 1)])]) {
      plain.push_back(k % f.across);
      ++pointers[size_t(k / f.across + 1)];
    }
    place[size_t(e)] = (int64_t(plain.size()) - 1) * per +
                       index[size_t(e)] % to.rows * to.cols + index[size_t(n + e)] % to.cols;
  }
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  const int64_t blocks = int64_t(plain.size());
  Tensor values;
  if (per == 1) {
    values = take_rows(s.values, order);
  } else {
    // A coordinate tensor of the elements by their place gives the filled blocks.
    const Tensor lines = make_coo(from_numbers(place, {1, n}, DType::Int64, self.device()),
                                  s.values, with_tail({blocks * per}, {}, f.dense_sizes), false);
    values = to_strided(lines);
  }
  if (is_block(to.layout)) {
    const Dims shape = with_tail({blocks}, {to.rows, to.cols}, f.dense_sizes);
    values = alias(values, shape, contiguous_strides(shape), values.offset());
  }
  return make_compressed(to.layout,
                         from_numbers(pointers, {f.lines + 1}, DType::Int64, self.device()),
                         from_numbers(plain, {blocks}, DType::Int64, self.device()), values,
                         s.sizes);
}

namespace {

Tensor one_matrix(const Tensor& dense, const Target& to) {
  return coo_to_compressed(dense_to_coo(dense, 2), to);
}

// Lists of equally many elements stacked along a new first dimension.
Tensor stacked(const std::vector<Tensor>& parts, const Dims& batch_sizes) {
  Dims shape(batch_sizes);
  for (int64_t s : parts[0].sizes()) shape.push_back(s);
  Tensor out = empty_tensor(shape, parts[0].dtype(), parts[0].device());
  Dims one(parts[0].sizes());
  for (size_t i = 0; i < parts.size(); ++i)
    native::copy_into(alias(out, one, contiguous_strides(one), int64_t(i) * parts[0].numel()),
                      parts[i]);
  return out;
}

}  // namespace

Tensor dense_to_compressed(const Tensor& self, const Target& to) {
  check_blocks(self.sizes(), to);
  const Frame f = frame_of(self.sizes(), to);
  const size_t skip = f.batch_sizes.size();
  if (skip == 0) return one_matrix(self, to);
  const Dims shape(self.sizes().slice(skip));
  const Tensor dense = native::contiguous(self);
  check(f.batch > 0, "to_sparse: a batch without matrices has no ", long_name(to.layout), " form");
  std::vector<Tensor> compressed, plain, values;
  for (int64_t b = 0; b < f.batch; ++b) {
    const Tensor m = one_matrix(alias(dense, shape, contiguous_strides(shape),
                                      dense.offset() + b * product(shape)), to);
    const SparseImpl& s = sparse_impl(m);
    check(b == 0 || s.nnz() == plain[0].numel(),
          "Expect the same number of specified elements per batch.");
    compressed.push_back(s.compressed);
    plain.push_back(s.plain);
    values.push_back(s.values);
  }
  return make_compressed(to.layout, stacked(compressed, f.batch_sizes),
                         stacked(plain, f.batch_sizes), stacked(values, f.batch_sizes),
                         self.sizes());
}

Rows as_rows(const Tensor& matrix) {
  const SparseImpl& given = sparse_impl(matrix);
  check(given.sizes.size() == 2 && given.dense_dim == 0,
        "expected a sparse matrix of two sparse dimensions, got size ", IntRef(given.sizes),
        " with ", given.sparse_dim, " sparse and ", given.dense_dim, " dense dimensions");
  const Tensor t = given.layout == Layout::SparseCsr
                       ? matrix
                       : to_layout(matrix, {Layout::SparseCsr});
  const SparseImpl& s = sparse_impl(t);
  auto plain = [](const Tensor& x) {
    return native::contiguous(native::to_dtype(x, DType::Int64));
  };
  const Rows r{s.sizes[0], s.sizes[1], plain(s.compressed), plain(s.plain),
               native::contiguous(s.values)};
  check_lists(s, frame_of(s.sizes, {Layout::SparseCsr}), r.pointers.data<int64_t>(),
              r.nnz() ? r.columns.data<int64_t>() : nullptr);
  return r;
}

}  // namespace rl::sparse
