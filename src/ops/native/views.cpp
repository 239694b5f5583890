// Views: each computes sizes, strides and offset of a new handle on the same storage.
#include <algorithm>

#include "ops/native.h"
#include "ops/view_geometry.h"

namespace rl {

Dims infer_size(IntRef shape, int64_t numel) {
  Dims out(shape);
  int64_t known = 1, at = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      check(at < 0, "only one dimension can be inferred");
      at = int64_t(i);
    } else {
      check(shape[i] >= 0, "invalid shape dimension ", shape[i], " at index ", i, " of shape ",
            shape);
      check(!__builtin_mul_overflow(known, shape[i], &known), "shape '", shape, "' is too large");
    }
  }
  const bool fits = at < 0 ? known == numel : known > 0 && numel % known == 0;
  if (at >= 0 && known == 0 && numel == 0)
    fail("cannot reshape tensor of 0 elements into shape ", shape,
         " because the unspecified dimension size -1 can be any value and is ambiguous");
  check(fits, "shape '", shape, "' is invalid for input of size ", numel);
  if (at >= 0) out[size_t(at)] = numel / known;
  return out;
}

// Old dimensions are merged into runs of evenly spaced memory; each run must be a product of new
// dimensions. Returns false if the new shape cuts across a run.
bool view_strides(IntRef old_sizes, IntRef old_strides, int64_t numel, IntRef sizes, Dims& out) {
  out.resize(sizes.size());
  if (numel == 0) {
    out = old_sizes == sizes ? Dims(old_strides) : contiguous_strides(sizes);
    return true;
  }
  int64_t next = int64_t(sizes.size()) - 1;
  int64_t base = old_strides.empty() ? 1 : old_strides.back(), run = 1, placed = 1;
  for (int64_t d = int64_t(old_sizes.size()) - 1; d >= 0; --d) {
    run *= old_sizes[size_t(d)];
    const bool ends = d == 0 || (old_sizes[size_t(d - 1)] != 1 &&
                                 old_strides[size_t(d - 1)] != run * base);
    if (!ends) continue;
    while (next >= 0 && (placed < run || sizes[size_t(next)] == 1)) {
      out[size_t(next)] = placed * base;
      placed *= sizes[size_t(next)];
      --next;
    }
    if (placed != run) return false;
    if (d > 0) {
      base = old_strides[size_t(d - 1)];
      run = placed = 1;
    }
  }
  for (; next >= 0; --next) {
    if (sizes[size_t(next)] != 1) return false;
    out[size_t(next)] = old_sizes.empty() ? 1 : base;
  }
  return true;
}

namespace native {

Tensor view(const Tensor& self, IntRef size) {
  const Dims sizes = infer_size(size, self.numel());
  Dims strides;
  check(view_strides(self.sizes(), self.strides(), self.numel(), sizes, strides),
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead.");
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor reshape(const Tensor& self, IntRef size) {
  const Dims sizes = infer_size(size, self.numel());
  Dims strides;
  if (view_strides(self.sizes(), self.strides(), self.numel(), sizes, strides))
    return rl::alias(self, sizes, strides, self.offset());
  return view(contiguous(self), sizes);
}

Tensor alias_view(const Tensor& self) { return rl::alias(self); }

static Tensor retyped(const Tensor& self, DType dtype, IntRef sizes, IntRef strides,
                      int64_t offset) {
  Tensor out = rl::alias(self, sizes, strides, offset);
  out->dtype = dtype;
  return out;
}

Tensor view_dtype(const Tensor& self, DType dtype) {
  const int64_t from = self.itemsize(), to = itemsize(dtype);
  if (from == to) return retyped(self, dtype, self.sizes(), self.strides(), self.offset());
  check(self.dim() > 0, "self.dim() cannot be 0 to view ", self.dtype(), " as ", dtype,
        " (different element sizes)");
  check(self.strides().back() == 1, "self.stride(-1) must be 1 to view ", self.dtype(), " as ",
        dtype, " (different element sizes), but got ", self.strides().back());
  Dims sizes(self.sizes()), strides(self.strides());
  const size_t last = sizes.size() - 1;
  if (from > to) {
    const int64_t k = from / to;
    for (size_t i = 0; i < last; ++i) strides[i] *= k;
    sizes[last] *= k;
    return retyped(self, dtype, sizes, strides, self.offset() * k);
  }
  const int64_t k = to / from;
  check(sizes[last] % k == 0, "self.size(-1) must be divisible by ", k, " to view ", self.dtype(),
        " as ", dtype, " (different element sizes), but got ", sizes[last]);
  check(self.offset() % k == 0, "self.storage_offset() must be divisible by ", k, " to view ",
        self.dtype(), " as ", dtype, " (different element sizes), but got ", self.offset());
  for (size_t i = 0; i < last; ++i) {
    check(strides[i] % k == 0, "self.stride(", i, ") must be divisible by ", k, " to view ",
          self.dtype(), " as ", dtype, " (different element sizes), but got ", strides[i]);
    strides[i] /= k;
  }
  sizes[last] /= k;
  return retyped(self, dtype, sizes, strides, self.offset() / k);
}

Tensor expand(const Tensor& self, IntRef size, bool) {
  const size_t n = size.size(), have = size_t(self.dim());
  check(n >= have, "expand(", dtype_name(self.dtype()), self.sizes(), ", size=", size,
        "): the number of sizes provided (", n,
        ") must be greater or equal to the number of dimensions in the tensor (", have, ")");
  Dims sizes(n), strides(n);
  for (size_t k = 1; k <= n; ++k) {
    const size_t i = n - k;
    int64_t want = size[i];
    if (k > have) {
      check(want >= 0, "The expanded size of the tensor (", want,
            ") isn't allowed in a leading, non-existing dimension ", i);
      sizes[i] = want;
      strides[i] = i + 1 < n ? sizes[i + 1] * strides[i + 1] : 1;
      if (want != 1) strides[i] = 0;
      continue;
    }
    const int64_t old = self.sizes()[have - k];
    if (want == -1) want = old;
    check(want == old || old == 1, "The expanded size of the tensor (", want,
          ") must match the existing size (", old, ") at non-singleton dimension ", i,
          ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
    check(want >= 0, "The expanded size of the tensor (", want, ") must not be negative");
    sizes[i] = want;
    strides[i] = want == old ? self.strides()[have - k] : 0;
  }
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor permute(const Tensor& self, IntRef dims) {
  const int64_t n = self.dim();
  check(int64_t(dims.size()) == n, "permute(sparse_coo): number of dimensions in the tensor input "
        "does not match the length of the desired ordering of dimensions i.e. input.dim() = ", n,
        " is not equal to len(dims) = ", dims.size());
  Dims sizes(dims.size()), strides(dims.size());
  SmallVec<int64_t, 8> seen(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t d = size_t(wrap_dim(dims[i], n));
    check(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = 1;
    sizes[i] = self.sizes()[d];
    strides[i] = self.strides()[d];
  }
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  if (a != b) {
    std::swap(sizes[size_t(a)], sizes[size_t(b)]);
    std::swap(strides[size_t(a)], strides[size_t(b)]);
  }
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor t(const Tensor& self) {
  check(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(),
        "D");
  return self.dim() < 2 ? rl::alias(self) : transpose(self, 0, 1);
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  check_index(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  const int64_t n = self.sizes()[d];
  check_index(index >= -n && index < n, "select(): index ", index,
              " out of range for tensor of size ", self.sizes(), " at dimension ", d);
  const int64_t offset = self.offset() + (index < 0 ? index + n : index) * self.strides()[d];
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.erase(d);
  strides.erase(d);
  return rl::alias(self, sizes, strides, offset);
}

// Strides of dimensions that are never stepped along may have any value.
static int64_t wrapping_product(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) * uint64_t(b));
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  check(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  check(step > 0, "slice step must be positive");
  const int64_t n = self.sizes()[d];
  auto clamp = [n](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + n : v, 0, n); };
  const int64_t from = clamp(start.value_or(0));
  const int64_t to = std::max(from, clamp(end.value_or(n)));
  Dims sizes(self.sizes()), strides(self.strides());
  sizes[d] = to == from ? 0 : (to - from - 1) / step + 1;
  strides[d] = wrapping_product(strides[d], step);
  return rl::alias(self, sizes, strides, self.offset() + from * self.strides()[d]);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return slice(self, dim, start, start + length, 1);
}

Tensor squeeze(const Tensor& self) {
  Dims sizes, strides;
  for (size_t i = 0; i < self.sizes().size(); ++i)
    if (self.sizes()[i] != 1) {
      sizes.push_back(self.sizes()[i]);
      strides.push_back(self.strides()[i]);
    }
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor squeeze_dims(const Tensor& self, IntRef dims) {
  SmallVec<int64_t, 8> drop(std::max<size_t>(size_t(self.dim()), 1));
  for (int64_t d : dims) drop[size_t(wrap_dim(d, self.dim()))] = 1;
  Dims sizes, strides;
  for (size_t i = 0; i < self.sizes().size(); ++i)
    if (!drop[i] || self.sizes()[i] != 1) {
      sizes.push_back(self.sizes()[i]);
      strides.push_back(self.strides()[i]);
    }
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const size_t d = size_t(wrap_dim(dim, self.dim() + 1));
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t step = d < sizes.size() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, step);
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t a = wrap_dim(dim1, self.dim()), b = wrap_dim(dim2, self.dim());
  check(a != b, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t na = self.size(a), nb = self.size(b);
  const int64_t n = std::max<int64_t>(
      offset >= 0 ? std::min(na, nb - offset) : std::min(na + offset, nb), 0);
  const int64_t sa = self.stride(a), sb = self.stride(b);
  const int64_t start = n == 0 ? 0 : offset >= 0 ? offset * sb : -offset * sa;
  Dims sizes, strides;
  for (int64_t i = 0; i < self.dim(); ++i)
    if (i != a && i != b) {
      sizes.push_back(self.size(i));
      strides.push_back(self.stride(i));
    }
  sizes.push_back(n);
  strides.push_back(sa + sb);
  return rl::alias(self, sizes, strides, self.offset() + start);
}

Tensor as_strided(const Tensor& self, IntRef size, IntRef stride, std::optional<int64_t> offset) {
  check(size.size() == stride.size(), "mismatch in length of strides and shape");
  for (int64_t s : stride)
    check(s >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ",
          stride);
  numel_of(size);
  const int64_t at = offset.value_or(self.offset());
  check(at >= 0, "Tensor: invalid storage offset ", at);
  const int64_t need = storage_bytes_needed(size, stride, at, self.itemsize());
  check(need <= int64_t(self.storage()->nbytes()), "setStorage: sizes ", size, ", strides ", stride,
        ", storage offset ", at, ", and itemsize ", self.itemsize(),
        " requiring a storage size of ", need, " are out of bounds for storage of size ",
        self.storage()->nbytes());
  return rl::alias(self, size, stride, at);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const size_t d = size_t(wrap_dim(dimension, self.dim()));
  const int64_t have = self.dim() == 0 ? 1 : self.sizes()[d];
  check(size >= 0, "size is ", size, " but must be >= 0");
  check(size <= have, "maximum size for tensor at dimension ", d, " is ", have, " but size is ",
        size);
  check(step > 0, "step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t stride = self.dim() == 0 ? 1 : strides[d];
  if (self.dim() > 0) {
    sizes[d] = (have - size) / step + 1;
    strides[d] = step * stride;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return rl::alias(self, sizes, strides, self.offset());
}

Tensor view_as_real(const Tensor& self) {
  check(self.is_complex(), "view_as_real is only supported for complex tensors");
  Dims sizes(self.sizes()), strides(self.strides());
  for (auto& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return retyped(self, to_real(self.dtype()), sizes, strides, self.offset() * 2);
}

Tensor view_as_complex(const Tensor& self) {
  const DType d = self.dtype();
  check(d == DType::Float || d == DType::Double || d == DType::Half,
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
        "scalar type: ", d);
  check(self.dim() > 0, "Input tensor must have one or more dimensions");
  check(self.sizes().back() == 2, "Tensor must have a last dimension of size 2");
  check(self.strides().back() == 1, "Tensor must have a last dimension with stride 1");
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.pop_back();
  strides.pop_back();
  for (auto& s : strides) {
    check(s % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  check(self.offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  return retyped(self, to_complex(d), sizes, strides, self.offset() / 2);
}

std::vector<Tensor> split_size(const Tensor& self, int64_t split_size, int64_t dim) {
  check(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  check(split_size >= 0,
        "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t n = self.size(dim);
  check(split_size > 0 || n == 0, "split_size can only be 0 if dimension size is 0, but got "
        "dimension size of ", n);
  const int64_t count =
      split_size == 0 ? 1 : std::max<int64_t>((n + split_size - 1) / split_size, 1);
  std::vector<Tensor> out;
  out.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i)
    out.push_back(narrow(self, dim, i * split_size, std::min(split_size, n - i * split_size)));
  return out;
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntRef sizes, int64_t dim) {
  check(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  const int64_t n = self.size(dim);
  int64_t at = 0;
  std::vector<Tensor> out;
  for (int64_t s : sizes) {
    check(s >= 0, "split_with_sizes expects split_sizes have only non-negative entries, but got "
          "split_sizes=", sizes);
    check(at + s <= n, "split_with_sizes expects split_sizes to sum exactly to ", n,
          " (input tensor's size at dimension ", dim, "), but got split_sizes=", sizes);
    out.push_back(narrow(self, dim, at, s));
    at += s;
  }
  check(at == n, "split_with_sizes expects split_sizes to sum exactly to ", n,
        " (input tensor's size at dimension ", dim, "), but got split_sizes=", sizes);
  return out;
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  check_index(self.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t n = self.size(dim);
  std::vector<Tensor> out;
  out.reserve(size_t(n));
  for (int64_t i = 0; i < n; ++i) out.push_back(select(self, dim, i));
  return out;
}

}  // namespace native
}  // namespace rl
