// gather, scatter and scatter_reduce: one position of `dim` for each element of the index.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/warn.h"
#include "ops/index_tools.h"

namespace rl::native {
namespace {

int64_t dims_of(const Tensor& t) { return std::max<int64_t>(t.dim(), 1); }
int64_t size_at(const Tensor& t, int64_t d) { return t.dim() == 0 ? 1 : t.size(d); }

void check_index_type(const char* name, const Tensor& index) {
  check(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, name,
        "(): Expected dtype int32/int64 for index");
}

char* address(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.data()) + element * t.itemsize();
}

void check_positions(const int64_t* p, int64_t n, int64_t dim, int64_t size) {
  if (const int64_t bad = first_outside(p, n, 0, size); bad >= 0)
    fail("index ", p[bad], " is out of bounds for dimension ", dim, " with size ", size);
}

// Rows of an index block. `table` is the tensor that positions point into, `other` the one that
// lies like the index; f(offset in table, places, offset in other, step in other, n).
struct Block {
  Dims sizes, table, other;  // strides
  int64_t dim, stride;       // the indexed dimension and the table's stride there
  const int64_t* at;
};

Block make_block(const Tensor& table, const Tensor& index, const Tensor& other, int64_t dim) {
  Block b;
  b.at = index.data<int64_t>();
  b.dim = dim;
  b.stride = table.dim() == 0 ? 0 : table.stride(dim);
  b.sizes = Dims(index.sizes());
  b.table = Dims(table.sizes().size());
  for (size_t d = 0; d < b.table.size(); ++d)
    b.table[d] = int64_t(d) == dim ? 0 : table.strides()[d];
  b.other = Dims(other.strides());
  if (b.sizes.empty()) {
    b.sizes = Dims{1};
    b.table = Dims{0};
    b.other = Dims{1};
  }
  if (b.table.empty()) b.table = Dims(b.sizes.size(), 0);
  if (b.other.empty()) b.other = Dims(b.sizes.size(), 0);
  return b;
}

// Part [begin, end) of dimension `split`.
template <class F>
void run_part(const Block& b, size_t split, int64_t begin, int64_t end, F&& f) {
  Dims sizes = b.sizes;
  sizes[split] = end - begin;
  const Dims index_strides = contiguous_strides(b.sizes);
  const int64_t table0 = begin * b.table[split], other0 = begin * b.other[split];
  const int64_t* at0 = b.at + begin * index_strides[split];
  // walk the index and the table together, and the other operand by its own strides
  Dims pos(sizes.size());
  int64_t other = other0;
  const size_t last = sizes.size() - 1;
  for_rows(sizes, b.table, index_strides, [&](int64_t table, int64_t at, int64_t) {
    f(table0 + table, RowPlaces{at0 + at, b.stride, b.table[last]}, other, b.other[last],
      sizes[last]);
    for (size_t d = last; d-- > 0;) {
      other += b.other[d];
      if (++pos[d] < sizes[d]) break;
      other -= b.other[d] * sizes[d];
      pos[d] = 0;
    }
  });
}

// Positions collide only along `dim`: the work may be cut along any other dimension.
template <class F>
void run_block(const Block& b, bool collide, F&& f) {
  size_t split = 0;
  int64_t best = 0, total = 1;
  for (size_t d = 0; d < b.sizes.size(); ++d) {
    total *= b.sizes[d];
    if ((collide && int64_t(d) == b.dim) || b.sizes[d] <= best) continue;
    if (d + 1 == b.sizes.size() && best > 1) continue;  // rather keep rows whole
    best = b.sizes[d];
    split = d;
  }
  if (best == 0) return run_part(b, size_t(b.dim), 0, b.sizes[size_t(b.dim)], f);
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, total / best));
  parallel_for(0, best, grain, [&](int64_t x, int64_t y) { run_part(b, split, x, y, f); });
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dim(dim, self.dim());
  Tensor out = empty_tensor(index.sizes(), self.dtype(), self.device());
  if (index.numel() == 0) return out;
  check_index_type("gather", index);
  check(dims_of(index) == dims_of(self),
        "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t i = 0; i < dims_of(self); ++i)
    check(i == d || size_at(index, i) <= size_at(self, i), "Size does not match at dimension ", i,
          " expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
          " apart from dimension ", d);
  if (out.is_meta()) return out;
  const Tensor at = index_numbers(index);
  check_positions(at.data<int64_t>(), at.numel(), d, size_at(self, d));
  const GatherRow row = gather_row(self.itemsize());
  run_block(make_block(self, at, out, d), false,
            [&](int64_t from, RowPlaces places, int64_t to, int64_t step, int64_t n) {
    row(address(out, to), step, address(self, from), places, n);
  });
  return out;
}

namespace {

void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src,
                   const char* name) {
  if (index.numel() == 0) return;
  check_index_type(name, index);
  if (src)
    check(src->dtype() == self.dtype(), name, "(): Expected self.dtype to be equal to src.dtype");
  check(dims_of(index) == dims_of(self),
        "Index tensor must have the same number of dimensions as self tensor");
  if (src)
    check(dims_of(index) == dims_of(*src),
          "Index tensor must have the same number of dimensions as src tensor");
  bool fits = true;
  for (int64_t i = 0; i < dims_of(self); ++i) {
    if (i != dim && size_at(index, i) > size_at(self, i)) fits = false;
    if (src && size_at(index, i) > size_at(*src, i)) fits = false;
  }
  if (src)
    check(fits, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
          " apart from dimension ", dim, " and to be no larger size than src ", src->sizes());
  else
    check(fits, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
          " apart from dimension ", dim);
}

// self[.., index, ..] = combine(.., src)
void scatter_into(Combine how, const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& src, const char* name) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_scatter(self, d, index, &src, "scatter");
  check_no_internal_overlap(self);
  if (self.is_meta() || index.numel() == 0) return;
  const CombineRow row = combine_row(how, self.dtype(), name);
  const Tensor at = index_numbers(index);
  check_positions(at.data<int64_t>(), at.numel(), d, size_at(self, d));
  const Tensor from = src.storage() == self.storage() ? row_major_clone(src) : src;
  run_block(make_block(self, at, from, d), true,
            [&](int64_t to, RowPlaces places, int64_t other, int64_t step, int64_t n) {
    row(address(self, to), places, address(from, other), step, n);
  });
}

Tensor value_like(const Tensor& self, const Tensor& index, const Scalar& value) {
  check_overflow(value, self.dtype());
  Tensor one = scalar_tensor(value, self.dtype());
  if (self.is_meta()) return empty_tensor(index.sizes(), self.dtype(), self.device());
  return rl::alias(one, index.sizes(), Dims(size_t(index.dim()), 0), 0);
}

Combine deprecated_reduce(std::string_view reduce) {
  check(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply.");
  return reduce == "add" ? Combine::Add : Combine::Multiply;
}

}  // namespace

void scatter_src_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(Combine::Assign, self, dim, index, src, "scatter");
}
void scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_scatter(self, wrap_dim(dim, self.dim()), index, nullptr, "scatter");
  scatter_into(Combine::Assign, self, dim, index, value_like(self, index, value), "scatter");
}
void scatter_reduce_src_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce) {
  warn(
      "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a "
      "future PyTorch release. Use torch.scatter_reduce instead for more reduction options.");
  scatter_into(deprecated_reduce(reduce), self, dim, index, src, "scatter");
}
void scatter_reduce_value_(const Tensor& self, int64_t dim, const Tensor& index,
                           const Scalar& value, std::string_view reduce) {
  const Combine how = deprecated_reduce(reduce);
  check_scatter(self, wrap_dim(dim, self.dim()), index, nullptr, "scatter");
  scatter_into(how, self, dim, index, value_like(self, index, value), "scatter");
}
void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_into(Combine::Add, self, dim, index, src, "scatter_add");
}

Tensor scatter_src(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = row_major_clone(self);
  scatter_src_(out, dim, index, src);
  return out;
}
Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  Tensor out = row_major_clone(self);
  scatter_value_(out, dim, index, value);
  return out;
}
Tensor scatter_reduce_src(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                          std::string_view reduce) {
  Tensor out = row_major_clone(self);
  scatter_reduce_src_(out, dim, index, src, reduce);
  return out;
}
Tensor scatter_reduce_value(const Tensor& self, int64_t dim, const Tensor& index,
                            const Scalar& value, std::string_view reduce) {
  Tensor out = row_major_clone(self);
  scatter_reduce_value_(out, dim, index, value, reduce);
  return out;
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = row_major_clone(self);
  scatter_add_(out, dim, index, src);
  return out;
}

// ---- scatter_reduce
namespace {

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) return T(-INFINITY);
  else if constexpr (std::is_floating_point_v<T>) return T(-INFINITY);
  else return std::numeric_limits<T>::lowest();
}
template <class T>
T highest() {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) return T(INFINITY);
  else if constexpr (std::is_floating_point_v<T>) return T(INFINITY);
  else return std::numeric_limits<T>::max();
}

// Where something will be scattered, self starts from the neutral element.
void forget_self(const Tensor& self, int64_t dim, const Tensor& index, Combine how) {
  Tensor one = empty_tensor({}, self.dtype());
  visit(AllTypes{}, self.dtype(), "scatter_reduce", [&]<class T>() {
    T v = T(0);
    if (how == Combine::Multiply) v = T(1);
    if constexpr (!std::is_same_v<T, cfloat> && !std::is_same_v<T, cdouble>) {
      if (how == Combine::Max) v = lowest<T>();
      if (how == Combine::Min) v = highest<T>();
    }
    *one.data<T>() = v;
  });
  scatter_src_(self, dim, index, rl::alias(one, index.sizes(), Dims(size_t(index.dim()), 0), 0));
}

// self /= counts; whole numbers are rounded down.
void divide_by_counts(const Tensor& self, const Tensor& counts) {
  Tensor t = contiguous(self);
  const int64_t* c = counts.data<int64_t>();
  visit(AllTypes{}, self.dtype(), "scatter_reduce", [&]<class T>() {
    T* p = t.data<T>();
    for (int64_t i = 0; i < t.numel(); ++i) {
      const int64_t n = c[i] < 1 ? 1 : c[i];
      if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
        p[i] = T(float(p[i]) / float(n));
      else if constexpr (std::is_integral_v<T>)
        p[i] = T(int64_t(p[i]) / n - (int64_t(p[i]) % n < 0));
      else
        p[i] = p[i] / T(double(n));
    }
  });
  if (!t.is_same(self)) copy_into(self, t);
}

}  // namespace

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     std::string_view reduce, bool include_self) {
  const bool mean = reduce == "mean";
  Combine how = Combine::Add;
  if (reduce == "prod") how = Combine::Multiply;
  else if (reduce == "amax") how = Combine::Max;
  else if (reduce == "amin") how = Combine::Min;
  else
    check(mean || reduce == "sum",
          "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  check_scatter(self, wrap_dim(dim, self.dim()), index, &src, "scatter");
  check_no_internal_overlap(self);
  if (self.is_meta() || index.numel() == 0) return;
  if (!include_self) forget_self(self, dim, index, how);
  scatter_into(how, self, dim, index, src, "scatter_reduce");
  if (!mean) return;
  Tensor counts = full(self.sizes(), Scalar(include_self ? 1 : 0), DType::Int64, self.device());
  scatter_into(Combine::Add, counts, dim, index, value_like(counts, index, Scalar(1)), "scatter");
  divide_by_counts(self, counts);
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  Tensor out = row_major_clone(self);
  scatter_reduce_(out, dim, index, src, reduce, include_self);
  return out;
}

}  // namespace rl::native
