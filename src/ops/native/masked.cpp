// By mask or by flat position: masked_fill, masked_select, masked_scatter, nonzero, take, put.
#include <algorithm>

#include "base/parallel.h"
#include "base/warn.h"
#include "gen/pointwise_index.h"
#include "ops/index_tools.h"

namespace rl::native {
namespace {

void check_fill_mask(const Tensor& self, const Tensor& mask, bool inplace) {
  check(mask.dtype() == DType::Bool, "masked_fill_ only supports boolean masks, but got mask with "
        "dtype ", cpp_type_name(mask.dtype()));
  if (!inplace) return;
  const Dims shape = broadcast_shapes(self.sizes(), mask.sizes());
  check(shape == Dims(self.sizes()), "output with shape ", self.sizes(),
        " doesn't match the broadcast shape ", shape);
  if (has_internal_overlap(self))
    warn("Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before "
         "performing this operation. This also applies to advanced indexing e.g. tensor[mask] = "
         "scalar");
}

// A real number for a complex tensor keeps its kind; fractions are cut for whole numbers.
Scalar value_for(const Scalar& value, DType dtype) {
  check_overflow(value, dtype);
  return value;
}

Scalar only_value(const Tensor& value) {
  check(value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
        "with ", value.dim(), " dimension(s).");
  return value.is_meta() ? Scalar(0) : item(value);
}

bool narrow_type(DType d) { return d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64; }

}  // namespace

Tensor masked_fill_scalar(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_fill_mask(self, mask, false);
  check(!narrow_type(self.dtype()), "masked_fill: not for ", self.dtype());
  return _masked_fill(self, mask, value_for(value, self.dtype()));
}
Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return masked_fill_scalar(self, mask, only_value(value));
}
void masked_fill_scalar_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_fill_mask(self, mask, true);
  _masked_fill_into(self, mask, value_for(value, self.dtype()), self, true);
}
void masked_fill_tensor_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  masked_fill_scalar_(self, mask, only_value(value));
}

// ---- nonzero
namespace {

// Flat positions of the elements that are not zero, in row-major order.
std::vector<int64_t> nonzero_positions(const Tensor& self) {
  const Tensor t = contiguous(self);
  const int64_t n = t.numel();
  std::vector<int64_t> out;
  visit(AllTypesAndUInts{}, t.dtype(), "nonzero", [&]<class T>() {
    const T* p = t.data<T>();
    auto set = [&](int64_t i) {
      if constexpr (std::is_arithmetic_v<T>) return p[i] != T(0);
      else if constexpr (sizeof(T) >= 8) return p[i] != T(0);
      else return float(p[i]) != 0.0f;
    };
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += set(i);
    out.resize(size_t(count) + 1);
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
      out[size_t(at)] = i;
      at += set(i);
    }
    out.resize(size_t(count));
  });
  return out;
}

}  // namespace

Tensor nonzero(const Tensor& self) {
  check_implemented(!self.is_meta(), "nonzero: not for meta tensors, whose elements are unknown");
  const std::vector<int64_t> flat = nonzero_positions(self);
  const int64_t n = int64_t(flat.size()), dims = self.dim();
  // Each column lies in one piece.
  Tensor out = empty_strided_tensor({n, dims}, {1, n > 0 ? n : 1}, DType::Int64);
  int64_t* p = out.data<int64_t>();
  int64_t inner = 1;
  for (int64_t d = dims; d-- > 0;) {
    const int64_t size = self.size(d);
    int64_t* column = p + d * n;
    if (inner == 1 && dims == 1) std::copy(flat.begin(), flat.end(), column);
    else
      for (int64_t i = 0; i < n; ++i) column[i] = flat[size_t(i)] / inner % size;
    inner *= size;
  }
  return out;
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  check(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  Tensor out = full({size, self.dim()}, Scalar(fill_value), DType::Int64, self.device());
  if (self.is_meta()) return out;
  const Tensor all = nonzero(self);
  const int64_t n = std::min(size, all.size(0));
  if (n > 0) copy_into(narrow(out, 0, 0, n), narrow(all, 0, 0, n));
  return out;
}

// ---- masked_select, masked_scatter
Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check(mask.dtype() == DType::Bool, "masked_select: expected BoolTensor for mask");
  check_implemented(!self.is_meta(), "masked_select: not for meta tensors, whose size is unknown");
  const Dims shape = broadcast_shapes(mask.sizes(), self.sizes());
  const Tensor m = contiguous(expand(mask, shape)), from = contiguous(expand(self, shape));
  const bool* on = m.data<bool>();
  const int64_t n = m.numel();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += on[i];
  Tensor places = empty_tensor({count}, DType::Int64);
  int64_t* p = places.data<int64_t>();
  for (int64_t i = 0, at = 0; at < count; ++i)
    if (on[i]) p[at++] = i;
  Tensor out = empty_tensor({count}, self.dtype());
  if (count > 0)
    gather_row(self.itemsize())(out.data(), 1, from.data(), RowPlaces{p, 1, 0}, count);
  return out;
}

void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check(self.dtype() == source.dtype(),
        "masked_scatter: expected self and source to have same dtypes "
        "but got",
        self.dtype(), " and ", source.dtype());
  check(mask.dtype() == DType::Bool,
        "masked_scatter_ only supports boolean masks, but got mask with "
        "dtype ",
        mask.dtype());
  check_no_internal_overlap(self);
  if (self.is_meta()) return;
  const Tensor m = contiguous(expand(mask, self.sizes()));
  const Tensor from = contiguous(source), to = contiguous(self);
  const bool* on = m.data<bool>();
  std::vector<int64_t> places;
  for (int64_t i = 0; i < m.numel(); ++i)
    if (on[i]) places.push_back(i);
  const int64_t n = int64_t(places.size());
  check(n <= from.numel(), "Number of elements of source < number of ones in mask");
  if (n > 0)
    combine_row(Combine::Assign, self.dtype(), "masked_scatter")(
        to.data(), RowPlaces{places.data(), 1, 0}, from.data(), 1, n);
  if (!to.is_same(self)) copy_into(self, to);
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Dims shape = broadcast_shapes(mask.sizes(), self.sizes());
  const Tensor wide = expand(self, shape);
  Tensor out = wide.sizes() == self.sizes() ? preserving_clone(self) : row_major_clone(wide);
  masked_scatter_(out, mask, source);
  return out;
}

// ---- flat positions
namespace {

Tensor flat_positions(const Tensor& index, int64_t numel) {
  const Tensor at = index_numbers(index);
  const int64_t* p = at.data<int64_t>();
  if (const int64_t bad = first_outside(p, at.numel(), -numel, numel); bad >= 0)
    fail_as(ErrorKind::Index, "out of range: tried to access index ", p[bad], " on a tensor of ",
            numel, " elements.");
  return wrapped_indices(at, numel);
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
  check(index.dtype() == DType::Int64, "take(): Expected a long tensor for index, but got ",
        index.dtype());
  Tensor out = empty_tensor(index.sizes(), self.dtype(), self.device());
  check_index(self.numel() != 0 || index.numel() == 0,
              "take(): tried to take from an empty tensor");
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor at = flat_positions(index, self.numel()), from = contiguous(self);
  const GatherRow row = gather_row(self.itemsize());
  parallel_for(0, out.numel(), 16384, [&](int64_t b, int64_t e) {
    row(static_cast<char*>(out.data()) + b * out.itemsize(), 1, from.data(),
        RowPlaces{at.data<int64_t>() + b, 1, 0}, e - b);
  });
  return out;
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check(index.dtype() == DType::Int64, "put_(): Expected a long tensor for index, but got ",
        index.dtype());
  check(self.dtype() == source.dtype(),
        "put_(): self and source expected to have the same dtype, but "
        "got self.dtype = ",
        self.dtype(), " and source.dtype = ", source.dtype());
  check_index(source.numel() == index.numel(), "put_(): Expected source and index to have the same "
              "number of elements, but got source.numel() = ", source.numel(), ", index.numel() = ",
              index.numel());
  check_no_internal_overlap(self);
  check_index(self.numel() != 0 || index.numel() == 0,
              "put_(): Tried to put elements into an empty tensor");
  if (self.is_meta() || index.numel() == 0) return;
  const Tensor at = flat_positions(index, self.numel());
  const Tensor from = contiguous(source), to = contiguous(self);
  combine_row(accumulate ? Combine::Add : Combine::Assign, self.dtype(), "put_")(
      to.data(), RowPlaces{at.data<int64_t>(), 1, 0}, from.data(), 1, at.numel());
  if (!to.is_same(self)) copy_into(self, to);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  Tensor out = preserving_clone(self);
  put_(out, index, source, accumulate);
  return out;
}

}  // namespace rl::native
