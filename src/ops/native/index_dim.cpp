// Whole slices along one dimension by a vector of positions: index_select, index_add, index_copy,
// index_fill, index_reduce.
#include <algorithm>

#include "base/parallel.h"
#include "base/warn.h"
#include "kernels/iter/copy.h"
#include "ops/index_tools.h"

namespace rl::native {
Tensor alias_view(const Tensor& self);

namespace {

bool is_index_type(DType d) { return d == DType::Int64 || d == DType::Int32; }

// A tensor as (outer, n, inner): dimensions before dim, dim, and after.
struct Slices {
  int64_t outer = 1, n = 1, inner = 1;
};
Slices slices_of(const Tensor& t, int64_t dim) {
  Slices s;
  for (int64_t d = 0; d < t.dim(); ++d) (d < dim ? s.outer : d == dim ? s.n : s.inner) *= t.size(d);
  return s;
}
char* address(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.data()) + element * t.itemsize();
}

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  check(!(self.dim() == 0 && index.numel() != 1),
        "index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  check(is_index_type(index.dtype()), "index_select(): Expected dtype int32 or int64 for index");
  Dims sizes(self.sizes());
  if (!sizes.empty()) sizes[size_t(d)] = index.numel();
  Tensor out = empty_tensor(sizes, self.dtype(), self.device());
  if (out.is_meta() || index.is_meta()) return out;
  const Tensor at = index_numbers(index);
  const int64_t* p = at.data<int64_t>();
  const Slices s = slices_of(self, d), r{s.outer, at.numel(), s.inner};
  check_index(first_outside(p, r.n, 0, s.n) < 0, "index out of range in self");
  if (out.numel() == 0) return out;
  const Tensor from = contiguous(self);
  const GatherRow row = gather_row(self.itemsize());
  if (r.inner == 1) {
    parallel_for(0, r.outer, std::max<int64_t>(1, 16384 / r.n), [&](int64_t b, int64_t e) {
      for (int64_t o = b; o < e; ++o)
        row(address(out, o * r.n), 1, address(from, o * s.n), RowPlaces{p, 1, 0}, r.n);
    });
    return out;
  }
  parallel_for(0, r.outer * r.n, std::max<int64_t>(1, 16384 / r.inner), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      row(address(out, i * r.inner), 1,
          address(from, (i / r.n * s.n + p[i % r.n]) * s.inner), RowPlaces{}, r.inner);
  });
  return out;
}

namespace {

// self[.., at[i], ..] = combine(.., source[.., i, ..]) in the order of i. Any strides of self.
void combine_slices(Combine how, const Tensor& self, int64_t dim, const int64_t* at, int64_t n,
                    const Tensor& source, const char* name) {
  if (self.is_meta() || n == 0 || self.numel() == 0) return;
  const CombineRow row = combine_row(how, self.dtype(), name);
  const Tensor to = self.is_contiguous() ? self : row_major_clone(self);
  const Tensor from = contiguous(source);
  const Slices s = slices_of(to, dim);
  auto work = [&](int64_t o, int64_t first, int64_t count) {
    if (s.inner == 1)
      return row(address(to, o * s.n), RowPlaces{at, 1, 0}, address(from, o * n), 1, n);
    for (int64_t i = 0; i < n; ++i)
      row(address(to, (o * s.n + at[i]) * s.inner + first), RowPlaces{},
          address(from, (o * n + i) * s.inner + first), 1, count);
  };
  if (s.outer > 1) {
    parallel_for(0, s.outer, std::max<int64_t>(1, 16384 / (n * s.inner)),
                 [&](int64_t b, int64_t e) {
                   for (int64_t o = b; o < e; ++o) work(o, 0, s.inner);
                 });
  } else {
    const int64_t grain = std::max<int64_t>(64, 16384 / n);
    parallel_for(0, s.inner, grain, [&](int64_t b, int64_t e) { work(0, b, e - b); });
  }
  if (!to.is_same(self)) copy_into(self, to);
}

Dims without(IntRef sizes, int64_t dim) {
  Dims out(sizes);
  if (!out.empty()) out.erase(size_t(dim));
  return out;
}

// The checks of index_add and index_reduce.
void check_add(const char* name, const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& source) {
  check_index(index.dim() <= 1, name, "_(): Index is supposed to be a vector, but got dim: ",
              index.dim(), " with type: ", index.dtype(), " and size: ", index.sizes());
  check(is_index_type(index.dtype()), name, "_(): Expected dtype int32/int64 for index but got: ",
        index.dtype());
  check(self.dtype() == source.dtype(), name, "_(): self (", self.dtype(), ") and source (",
        source.dtype(), ") must have the same scalar type");
  check(dim == 0 || dim < source.dim(), name, "_(): Indexing dim ", dim,
        " is out of bounds of the source tensor with dim ", source.dim());
  const int64_t n = source.dim() == 0 ? 1 : source.size(dim);
  check(index.numel() == n, name, "_(): Number of indices (", index.numel(),
        ") should be equal to source.size(dim): (", n, "), for dim: ", dim);
  if (source.dim() != 0 && self.dim() != 0)
    check(
        without(self.sizes(), dim) == without(source.sizes(), dim),
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
        "self.shape = ",
        self.sizes(), " source.shape = ", source.sizes());
}

}  // namespace

void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                const Scalar& alpha) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_add("index_add", self, d, index, source);
  if (self.is_meta()) return;
  check_no_internal_overlap(self);
  const Tensor at = index_numbers(index);
  const int64_t* p = at.data<int64_t>();
  const int64_t size = self.dim() == 0 ? 1 : self.size(d);
  if (const int64_t bad = first_outside(p, at.numel(), 0, size); bad >= 0)
    fail("index ", p[bad], " is out of bounds for dimension ", d, " with size ", size);
  Tensor from = source;
  if (!alpha.equal(1)) {
    from = full_tensor(source.sizes(), alpha, self.dtype());
    const CombineRow scale = combine_row(Combine::Multiply, self.dtype(), "index_add_cpu_");
    scale(from.data(), RowPlaces{}, contiguous(source).data(), 1, from.numel());
  }
  combine_slices(Combine::Add, self, d, p, at.numel(), from, "index_add_cpu_");
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  Tensor out = row_major_clone(self);
  index_add_(out, dim, index, source, alpha);
  return out;
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index(index.dim() < 2, "index_copy_(): Index should have dimension 1 or 0 (got ",
              index.dim(), ")");
  const int64_t n = index.numel();
  check_index(source.dim() != 0 || n == 1,
              "index_copy_(): When source is scalar, index should have one element (got ", n, ")");
  check_index(
      source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
      "index_copy_(): When source and destination are not scalars, their dimensionality must "
      "match. Source dimensionality (",
      source.dim(), "), destination dimensionality (", self.dim(), ")");
  check(index.dtype() == DType::Int64, "index_copy_(): Expected a long tensor for index, but got ",
        index.dtype());
  check(self.dtype() == source.dtype(), "index_copy_(): self and source expected to have the same "
        "dtype, but got (self) ", self.dtype(), " and (source) ", source.dtype());
  const Dims a = without(self.sizes(), d), b = without(source.sizes(), d);
  auto plain = [](const Dims& s) {
    std::string text;
    for (size_t i = 0; i < s.size(); ++i) text += (i ? " " : "") + std::to_string(s[i]);
    return text;
  };
  check(a == b, "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
        "slice shape: ", plain(a), " at dimension ", d, " and source slice shape: ", plain(b),
        " at dimension 0.");
  const int64_t have = source.dim() == 0 ? 1 : source.size(d);
  check_index(source.dim() == 0 || n == have, "index_copy_(): Number of indices (", n,
              ") should be equal to source.size(dim) (", have, ")");
  if (self.is_meta()) return;
  check_no_internal_overlap(self);
  const Tensor at = index_numbers(index);
  const int64_t* p = at.data<int64_t>();
  const int64_t size = self.dim() == 0 ? 1 : self.size(d);
  if (const int64_t bad = first_outside(p, n, 0, size); bad >= 0)
    fail_as(ErrorKind::Index, "index_copy_(): index ", p[bad], " is out of bounds for dimension ",
            d, " with size ", size);
  combine_slices(Combine::Assign, self, d, p, n, source, "index_copy_");
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  Tensor out = row_major_clone(self);
  index_copy_(out, dim, index, source);
  return out;
}

void index_fill_scalar_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index(index.dtype() == DType::Int64, "index_fill_(): Expected dtype int64 for index.");
  check(index.dim() <= 1, "Index has to be a vector/scalar");
  check(self.is_complex() || !value.is_complex(),
        "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  check_overflow(value, self.dtype());
  if (self.is_meta()) return;
  if (has_internal_overlap(self))
    warn("Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before "
         "performing this operation. This also applies to advanced indexing e.g. tensor[mask] = "
         "scalar");
  const int64_t size = self.dim() == 0 ? 1 : self.size(d);
  const Tensor given = index_numbers(index);
  const int64_t* p = given.data<int64_t>();
  if (const int64_t bad = first_outside(p, given.numel(), -size, size); bad >= 0)
    fail_as(ErrorKind::Index, "index ", p[bad], " is out of bounds for dimension ", d,
            " with size ", size);
  if (self.numel() == 0) return;
  if (self.dim() == 0) {
    if (given.numel() > 0) fill(self, value);
    return;
  }
  for (int64_t i = 0; i < given.numel(); ++i) fill(select(self, d, p[i]), value);
}

Tensor index_fill_scalar(const Tensor& self, int64_t dim, const Tensor& index,
                         const Scalar& value) {
  Tensor out = preserving_clone(self);
  index_fill_scalar_(out, dim, index, value);
  return out;
}

static Scalar only_value(const Tensor& value) {
  check(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor "
        "with ", value.dim(), " dimension(s).");
  return value.is_meta() ? Scalar(0) : item(value);
}
void index_fill_tensor_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  index_fill_scalar_(self, dim, index, only_value(value));
}
Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& value) {
  return index_fill_scalar(self, dim, index, only_value(value));
}

// ---- index_reduce
namespace {

Scalar neutral(Combine how, DType d) {
  const bool integral = is_integral(d, true);
  switch (how) {
    case Combine::Multiply: return Scalar(1);
    case Combine::Max:
      if (!integral) return Scalar(-INFINITY);
      if (d == DType::Bool || d == DType::UInt8) return Scalar(0);
      return Scalar(d == DType::Int64 ? INT64_MIN : -(int64_t(1) << (itemsize(d) * 8 - 1)));
    case Combine::Min:
      if (!integral) return Scalar(INFINITY);
      if (d == DType::Bool) return Scalar(1);
      if (d == DType::UInt8) return Scalar(255);
      return Scalar(d == DType::Int64 ? INT64_MAX : (int64_t(1) << (itemsize(d) * 8 - 1)) - 1);
    default: return Scalar(0);
  }
}

// self[.., i, ..] /= counts[i]; whole numbers are rounded down.
void divide_slices(const Tensor& self, int64_t dim, const std::vector<int64_t>& counts) {
  for (int64_t i = 0; i < int64_t(counts.size()); ++i) {
    if (counts[size_t(i)] < 2) continue;
    const Tensor place = self.dim() == 0 ? self : select(self, dim, i);
    const Tensor t = contiguous(place);
    const Tensor out = t.is_same(place) ? t : empty_tensor(t.sizes(), t.dtype());
    visit(AllTypes{}, self.dtype(), "index_reduce", [&]<class T>() {
      const T* from = t.data<T>();
      T* to = out.data<T>();
      const int64_t n = counts[size_t(i)];
      for (int64_t k = 0; k < t.numel(); ++k) {
        if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
          to[k] = T(float(from[k]) / float(n));
        else if constexpr (std::is_integral_v<T>)
          to[k] = T(int64_t(from[k]) / n - (int64_t(from[k]) % n < 0));
        else
          to[k] = from[k] / T(double(n));
      }
    });
    if (!out.is_same(place)) copy_into(place, out);
  }
}

}  // namespace

void index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   std::string_view reduce, bool include_self) {
  check(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce,
        ".");
  warn("index_reduce() is in beta and the API may change at any time.");
  const int64_t d = wrap_dim(dim, self.dim());
  check_add("index_reduce", self, d, index, source);
  if (self.is_meta()) return;
  const Combine how = reduce == "prod" ? Combine::Multiply : reduce == "mean" ? Combine::Add
                      : reduce == "amax" ? Combine::Max : Combine::Min;
  const Tensor at = index_numbers(index);
  const int64_t* p = at.data<int64_t>();
  const int64_t n = at.numel(), size = self.dim() == 0 ? 1 : self.size(d);
  check_index(first_outside(p, n, 0, size) < 0, "index out of range in self");
  if (!include_self)
    index_fill_scalar_(self, dim, at, neutral(how, self.dtype()));
  combine_slices(how, self, d, p, n, source, "index_reduce");
  if (reduce != "mean") return;
  std::vector<int64_t> counts(size_t(size), include_self ? 1 : 0);
  for (int64_t i = 0; i < n; ++i) ++counts[size_t(p[i])];
  divide_slices(self, d, counts);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  Tensor out = row_major_clone(self);
  index_reduce_(out, dim, index, source, reduce, include_self);
  return out;
}

}  // namespace rl::native
