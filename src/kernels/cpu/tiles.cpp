// Gather, scatter and fill of runs of opaque elements (see tiles.h).
#include "kernels/cpu/tiles.h"

#include <cstring>

namespace rl::cpu::RL_ISA {
namespace {

struct alignas(8) Bytes16 {
  uint64_t a, b;
};

constexpr int kMaxWalk = 64;

// Calls f(pointer offset, first element, count) for each run along dimension 0.
template <class F>
[[gnu::always_inline]] inline void for_runs(const Walk& w, int64_t start, int64_t n, F&& f) {
  int64_t index[kMaxWalk];
  int64_t offset = 0, rest = start;
  for (int d = 0; d < w.ndim; ++d) {
    index[d] = d + 1 < w.ndim ? rest % w.sizes[d] : rest;
    rest = d + 1 < w.ndim ? rest / w.sizes[d] : 0;
    offset += index[d] * w.strides[d];
  }
  int64_t done = 0;
  while (done < n) {
    int64_t count = w.sizes[0] - index[0];
    if (count > n - done) count = n - done;
    f(offset, done, count);
    done += count;
    if (done >= n) break;
    offset -= index[0] * w.strides[0];
    index[0] = 0;
    for (int d = 1; d < w.ndim; ++d) {
      offset += w.strides[d];
      if (++index[d] < w.sizes[d] || d + 1 == w.ndim) break;
      offset -= index[d] * w.strides[d];
      index[d] = 0;
    }
  }
}

template <class T>
[[gnu::always_inline]] inline T load_at(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

template <class T>
void gather_as(void* dst, const char* src, const Walk& walk, int64_t start, int64_t n) {
  T* out = static_cast<T*>(dst);
  const int64_t stride = walk.strides[0];
  for_runs(walk, start, n, [=](int64_t offset, int64_t first, int64_t count) {
    const char* from = src + offset;
    T* to = out + first;
    if (stride == int64_t(sizeof(T)) && count > 8) {
      std::memcpy(to, from, size_t(count) * sizeof(T));
    } else if (stride == 0) {
      const T v = load_at<T>(from);
      for (int64_t i = 0; i < count; ++i) to[i] = v;
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = load_at<T>(from + i * stride);
    }
  });
}

template <class T>
void scatter_as(char* dst, const void* src, const Walk& walk, int64_t start, int64_t n) {
  const T* in = static_cast<const T*>(src);
  const int64_t stride = walk.strides[0];
  for_runs(walk, start, n, [=](int64_t offset, int64_t first, int64_t count) {
    char* to = dst + offset;
    const T* from = in + first;
    if (stride == int64_t(sizeof(T)) && count > 8) {
      std::memcpy(to, from, size_t(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * stride, from + i, sizeof(T));
    }
  });
}

template <class T>
void fill_as(void* dst, const void* value, int64_t n) {
  const T v = load_at<T>(static_cast<const char*>(value));
  T* out = static_cast<T*>(dst);
  for (int64_t i = 0; i < n; ++i) out[i] = v;
}

}  // namespace

void gather(void* dst, const char* src, int item, Walk walk, int64_t start, int64_t n) {
  switch (item) {
    case 1: return gather_as<uint8_t>(dst, src, walk, start, n);
    case 2: return gather_as<uint16_t>(dst, src, walk, start, n);
    case 4: return gather_as<uint32_t>(dst, src, walk, start, n);
    case 8: return gather_as<uint64_t>(dst, src, walk, start, n);
    default: return gather_as<Bytes16>(dst, src, walk, start, n);
  }
}

void scatter(char* dst, const void* src, int item, Walk walk, int64_t start, int64_t n) {
  switch (item) {
    case 1: return scatter_as<uint8_t>(dst, src, walk, start, n);
    case 2: return scatter_as<uint16_t>(dst, src, walk, start, n);
    case 4: return scatter_as<uint32_t>(dst, src, walk, start, n);
    case 8: return scatter_as<uint64_t>(dst, src, walk, start, n);
    default: return scatter_as<Bytes16>(dst, src, walk, start, n);
  }
}

void fill_run(void* dst, const void* value, int item, int64_t n) {
  switch (item) {
    case 1: return fill_as<uint8_t>(dst, value, n);
    case 2: return fill_as<uint16_t>(dst, value, n);
    case 4: return fill_as<uint32_t>(dst, value, n);
    case 8: return fill_as<uint64_t>(dst, value, n);
    default: return fill_as<Bytes16>(dst, value, n);
  }
}

}  // namespace rl::cpu::RL_ISA
