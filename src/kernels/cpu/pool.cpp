// Pooling (see pool.h). The innermost loop runs over neighbouring outputs of a row, or over the
// channels where these are last, so that it becomes vector code.
#include "kernels/cpu/pool.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/isa.h"

namespace rl::cpu::RL_ISA {
namespace {

constexpr int64_t kStrip = 512;

template <class T>
constexpr T lowest() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::lowest();
}

// Outputs lo..hi whose tap `offset` (kernel position minus padding) lies inside the input.
struct Range {
  int64_t lo, hi;
  Range(const Pool& p, int d, int64_t offset) {
    const int64_t s = p.stride[d];
    lo = offset >= 0 ? 0 : (-offset + s - 1) / s;
    hi = p.in[d] > offset ? (p.in[d] - offset + s - 1) / s : 0;
    hi = std::min(hi, p.out[d]);
  }
};

// Elements of the window of output `o` along dimension d, as averages count them.
int64_t window(const Pool& p, int d, int64_t o) {
  const int64_t start = o * p.stride[d] - p.padding[d];
  const int64_t end = std::min(start + p.kernel[d], p.in[d] + p.padding[d]);
  if (p.count_padding) return end - start;
  return std::min(end, p.in[d]) - std::max<int64_t>(start, 0);
}

template <class T, int64_t S>
inline void take_larger(T* best, int32_t* at, const T* src, int64_t n, int64_t step,
                        int32_t first) {
  const int64_t s = S ? S : step;
  for (int64_t i = 0; i < n; ++i) {
    const T v = src[i * s];
    const bool take = (v > best[i]) | (v != v) | (at[i] < 0);
    best[i] = take ? v : best[i];
    at[i] = take ? int32_t(first + i * s) : at[i];
  }
}

template <class T>
inline void take_larger_same(T* best, int32_t* at, const T* src, int64_t n, int32_t position) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = src[i];
    const bool take = (v > best[i]) | (v != v) | (at[i] < 0);
    best[i] = take ? v : best[i];
    at[i] = take ? position : at[i];
  }
}

template <class T, int64_t S>
inline void add_strided(T* sum, const T* src, int64_t n, int64_t step) {
  const int64_t s = S ? S : step;
  for (int64_t i = 0; i < n; ++i) sum[i] += src[i * s];
}

// f(row of the input plane, as an offset in positions) for the taps above and below.
template <class F>
inline void for_lines(const Pool& p, int64_t od, int64_t oh, F&& f) {
  for (int64_t kd = 0; kd < p.kernel[0]; ++kd) {
    const int64_t z = od * p.stride[0] - p.padding[0] + kd * p.dilation[0];
    if (z < 0 || z >= p.in[0]) continue;
    for (int64_t kh = 0; kh < p.kernel[1]; ++kh) {
      const int64_t y = oh * p.stride[1] - p.padding[1] + kh * p.dilation[1];
      if (y >= 0 && y < p.in[1]) f((z * p.in[1] + y) * p.in[2]);
    }
  }
}

// f(first output, count, first input position) for the taps of a line, in strips.
template <class F>
inline void for_taps(const Pool& p, int64_t from, int64_t to, F&& f) {
  for (int64_t kw = 0; kw < p.kernel[2]; ++kw) {
    const int64_t offset = kw * p.dilation[2] - p.padding[2];
    const Range r(p, 2, offset);
    const int64_t lo = std::max(r.lo, from), hi = std::min(r.hi, to);
    if (lo < hi) f(lo - from, hi - lo, lo * p.stride[2] + offset);
  }
}

template <class T>
void max_row_first(const Pool& p, const T* plane, T* dst, int64_t* index, int64_t od, int64_t oh) {
  T best[kStrip];
  int32_t at[kStrip];
  for (int64_t from = 0; from < p.out[2]; from += kStrip) {
    const int64_t to = std::min(from + kStrip, p.out[2]);
    std::fill(best, best + (to - from), lowest<T>());
    std::fill(at, at + (to - from), -1);
    for_lines(p, od, oh, [&](int64_t line) {
      for_taps(p, from, to, [&](int64_t o, int64_t n, int64_t x) {
        const T* src = plane + line + x;
        const int32_t first = int32_t(line + x);
        if (p.stride[2] == 1) take_larger<T, 1>(best + o, at + o, src, n, 1, first);
        else if (p.stride[2] == 2) take_larger<T, 2>(best + o, at + o, src, n, 2, first);
        else take_larger<T, 0>(best + o, at + o, src, n, p.stride[2], first);
      });
    });
    for (int64_t i = from; i < to; ++i) dst[i] = best[i - from], index[i] = at[i - from];
  }
}

template <class T>
void max_row_last(const Pool& p, const T* image, T* dst, int64_t* index, int64_t od, int64_t oh) {
  T best[kStrip];
  int32_t at[kStrip];
  for (int64_t ow = 0; ow < p.out[2]; ++ow)
    for (int64_t c = 0; c < p.channels; c += kStrip) {
      const int64_t n = std::min(kStrip, p.channels - c);
      std::fill(best, best + n, lowest<T>());
      std::fill(at, at + n, -1);
      for_lines(p, od, oh, [&](int64_t line) {
        for_taps(p, ow, ow + 1, [&](int64_t, int64_t, int64_t x) {
          take_larger_same(best, at, image + (line + x) * p.channels + c, n, int32_t(line + x));
        });
      });
      const int64_t to = ow * p.channels + c;
      for (int64_t i = 0; i < n; ++i) dst[to + i] = best[i], index[to + i] = at[i];
    }
}

// Calls f(plane or image, first output element of the row, od, oh).
template <class F>
inline void for_rows(const Pool& p, int64_t begin, int64_t end, F&& f) {
  const int64_t width = p.out[2] * (p.last ? p.channels : 1);
  for (int64_t r = begin; r < end; ++r) {
    const int64_t oh = r % p.out[1], od = r / p.out[1] % p.out[0];
    f(r / (p.out[0] * p.out[1]), r * width, od, oh);
  }
}

inline int64_t unit_size(const Pool& p) {
  return p.in[0] * p.in[1] * p.in[2] * (p.last ? p.channels : 1);
}

template <class T>
void max_rows(const Pool& p, const T* src, T* dst, int64_t* index, int64_t begin, int64_t end) {
  for_rows(p, begin, end, [&](int64_t unit, int64_t to, int64_t od, int64_t oh) {
    const T* from = src + unit * unit_size(p);
    if (p.last) max_row_last(p, from, dst + to, index + to, od, oh);
    else max_row_first(p, from, dst + to, index + to, od, oh);
  });
}

template <class T>
T divisor(const Pool& p, int64_t od, int64_t oh, int64_t ow) {
  if (p.divisor) return T(p.divisor);
  return T(window(p, 0, od) * window(p, 1, oh) * window(p, 2, ow));
}

template <class T>
void avg_rows(const Pool& p, const T* src, T* dst, int64_t begin, int64_t end) {
  for_rows(p, begin, end, [&](int64_t unit, int64_t to, int64_t od, int64_t oh) {
    const T* from = src + unit * unit_size(p);
    T* row = dst + to;
    std::fill(row, row + p.out[2] * (p.last ? p.channels : 1), T(0));
    if (p.last) {
      for (int64_t ow = 0; ow < p.out[2]; ++ow) {
        T* sum = row + ow * p.channels;
        for_lines(p, od, oh, [&](int64_t line) {
          for_taps(p, ow, ow + 1, [&](int64_t, int64_t, int64_t x) {
            add_strided<T, 1>(sum, from + (line + x) * p.channels, p.channels, 1);
          });
        });
        const T by = divisor<T>(p, od, oh, ow);
        for (int64_t c = 0; c < p.channels; ++c) sum[c] /= by;
      }
      return;
    }
    for_lines(p, od, oh, [&](int64_t line) {
      for_taps(p, 0, p.out[2], [&](int64_t o, int64_t n, int64_t x) {
        if (p.stride[2] == 1) add_strided<T, 1>(row + o, from + line + x, n, 1);
        else if (p.stride[2] == 2) add_strided<T, 2>(row + o, from + line + x, n, 2);
        else add_strided<T, 0>(row + o, from + line + x, n, p.stride[2]);
      });
    });
    for (int64_t ow = 0; ow < p.out[2]; ++ow) row[ow] /= divisor<T>(p, od, oh, ow);
  });
}

template <class T>
void avg_backward(const Pool& p, const T* dy, T* dx, int64_t begin, int64_t end) {
  const int64_t lines = p.out[0] * p.out[1];
  std::fill(dx + begin * unit_size(p), dx + end * unit_size(p), T(0));
  for_rows(p, begin * lines, end * lines, [&](int64_t unit, int64_t at, int64_t od, int64_t oh) {
    T* to = dx + unit * unit_size(p);
    const T* row = dy + at;
    for_lines(p, od, oh, [&](int64_t line) {
      for (int64_t ow = 0; ow < p.out[2]; ++ow) {
        const T scale = T(1) / divisor<T>(p, od, oh, ow);
        for_taps(p, ow, ow + 1, [&](int64_t, int64_t, int64_t x) {
          if (!p.last) {
            to[line + x] += row[ow] * scale;
            return;
          }
          T* d = to + (line + x) * p.channels;
          const T* g = row + ow * p.channels;
          for (int64_t c = 0; c < p.channels; ++c) d[c] += g[c] * scale;
        });
      }
    });
  });
}

}  // namespace

void max_pool_rows(DType dtype, const Pool& p, const void* src, void* dst, int64_t* index,
                   int64_t begin, int64_t end) {
  visit(TypeList<float, double, int64_t>{}, dtype, "max_pool2d", [&]<class T>() {
    max_rows(p, static_cast<const T*>(src), static_cast<T*>(dst), index, begin, end);
  });
}

void avg_pool_rows(DType dtype, const Pool& p, const void* src, void* dst, int64_t begin,
                   int64_t end) {
  visit(TypeList<float, double, int64_t>{}, dtype, "avg_pool2d", [&]<class T>() {
    avg_rows(p, static_cast<const T*>(src), static_cast<T*>(dst), begin, end);
  });
}

void avg_pool_backward(DType dtype, const Pool& p, const void* dy, void* dx, int64_t begin,
                       int64_t end) {
  visit(TypeList<float, double>{}, dtype, "avg_pool2d", [&]<class T>() {
    avg_backward(p, static_cast<const T*>(dy), static_cast<T*>(dx), begin, end);
  });
}

}  // namespace rl::cpu::RL_ISA
