// Sizes, strides and what follows from them.
#include <algorithm>

#include "core/sparse.h"

namespace rl {

void TensorImpl::refresh() {
  const int64_t n = numel_of(sizes);  // views can be larger than all memory
  numel = n;
  int64_t expect = 1;
  contiguous = true;
  if (n == 0) return;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expect) {
      contiguous = false;
      return;
    }
    expect *= sizes[i];
  }
}

void TensorImpl::set_contiguous(IntRef s) {
  sizes = s;
  const size_t n = s.size();
  strides.resize(n);
  int64_t step = 1, count = 1;
  for (size_t i = n; i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(s[i], 1);
    count *= s[i];
  }
  numel = count;
  contiguous = true;
}

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t n = std::max<int64_t>(ndim, 1);
  if (dim < -n || dim >= n)
    fail_as(ErrorKind::Index, "Dimension out of range (expected to be in range of [", -n, ", ",
            n - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

int64_t Tensor::size(int64_t d) const {
  check_index(dim() > 0, "Dimension specified as ", d, " but tensor has no dimensions");
  return p_->sizes[size_t(wrap_dim(d, dim()))];
}

int64_t Tensor::stride(int64_t d) const {
  check_index(dim() > 0, "Dimension specified as ", d, " but tensor has no dimensions");
  return p_->strides[size_t(wrap_dim(d, dim()))];
}

bool Tensor::is_contiguous(MemoryFormat f) const {
  if (f == MemoryFormat::Contiguous || f == MemoryFormat::Preserve) return p_->contiguous;
  if (dim() != (f == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  if (numel() == 0) return true;
  const Dims want = channels_last_strides(sizes());
  for (size_t i = 0; i < want.size(); ++i)
    if (p_->sizes[i] != 1 && p_->strides[i] != want[i]) return false;
  return true;
}

Layout Tensor::layout() const {
  switch (p_->kind) {
    case ImplKind::Sparse:
    case ImplKind::SparseCsr: return static_cast<SparseImpl*>(p_.get())->layout;
    default: return Layout::Strided;
  }
}

Dims contiguous_strides(IntRef sizes) {
  Dims out(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    out[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return out;
}

Dims channels_last_strides(IntRef sizes) {
  const size_t n = sizes.size();
  check(n == 4 || n == 5, "channels_last needs 4 or 5 dimensions, got ", n);
  Dims out(n);
  int64_t step = 1;
  auto put = [&](size_t d) {
    out[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  };
  put(1);
  for (size_t d = n; d-- > 2;) put(d);
  put(0);
  return out;
}

int64_t numel_of(IntRef sizes) {
  int64_t n = 1;
  bool overflow = false, zero = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0)
      fail("Trying to create tensor with negative dimension ", sizes[i], ": ", sizes);
    zero = zero || sizes[i] == 0;
    overflow = overflow || __builtin_mul_overflow(n, sizes[i], &n);
  }
  if (zero) return 0;
  if (overflow) fail("numel: integer multiplication overflow");
  return n;
}

Dims broadcast_shapes(IntRef a, IntRef b) {
  const size_t n = std::max(a.size(), b.size());
  Dims out(n);
  for (size_t k = 1; k <= n; ++k) {
    const int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1)
      fail("The size of tensor a (", x, ") must match the size of tensor b (", y,
           ") at non-singleton dimension ", n - k);
    out[n - k] = x == 1 ? y : x;
  }
  return out;
}

bool is_non_overlapping_and_dense(IntRef sizes, IntRef strides) {
  SmallVec<int64_t, 5> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1) dims.push_back(int64_t(i));
  }
  std::sort(dims.begin(), dims.end(),
            [&](int64_t a, int64_t b) { return strides[size_t(a)] < strides[size_t(b)]; });
  int64_t expect = 1;
  for (int64_t d : dims) {
    if (strides[size_t(d)] != expect) return false;
    expect *= sizes[size_t(d)];
  }
  return true;
}

// PyTorch's rule for which format results follow: strides of N, spatial, C descend as in NHWC.
static bool looks_channels_last(const Tensor& t) {
  const auto sizes = t.sizes(), strides = t.strides();
  if (strides[1] == 0) return false;
  int64_t least = 0;
  const size_t n = sizes.size();
  auto next = [&](size_t d) {
    if (sizes[d] == 0 || strides[d] < least) return false;
    // An ambiguous N111 or contiguous NCHW with C == 1 counts as contiguous.
    if (d == 0 && least == strides[1]) return false;
    least = strides[d];
    if (sizes[d] > 1) least *= sizes[d];
    return true;
  };
  if (!next(1)) return false;
  for (size_t d = n; d-- > 2;)
    if (!next(d)) return false;
  return next(0);
}

MemoryFormat suggest_memory_format(const Tensor& t) {
  if (t.dim() == 4 && looks_channels_last(t)) return MemoryFormat::ChannelsLast;
  if (t.dim() == 5 && looks_channels_last(t)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

int64_t storage_bytes_needed(IntRef sizes, IntRef strides, int64_t offset, int64_t itemsize) {
  int64_t last = offset, step, bytes;
  bool bad = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    bad = bad || __builtin_mul_overflow(sizes[i] - 1, strides[i], &step);
    bad = bad || __builtin_add_overflow(last, step, &last);
  }
  bad = bad || __builtin_add_overflow(last, 1, &last) ||
        __builtin_mul_overflow(last, itemsize, &bytes);
  check(!bad, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return bytes;
}

void resize_impl(const Tensor& t, IntRef sizes) {
  numel_of(sizes);
  if (t.sizes() == sizes) return;
  check_implemented(!is_sparse_kind(t), "resize_ of a tensor of layout ",
                    layout_name(t.layout()), " is not implemented");
  const Dims strides = contiguous_strides(sizes);
  const int64_t need = storage_bytes_needed(sizes, strides, t.offset(), t.itemsize());
  if (need > int64_t(t.storage()->nbytes())) t.storage()->resize(size_t(need));
  t->set_contiguous(sizes);
}

bool has_internal_overlap(const Tensor& t) {
  if (t.is_contiguous()) return false;
  for (size_t i = 0; i < t.sizes().size(); ++i)
    if (t.sizes()[i] > 1 && t.strides()[i] == 0) return true;
  return false;
}

void check_no_internal_overlap(const Tensor& t) {
  check(!has_internal_overlap(t),
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.");
}

void check_no_partial_overlap(const Tensor& a, const Tensor& b) {
  if (a.is_same(b) || a.numel() == 0 || b.numel() == 0 || a.storage() != b.storage()) return;
  if (a.is_meta() || !a.storage()) return;
  if (a.offset() == b.offset() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
      a.dtype() == b.dtype())
    return;
  if (!is_non_overlapping_and_dense(a.sizes(), a.strides()) ||
      !is_non_overlapping_and_dense(b.sizes(), b.strides()))
    return;
  const char *pa = static_cast<char*>(a.data()), *pb = static_cast<char*>(b.data());
  check(
      pa + a.nbytes() <= pb || pb + b.nbytes() <= pa,
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
      "a single memory location. Please clone() the tensor before performing the operation.");
}

}  // namespace rl
