// Copies and fills of whole tensors (see copy.h).
#include "kernels/iter/copy.h"

#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/tiles.h"
#include "kernels/iter/tensor_iter.h"

namespace rl {
namespace {

constexpr int64_t kTile = 128;                    // elements, at most 16 bytes each
constexpr int64_t kStreamBytes = int64_t(16) << 20;  // beyond this a copy does not fit the caches
constexpr int64_t kBytesPerThread = 128 << 10;

struct Side {  // one side of a copy over merged dimensions, fastest first
  char* data;
  DType dtype;
  int64_t item;
  SmallVec<int64_t, 6> strides;
};
struct Geometry {
  SmallVec<int64_t, 6> sizes;
  Side dst, src;
  int64_t numel;
  cpu::Walk walk(const Side& s) const {
    return {sizes.data(), s.strides.data(), int(sizes.size())};
  }
};

int64_t grain_for(int64_t item) { return std::max<int64_t>(1, kBytesPerThread / item); }

void copy_flat(const Geometry& g) {
  const Side d = g.dst, s = g.src;
  const bool same = d.dtype == s.dtype;
  const bool stream = same && g.numel * d.item >= kStreamBytes;
  parallel_for(0, g.numel, grain_for(std::max(d.item, s.item)), [&](int64_t b, int64_t e) {
    char* to = d.data + b * d.item;
    const char* from = s.data + b * s.item;
    if (stream) cpu::copy_streaming(to, from, (e - b) * d.item);
    else if (same) std::memcpy(to, from, size_t((e - b) * d.item));
    else cpu::convert(to, d.dtype, from, s.dtype, e - b);
  });
}

// The loop dimension along which `src` is contiguous, when dst is contiguous along another.
int transposed_dim(const Geometry& g) {
  if (g.dst.dtype != g.src.dtype || g.dst.strides[0] != g.dst.item) return -1;
  if (g.src.strides[0] == g.src.item || g.sizes[0] < 4) return -1;
  for (size_t d = 1; d < g.sizes.size(); ++d)
    if (g.src.strides[d] == g.src.item && g.sizes[d] >= 4) return int(d);
  return -1;
}

void copy_transposed(const Geometry& g, int along) {
  const int64_t rows = g.sizes[0], columns = g.sizes[size_t(along)];
  // Work is cut into pieces of one outer index and a strip of columns.
  constexpr int64_t kStrip = 64;
  const int64_t strips = (columns + kStrip - 1) / kStrip;
  const int64_t outer = g.numel / (rows * columns);
  const int64_t grain = std::max<int64_t>(1, kBytesPerThread / (rows * kStrip * g.dst.item));
  parallel_for(0, outer * strips, grain, [&](int64_t b, int64_t e) {
    for (int64_t piece = b; piece < e; ++piece) {
      const int64_t first = piece % strips * kStrip;
      int64_t rest = piece / strips;
      int64_t to = first * g.dst.strides[size_t(along)], from = first * g.src.item;
      for (size_t d = 1; d < g.sizes.size(); ++d) {
        if (int(d) == along) continue;
        to += rest % g.sizes[d] * g.dst.strides[d];
        from += rest % g.sizes[d] * g.src.strides[d];
        rest /= g.sizes[d];
      }
      cpu::transpose(g.dst.data + to, g.dst.strides[size_t(along)], g.src.data + from,
                     g.src.strides[0], int(g.dst.item), rows, std::min(kStrip, columns - first));
    }
  });
}

bool is_flat(const Geometry& g, const Side& s) {
  return g.sizes.size() == 1 && (s.strides[0] == s.item || g.sizes[0] == 1);
}
bool packed(const Geometry& g, const Side& s) {  // loop order is memory order
  int64_t step = s.item;
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    if (s.strides[d] != step) return false;
    step *= g.sizes[d];
  }
  return true;
}

void copy_strided(const Geometry& g) {
  const Side &d = g.dst, &s = g.src;
  const bool same = d.dtype == s.dtype, dst_packed = packed(g, d), src_packed = packed(g, s);
  parallel_for(0, g.numel, grain_for(std::max(d.item, s.item)) / 4, [&](int64_t b, int64_t e) {
    if (same && dst_packed)
      return cpu::gather(d.data + b * d.item, s.data, int(s.item), g.walk(s), b, e - b);
    if (same && src_packed)
      return cpu::scatter(d.data, s.data + b * s.item, int(d.item), g.walk(d), b, e - b);
    alignas(64) char raw[kTile * 16], cooked[kTile * 16];
    for (int64_t at = b; at < e; at += kTile) {
      const int64_t n = std::min(kTile, e - at);
      const void* from = s.data + at * s.item;
      if (!src_packed) {
        cpu::gather(raw, s.data, int(s.item), g.walk(s), at, n);
        from = raw;
      }
      void* to = dst_packed ? static_cast<void*>(d.data + at * d.item) : cooked;
      if (same) to = const_cast<void*>(from);
      else cpu::convert(to, d.dtype, from, s.dtype, n);
      if (!dst_packed) cpu::scatter(d.data, to, int(d.item), g.walk(d), at, n);
    }
  });
}

void copy_geometry(const Geometry& g) {
  if (g.numel == 0) return;
  if (is_flat(g, g.dst) && is_flat(g, g.src)) return copy_flat(g);
  const int along = transposed_dim(g);
  if (along >= 0) return copy_transposed(g, along);
  copy_strided(g);
}

Geometry geometry_of(const Tensor& dst, const Tensor& src) {
  TensorIter it;
  it.add_output(dst, dst.dtype());
  it.add_input(src);
  it.allocate_for_copy(dst.sizes());
  auto side = [&](int i) {
    const TensorIter::Operand& op = it.operand(i);
    return Side{op.data, op.dtype, itemsize(op.dtype), op.strides};
  };
  return {it.loop_sizes(), side(0), side(1), it.numel()};
}

}  // namespace

void copy_tensor(const Tensor& dst, const Tensor& src) {
  check_implemented(dst->kind == ImplKind::Strided && src->kind == ImplKind::Strided,
                    "copy between tensors that are not strided");
  if (!(dst.sizes() == src.sizes())) {
    const Dims shape = broadcast_shapes(dst.sizes(), src.sizes());
    check(IntRef(shape) == dst.sizes(), "output with shape ", dst.sizes(),
          " doesn't match the broadcast shape ", shape);
  }
  if (dst.is_same(src) || dst.is_meta() || src.is_meta() || dst.numel() == 0) return;
  check_no_internal_overlap(dst);
  if (dst.is_contiguous() && src.is_contiguous() && dst.sizes() == src.sizes()) {
    const int64_t d = dst.itemsize(), s = src.itemsize();
    return copy_flat({{dst.numel()},
                      {static_cast<char*>(dst.data()), dst.dtype(), d, {d}},
                      {static_cast<char*>(src.data()), src.dtype(), s, {s}},
                      dst.numel()});
  }
  copy_geometry(geometry_of(dst, src));
}

Tensor cast_tensor(const Tensor& t, DType dtype) {
  Tensor out = empty_like_tensor(t, dtype);
  copy_tensor(out, t);
  return out;
}

Tensor clone_tensor(const Tensor& t, MemoryFormat f) {
  Tensor out = f == MemoryFormat::Preserve ? empty_like_tensor(t, t.dtype())
                                           : empty_format(t.sizes(), t.dtype(), t.device(), f);
  copy_tensor(out, t);
  return out;
}

Tensor contiguous_tensor(const Tensor& t) {
  return t.is_contiguous() ? t : clone_tensor(t, MemoryFormat::Contiguous);
}

void fill_tensor(const Tensor& dst, const Scalar& value) {
  if (dst.is_meta() || dst.numel() == 0) return;
  alignas(16) char one[16];
  const cdouble z = value.is_complex() ? value.to_complex() : cdouble();
  const int64_t i = value.is_integral() ? value.to_int() : 0;
  const double f = value.to_double();
  if (value.is_complex()) cpu::convert(one, dst.dtype(), &z, DType::ComplexDouble, 1);
  else if (value.is_integral()) cpu::convert(one, dst.dtype(), &i, DType::Int64, 1);
  else cpu::convert(one, dst.dtype(), &f, DType::Double, 1);
  const int64_t item = dst.itemsize();
  char* data = static_cast<char*>(dst.data());
  if (is_non_overlapping_and_dense(dst.sizes(), dst.strides())) {
    parallel_for(0, dst.numel(), grain_for(item), [&](int64_t b, int64_t e) {
      cpu::fill_run(data + b * item, one, int(item), e - b);
    });
    return;
  }
  const Tensor scalar = empty_tensor({}, dst.dtype());
  std::memcpy(scalar.data(), one, size_t(item));
  copy_geometry(geometry_of(dst, scalar));
}

Tensor full_tensor(IntRef sizes, const Scalar& value, DType dtype, Device device) {
  Tensor t = empty_tensor(sizes, dtype, device);
  fill_tensor(t, value);
  return t;
}

}  // namespace rl
