// Shape functions of sparse tensors. None is a view: indices are new, values are shared where no
// element moves.
#include <algorithm>
#include <numeric>

#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor view_as_real(const Tensor& self);
}

namespace rl::sparse {

namespace {

Tensor swap_rows(const Tensor& indices, int64_t a, int64_t b) {
  Numbers order(size_t(indices.size(0)), 0);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[size_t(a)], order[size_t(b)]);
  return take_rows(indices, order);
}

Dims swapped(IntRef sizes, int64_t a, int64_t b) {
  Dims out(sizes);
  std::swap(out[size_t(a)], out[size_t(b)]);
  return out;
}

Layout transposed_layout(Layout l) {
  switch (l) {
    case Layout::SparseCsr: return Layout::SparseCsc;
    case Layout::SparseCsc: return Layout::SparseCsr;
    case Layout::SparseBsr: return Layout::SparseBsc;
    default: return Layout::SparseBsr;
  }
}

Tensor transpose_compressed(const Tensor& self, int64_t a, int64_t b) {
  const SparseImpl& s = sparse_impl(self);
  check(s.dense_dim == 0, "transpose(): hybrid sparse compressed tensors with dense dimensions are "
        "not supported");
  const int64_t batch = s.batch_dim();
  auto kind = [&](int64_t d) { return d < batch ? "Batch" : "Sparse"; };
  check((a < batch) == (b < batch), "transpose(): can only transpose dimensions of the same type "
        "(Batch, Sparse, Dense), got ", a, "(", kind(a), ") and ", b, "(", kind(b), ")");
  const Dims sizes = swapped(s.sizes, a, b);
  if (a < batch)
    return make_compressed(s.layout, native::transpose(s.compressed, a, b),
                           native::transpose(s.plain, a, b), native::transpose(s.values, a, b),
                           sizes);
  const Tensor values = is_block(s.layout)
                            ? native::transpose(s.values, batch + 1, batch + 2)
                            : s.values;
  return make_compressed(transposed_layout(s.layout), s.compressed, s.plain, values, sizes);
}

// Rows of the lists whose index along sparse dimension `dim` is wanted by `keep(index)`.
template <class F>
Numbers rows_where(const SparseImpl& s, int64_t dim, F keep) {
  const Numbers at = numbers(native::select(s.indices, 0, dim));
  Numbers out;
  for (size_t i = 0; i < at.size(); ++i)
    if (keep(at[i])) out.push_back(int64_t(i));
  return out;
}

Tensor without_row(const Tensor& indices, int64_t dim) {
  Numbers order;
  for (int64_t d = 0; d < indices.size(0); ++d)
    if (d != dim) order.push_back(d);
  return take_rows(indices, order);
}

Tensor add_up(const Tensor& values) {  // over the first dimension
  const Dims shape(values.sizes().slice(1));
  Dims one_row{1};
  for (int64_t s : shape) one_row.push_back(s);
  const Tensor coo = make_coo(zeros({1, values.size(0)}, DType::Int64, values.device()), values,
                              one_row, false);
  const Tensor one = to_strided(coo);
  return alias(one, shape, contiguous_strides(shape), 0);
}

}  // namespace

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  if (a == b) return sparse_alias(self);
  if (self.is_sparse_csr()) return transpose_compressed(self, a, b);
  const SparseImpl& s = sparse_impl(self);
  check(a < s.sparse_dim && b < s.sparse_dim, "sparse transpose: transposed dimensions must be "
        "sparse Got sparse_dim: ", s.sparse_dim, ", d0: ", a, ", d1: ", b);
  return make_coo(swap_rows(s.indices, a, b), s.values, swapped(s.sizes, a, b), false);
}

Tensor t(const Tensor& self) {
  const SparseImpl& s = sparse_impl(self);
  check(s.sparse_dim <= 2 && s.dense_dim == 0 && s.batch_dim() == 0, "t() expects a tensor with <= "
        "2 sparse and 0 dense dimensions, but got ", s.sparse_dim, " sparse and ", s.dense_dim,
        " dense dimensions");
  return self.dim() < 2 ? sparse_alias(self) : transpose(self, 0, 1);
}

Tensor permute(const Tensor& self, IntRef dims) {
  check_implemented(self.is_sparse(), "Could not run 'aten::permute' with arguments from the "
                    "'SparseCsrCPU' backend.");
  const SparseImpl& s = sparse_impl(self);
  const int64_t n = self.dim();
  check(int64_t(dims.size()) == n, "permute(sparse_coo): number of dimensions in the tensor input "
        "does not match the length of the desired ordering of dimensions i.e. input.dim() = ", n,
        " is not equal to len(dims) = ", dims.size());
  Numbers order, dense{0};
  Dims sizes, seen(size_t(n), 0);
  bool same = true;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d = wrap_dim(dims[size_t(i)], n);
    check(!std::exchange(seen[size_t(d)], 1), "permute(): duplicate dims are not allowed.");
    check((i < s.sparse_dim) == (d < s.sparse_dim), "permute(sparse_coo): transpositions between "
          "sparse and dense dimensions are not allowed.Only transpositions within sparse and dense "
          "dimensions are supported.");
    (i < s.sparse_dim ? order : dense).push_back(i < s.sparse_dim ? d : d - s.sparse_dim + 1);
    sizes.push_back(s.sizes[size_t(d)]);
    same = same && (i == d || i >= s.sparse_dim);
  }
  return make_coo(take_rows(s.indices, order), native::permute(s.values, dense), sizes,
                  same && s.coalesced);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  check(self.is_sparse(), "Sparse CSR tensors do not have strides");
  const SparseImpl& s = sparse_impl(self);
  const int64_t d = wrap_dim(dim, self.dim() + 1);
  Dims sizes(s.sizes);
  sizes.push_back(1);
  std::rotate(sizes.begin() + d, sizes.end() - 1, sizes.end());
  if (d > s.sparse_dim)
    return make_coo(s.indices, native::unsqueeze(s.values, d - s.sparse_dim + 1), sizes,
                    s.coalesced);
  const int64_t n = s.nnz();
  Numbers index = numbers(s.indices);
  index.insert(index.begin() + d * n, size_t(n), 0);
  return make_coo(from_numbers(index, {s.sparse_dim + 1, n}, DType::Int64, self.device()), s.values,
                  sizes, false);
}

Tensor view_as_real(const Tensor& self) {
  check_implemented(self.is_sparse(), "Could not run 'aten::view_as_real' with arguments from the "
                    "'SparseCsrCPU' backend.");
  const SparseImpl& s = sparse_impl(self);
  Dims sizes(s.sizes);
  sizes.push_back(2);
  return make_coo(s.indices, native::view_as_real(s.values), sizes, s.coalesced);
}

static Tensor select_batch(const Tensor& self, int64_t dim, int64_t index) {
  const SparseImpl& s = sparse_impl(self);
  Dims sizes(s.sizes);
  sizes.erase(size_t(dim));
  return make_compressed(s.layout, native::select(s.compressed, dim, index),
                         native::select(s.plain, dim, index), native::select(s.values, dim, index),
                         sizes);
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  const int64_t d = wrap_dim(dim, self.dim()), size = self.sizes()[size_t(d)];
  check_index(index >= -size && index < size, "select(): index ", index,
              " out of range for tensor of size ", self.sizes(), " at dimension ", d);
  const int64_t at = index < 0 ? index + size : index;
  if (self.is_sparse_csr() && d < sparse_impl(self).batch_dim()) return select_batch(self, d, at);
  const Tensor coo = self.is_sparse() ? self : compressed_to_coo(self);
  const SparseImpl& s = sparse_impl(coo);
  Dims sizes(s.sizes);
  sizes.erase(size_t(d));
  if (d >= s.sparse_dim)
    return make_coo(s.indices, native::select(s.values, d - s.sparse_dim + 1, at), sizes,
                    s.coalesced);
  const Numbers rows = rows_where(s, d, [&](int64_t i) { return i == at; });
  const Tensor values = take_rows(s.values, rows);
  if (s.sparse_dim == 1) return add_up(values);
  return make_coo(take_columns(without_row(s.indices, d), rows), values, sizes, false);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  std::vector<Tensor> out;
  for (int64_t i = 0; i < self.sizes()[size_t(d)]; ++i) out.push_back(select(self, d, i));
  return out;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  check_implemented(self.is_sparse(), "Could not run 'aten::index_select' with arguments from the "
                    "'SparseCsrCPU' backend.");
  check_index(index.dim() == 1 && !is_sparse_kind(index) && is_integral(index.dtype(), false),
              "index_select() argument index must be 1-D strided (non-sparse) long-tensor.");
  const SparseImpl& s = sparse_impl(self);
  const int64_t d = wrap_dim(dim, self.dim()), size = s.sizes[size_t(d)];
  Numbers wanted = numbers(index);
  for (int64_t& i : wanted) {
    check_index(i >= -size && i < size, "index_select(): index contains ", i,
                " that is out of range for tensor of size ", self.sizes(), " at dimension ", d);
    if (i < 0) i += size;
  }
  Dims sizes(s.sizes);
  sizes[size_t(d)] = int64_t(wanted.size());
  if (d >= s.sparse_dim) {
    const Tensor at = from_numbers(wanted, {int64_t(wanted.size())}, DType::Int64, self.device());
    return make_coo(s.indices, native::index_select(s.values, d - s.sparse_dim + 1, at), sizes,
                    s.coalesced);
  }
  // Elements by their index along d, then those of every wanted index in turn.
  flat_places(s.indices, s.sizes);  // bounds
  const Numbers along = numbers(native::select(s.indices, 0, d));
  std::vector<Numbers> of(static_cast<size_t>(size));
  for (size_t i = 0; i < along.size(); ++i) of[size_t(along[i])].push_back(int64_t(i));
  Numbers rows, places;
  for (size_t k = 0; k < wanted.size(); ++k)
    for (int64_t i : of[size_t(wanted[k])]) {
      rows.push_back(i);
      places.push_back(int64_t(k));
    }
  Tensor indices = take_columns(s.indices, rows);
  native::copy_into(native::select(indices, 0, d),
                    from_numbers(places, {int64_t(places.size())}, DType::Int64, self.device()));
  return make_coo(indices, take_rows(s.values, rows), sizes, rows.empty());
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  check(self.is_sparse(), "Sparse CSR tensors do not have strides");
  check_implemented(!(tls.grad_mode && self->requires_grad),
                    "derivative of narrow_copy of a sparse tensor is not implemented");
  const SparseImpl& s = sparse_impl(self);
  const int64_t d = wrap_dim(dim, self.dim()), size = s.sizes[size_t(d)];
  check(start >= 0 && length >= 0 && start + length <= size, "Invalid range to narrow. "
        "range(start, "
        "start+length) must be a subset of range(0, ", size, ").");
  Dims sizes(s.sizes);
  sizes[size_t(d)] = length;
  if (d >= s.sparse_dim)
    return make_coo(s.indices, native::contiguous(native::narrow(s.values, d - s.sparse_dim + 1,
                                                                 start, length)), sizes,
                    s.coalesced);
  const int64_t end = start + length;
  const Numbers rows = rows_where(s, d, [&](int64_t i) { return i >= start && i < end; });
  Numbers index = numbers(take_columns(s.indices, rows));
  const int64_t n = int64_t(rows.size());
  for (int64_t i = 0; i < n; ++i) index[size_t(d * n + i)] -= start;
  return make_coo(from_numbers(index, {s.sparse_dim, n}, DType::Int64, self.device()),
                  take_rows(s.values, rows), sizes, s.coalesced);
}

Tensor broadcast_coo(const Tensor& self, IntRef size) {
  const SparseImpl& s = sparse_impl(self);
  const int64_t more = int64_t(size.size()) - self.dim();
  check(more >= 0, "the number of sizes provided (", size.size(), ") must be greater or equal to "
        "the "
        "number of dimensions in the tensor (", self.dim(), ")");
  const int64_t sparse_dim = s.sparse_dim + more;
  Dims value_sizes{s.nnz()};
  Numbers spread;  // sparse dimensions of the result that are new or grow
  int64_t factor = 1;
  for (int64_t d = 0; d < int64_t(size.size()); ++d) {
    const int64_t own = d < more ? 1 : s.sizes[size_t(d - more)], want = size[size_t(d)];
    check(own == want || own == 1, "The expanded size of the tensor (", want,
          ") must match the existing size (", own, ") at non-singleton dimension ", d,
          ". Target sizes: ", size, ". Tensor sizes: ", self.sizes());
    if (d >= sparse_dim) value_sizes.push_back(want);
    else if (d < more || own != want) {
      spread.push_back(d);
      factor *= want;
    }
  }
  const int64_t n = s.nnz(), total = n * factor;
  const Numbers index = numbers(s.indices);
  Numbers out(size_t(sparse_dim * total), 0), rows(size_t(total), 0);
  for (int64_t i = 0; i < total; ++i) {
    const int64_t e = i / factor;
    int64_t rest = i % factor;
    rows[size_t(i)] = e;
    for (int64_t d = more; d < sparse_dim; ++d)
      out[size_t(d * total + i)] = index[size_t((d - more) * n + e)];
    for (size_t k = spread.size(); k-- > 0;) {
      const int64_t want = size[size_t(spread[k])];
      out[size_t(spread[k] * total + i)] = rest % want;
      rest /= want;
    }
  }
  const Tensor values = native::contiguous(native::expand(s.values, value_sizes));
  return make_coo(from_numbers(out, {sparse_dim, total}, DType::Int64, self.device()),
                  take_rows(values, rows), size, spread.empty() && s.coalesced);
}

// ---- joining
namespace {

Tensor joined(const std::vector<Tensor>& parts, int64_t dim, DType dtype) {
  Dims sizes(parts[0].sizes());
  sizes[size_t(dim)] = 0;
  for (const Tensor& p : parts) sizes[size_t(dim)] += p.size(dim);
  Tensor out = empty_tensor(sizes, dtype, parts[0].device());
  int64_t at = 0;
  for (const Tensor& p : parts) {
    native::copy_into(native::narrow(out, dim, at, p.size(dim)), p);
    at += p.size(dim);
  }
  return out;
}

void check_parts(TensorList tensors, int64_t dim) {
  const SparseImpl& first = sparse_impl(tensors[0]);
  for (size_t i = 0; i < tensors.size(); ++i) {
    check(is_sparse_kind(tensors[i]), "Concatenating sparse tensors, but a dense tensor was found "
          "at "
          "position ", i, ".");
    const SparseImpl& s = sparse_impl(tensors[i]);
    bool fits = s.sizes.size() == first.sizes.size();
    for (size_t d = 0; fits && d < s.sizes.size(); ++d)
      fits = int64_t(d) == dim || s.sizes[d] == first.sizes[d];
    check(fits, "All tensors must have the same shape: ", IntRef(first.sizes),
          " (except in the concatenating dimension), but found shape: ", IntRef(s.sizes),
          " at position ", i, ".");
    check(s.sparse_dim == first.sparse_dim && s.dense_dim == first.dense_dim, "All tensors must "
          "have "
          "the same sparse_dim and dense_dim: ", first.sparse_dim, ", ", first.dense_dim,
          ", but tensor at position ", i, " has ", s.sparse_dim, ", ", s.dense_dim, ".");
  }
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  check(is_sparse_kind(tensors[0]), "Concatenating dense tensors, but a sparse tensor was found");
  check(tensors[0].is_sparse(), "Sparse CSR tensors do not have is_contiguous");
  const int64_t d = wrap_dim(dim, tensors[0].dim());
  check_parts(tensors, d);
  const SparseImpl& first = sparse_impl(tensors[0]);
  const bool along_sparse = d < first.sparse_dim;
  DType dtype = tensors[0].dtype();
  Dims sizes(first.sizes);
  sizes[size_t(d)] = 0;
  for (const Tensor& t : tensors) {
    dtype = promote_types(dtype, t.dtype());
    sizes[size_t(d)] += t.sizes()[size_t(d)];
  }
  std::vector<Tensor> indices, values;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    const SparseImpl& s = sparse_impl(t);
    const int64_t n = s.nnz(), own = s.sizes[size_t(d)];
    Numbers index = numbers(s.indices);
    for (int64_t i = 0; along_sparse && i < n; ++i) index[size_t(d * n + i)] += at;
    indices.push_back(from_numbers(index, {s.sparse_dim, n}, DType::Int64, t.device()));
    Tensor v = s.values;
    if (!along_sparse) {
      Dims wide(v.sizes());
      wide[size_t(d - s.sparse_dim + 1)] = sizes[size_t(d)];
      v = zeros(wide, v.dtype(), t.device());
      native::copy_into(native::narrow(v, d - s.sparse_dim + 1, at, own), s.values);
    }
    values.push_back(v);
    at += own;
  }
  return make_coo(joined(indices, 1, DType::Int64), joined(values, 0, dtype), sizes, false);
}

}  // namespace rl::sparse

namespace rl::native {
Tensor _sparse_broadcast_to(const Tensor& self, IntRef size) {
  check_implemented(self.is_sparse(), "Could not run 'aten::_sparse_broadcast_to' with arguments "
                    "from the '", self.is_sparse_csr() ? "SparseCsrCPU" : "CPU", "' backend.");
  return sparse::broadcast_coo(self, size);
}
}  // namespace rl::native
