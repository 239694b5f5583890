// Elements in another arrangement: flip, roll, repeat, scatters of views, diagonals, index lists.
#include <algorithm>

#include "base/parallel.h"
#include "ops/index_tools.h"

namespace rl::native {
Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2);
Tensor as_strided(const Tensor& self, IntRef size, IntRef stride, std::optional<int64_t> offset);

namespace {
char* address(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.data()) + element * t.itemsize();
}
}  // namespace

Tensor flip(const Tensor& self, IntRef dims) {
  SmallVec<int64_t, 8> flipped(size_t(std::max<int64_t>(self.dim(), 1)));
  for (int64_t d : dims) {
    const size_t w = size_t(wrap_dim(d, self.dim()));
    check(!flipped[w], "dim ", w, " appears multiple times in the list of dims");
    flipped[w] = 1;
  }
  Tensor out = empty_like_tensor(self, self.dtype());
  if (out.is_meta() || out.numel() == 0) return out;
  Dims from(self.strides());
  int64_t start = 0;
  for (size_t d = 0; d < from.size(); ++d)
    if (flipped[d]) {
      start += (self.sizes()[d] - 1) * from[d];
      from[d] = -from[d];
    }
  const GatherRow row = gather_row(self.itemsize());
  const size_t n = from.size();
  if (n == 0) {
    row(out.data(), 1, self.data(), RowPlaces{}, 1);
    return out;
  }
  const int64_t to_step = out.strides()[n - 1], width = self.sizes()[n - 1];
  for_rows(self.sizes(), out.strides(), from, [&](int64_t to, int64_t at, int64_t) {
    row(address(out, to), to_step, address(self, start + at), RowPlaces{nullptr, 0, from[n - 1]},
        width);
  });
  return out;
}

// ---- roll
namespace {

Tensor roll_one(const Tensor& self, int64_t shift, int64_t dim) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  const int64_t d = wrap_dim(dim, self.dim());
  if (out.is_meta() || self.numel() == 0) return out;
  if (self.dim() == 0) {
    copy_into(out, self);
    return out;
  }
  const int64_t n = self.size(d), s = ((shift % n) + n) % n;
  if (s > 0) copy_into(narrow(out, d, 0, s), narrow(self, d, n - s, s));
  copy_into(narrow(out, d, s, n - s), narrow(self, d, 0, n - s));
  return out;
}

}  // namespace

Tensor roll(const Tensor& self, IntRef shifts, IntRef dims) {
  check(!shifts.empty(), "`shifts` required");
  check_index(dims.empty() || self.dim() > 0,
              "Dimension specified as 0 but tensor has no dimensions");
  if (dims.empty() && shifts.size() == 1) {
    const Tensor flat = view(contiguous(self), {self.numel()});
    return view(roll_one(flat, shifts[0], 0), self.sizes());
  }
  check(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
        ", dims:", dims.size());
  Tensor out = self;
  for (size_t i = 0; i < dims.size(); ++i) out = roll_one(out, shifts[i], dims[i]);
  return out;
}

// ---- repeat
Tensor repeat(const Tensor& self, IntRef repeats) {
  const size_t n = repeats.size(), have = size_t(self.dim());
  check(n >= have, "Number of dimensions of repeat dims can not be smaller than number of "
      "dimensions "
        "of tensor");
  Dims sizes, blocks, once;
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = i + have < n ? 1 : self.sizes()[i + have - n];
    sizes.push_back(size * repeats[i]);
    blocks.push_back(repeats[i]);
    blocks.push_back(size);
    once.push_back(1);
    once.push_back(size);
  }
  for (size_t i = 0; i < n; ++i)
    check(sizes[i] >= 0 && repeats[i] >= 0, "Trying to create tensor with negative dimension ",
          sizes[i], ": ", sizes);
  Tensor out = empty_tensor(sizes, self.dtype(), self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  copy_into(view(out, blocks), expand(reshape(self, once), blocks));
  return out;
}

Tensor repeat_positions(const Tensor& repeats, std::optional<int64_t> output_size) {
  check(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  if (repeats.dtype() != DType::Int64 && repeats.dtype() != DType::Int32)
    dtype_not_implemented("repeat_interleave_cpu", repeats.dtype());
  if (repeats.is_meta() && output_size)
    return empty_tensor({*output_size}, repeats.dtype(), repeats.device());
  const Tensor counts = index_numbers(repeats);
  const int64_t* p = counts.data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    check(p[i] >= 0, "repeats can not be negative");
    total += p[i];
  }
  check(!output_size || *output_size == total, "allocated size does not match required size");
  Tensor out = empty_tensor({total}, repeats.dtype());
  visit(TypeList<int64_t, int32_t>{}, repeats.dtype(), "repeat_interleave_cpu", [&]<class T>() {
    T* to = out.data<T>();
    for (int64_t i = 0; i < counts.numel(); ++i) to = std::fill_n(to, p[i], T(i));
  });
  return out;
}

// ---- writes into a view of a copy
namespace {
Tensor with_place(const Tensor& out, const Tensor& place, const Tensor& src) {
  check(src.sizes() == place.sizes(), "expected src to have a size equal to the slice of self. src "
        "size = ", src.sizes(), ", slice size = ", place.sizes());
  copy_into(place, src);
  return out;
}
}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  Tensor out = preserving_clone(self);
  return with_place(out, select(out, dim, index), src);
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
    std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  Tensor out = preserving_clone(self);
  return with_place(out, slice(out, dim, start, end, step), src);
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  Tensor out = preserving_clone(self);
  return with_place(out, diagonal(out, offset, dim1, dim2), src);
}
// The view is one of the storage: the copy keeps the strides and the offset.
Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntRef size, IntRef stride,
                          std::optional<int64_t> storage_offset) {
  if (self.is_meta()) return empty_like_tensor(self, self.dtype());
  const Tensor memory = empty_tensor({int64_t(self.storage()->nbytes()) / self.itemsize()},
      self.dtype());
  Tensor out = rl::alias(memory, self.sizes(), self.strides(), self.offset());
  Tensor all = rl::alias(self, memory.sizes(), memory.strides(), 0);
  copy_into(memory, all);
  return with_place(out, as_strided(out, size, stride, storage_offset), src);
}

// ---- sizes in place
namespace {
void set_format(const Tensor& self, std::optional<MemoryFormat> format) {
  if (!format || *format == MemoryFormat::Contiguous || *format == MemoryFormat::Preserve) return;
  const Tensor model = empty_format(self.sizes(), self.dtype(), Device(DeviceType::Meta), *format);
  self.impl()->strides = model->strides;
  self.impl()->refresh();
}
}  // namespace

void resize_(const Tensor& self, IntRef size, std::optional<MemoryFormat> format) {
  check(!self.requires_grad(), "cannot resize variables that require grad");
  numel_of(size);
  if (!(self.sizes() == size)) resize_impl(self, size);
  check(!format || *format != MemoryFormat::Preserve, "Unsupported memory format", "Preserve");
  set_format(self, format);
}
void resize_as_(const Tensor& self, const Tensor& model, std::optional<MemoryFormat> format) {
  check(!self.requires_grad(), "cannot resize variables that require grad");
  if (!(self.sizes() == model.sizes())) resize_impl(self, model.sizes());
  if (format && *format == MemoryFormat::Preserve) set_format(self, suggest_memory_format(model));
  else set_format(self, format);
}

// ---- diagonals and triangles
Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t n = self.dim() + 1;
  const int64_t a = wrap_dim(dim1, n), b = wrap_dim(dim2, n);
  check(a != b, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t side = self.size(-1) + std::abs(offset);
  Dims sizes(self.sizes());
  sizes.pop_back();
  sizes.insert(size_t(std::min(a, b)), side);
  sizes.insert(size_t(std::max(a, b)), side);
  Tensor out = full(sizes, Scalar(0), self.dtype(), self.device());
  copy_into(diagonal(out, offset, a, b), self);
  return out;
}

namespace {

// The sum of clamp(r + k, 0, most) over the rows r < n.
__int128 clamped_sum(int64_t n, __int128 k, int64_t most) {
  const __int128 start = std::clamp<__int128>(-k, 0, n);  // the first above 0
  const __int128 full = std::clamp<__int128>(most - k, start, n);  // the first of `most`
  const __int128 rising = full - start;
  return rising * (start + k) + rising * (rising - 1) / 2 + (n - full) * most;
}
int64_t clamped(int64_t r, __int128 k, int64_t most) {
  return int64_t(std::clamp<__int128>(r + k, 0, most));
}

// Columns [first, last) of each row from `start` on, `elements` in all.
template <class F>
Tensor index_list(int64_t row, int64_t col, std::optional<DType> dtype,
                  std::optional<Device> device, const char* name, int64_t start,
                  __int128 elements, F&& range) {
  check(row >= 0, "row must be non-negative, got", row);
  check(col >= 0, "col must be non-negative, got", col);
  check(elements >= 0 && elements < (__int128(1) << 62),
        "Storage size calculation overflowed with sizes=[2, ", row, " x ", col, "]");
  const int64_t total = int64_t(elements);
  Tensor out = empty_tensor({2, total}, dtype.value_or(DType::Int64), device.value_or(Device{}));
  if (out.is_meta() || total == 0) return out;
  visit(TypeList<int64_t, int32_t, int16_t, int8_t, uint8_t>{}, out.dtype(), name, [&]<class T>() {
    T* p = out.data<T>();
    for (int64_t r = start, at = 0; at < total; ++r) {
      auto [first, last] = range(r);
      for (int64_t c = first; c < last; ++c, ++at) {
        p[at] = T(r);
        p[total + at] = T(c);
      }
    }
  });
  return out;
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype,
                    std::optional<Device> device) {
  const __int128 elements = clamped_sum(row, __int128(offset) + 1, col);
  const int64_t start = offset < 0 ? -(offset + 1) : 0;
  return index_list(row, col, dtype, device, "tril_indices", start, elements, [&](int64_t r) {
    return std::pair(int64_t(0), clamped(r, __int128(offset) + 1, col));
  });
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype,
                    std::optional<Device> device) {
  const __int128 elements = __int128(row) * col - clamped_sum(row, offset, col);
  return index_list(row, col, dtype, device, "triu_indices", 0, elements, [&](int64_t r) {
    return std::pair(clamped(r, offset, col), col);
  });
}

}  // namespace rl::native
