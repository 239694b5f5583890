// Rows of images combined by tables of taps (see resample.h).
#include "kernels/cpu/resample.h"

#include "kernels/cpu/isa.h"

namespace rl::cpu::RL_ISA {
namespace {

template <class R>
RL_INLINE void add_row(const R* __restrict x, R* __restrict y, R w, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] += w * x[k];
}

// A line of single elements whose outputs all have K taps.
template <int K, class R>
void resample_line(const R* __restrict x, R* __restrict y, Taps t) {
  for (int64_t i = 0; i < t.outputs; ++i) {
    R sum = 0;
    for (int k = 0; k < K; ++k) sum += R(t.weight[i * K + k]) * x[t.index[i * K + k]];
    y[i] = sum;
  }
}
template <class R>
bool resample_even_line(const R* x, R* y, Taps t) {
  const int64_t taps = t.first[1];
  for (int64_t i = 1; i <= t.outputs; ++i)
    if (t.first[i] != taps * i) return false;
  if (taps == 1) resample_line<1>(x, y, t);
  else if (taps == 2) resample_line<2>(x, y, t);
  else if (taps == 4) resample_line<4>(x, y, t);
  else return false;
  return true;
}

template <class R>
void resample(const R* x, R* y, Taps t, int64_t outer, int64_t n, int64_t inner) {
  for (int64_t o = 0; o < outer; ++o, x += n * inner) {
    if (inner == 1 && resample_even_line(x, y, t)) {
      y += t.outputs;
      continue;
    }
    for (int64_t i = 0; i < t.outputs; ++i, y += inner) {
      int64_t tap = t.first[i];
      const int64_t end = t.first[i + 1];
      if (inner == 1) {
        R sum = 0;
        for (; tap < end; ++tap) sum += R(t.weight[tap]) * x[t.index[tap]];
        y[0] = sum;
        continue;
      }
      const R* row = x + t.index[tap] * inner;
      const R w = R(t.weight[tap]);
      for (int64_t k = 0; k < inner; ++k) y[k] = w * row[k];
      for (++tap; tap < end; ++tap) add_row(x + t.index[tap] * inner, y, R(t.weight[tap]), inner);
    }
  }
}

template <class R>
void spread(const R* x, R* y, Taps t, int64_t outer, int64_t n, int64_t inner) {
  for (int64_t o = 0; o < outer; ++o, y += n * inner)
    for (int64_t i = 0; i < t.outputs; ++i, x += inner)
      for (int64_t tap = t.first[i]; tap < t.first[i + 1]; ++tap)
        add_row(x, y + t.index[tap] * inner, R(t.weight[tap]), inner);
}

}  // namespace

void resample_rows(DType real, const void* x, void* y, Taps taps, int64_t outer, int64_t n,
                   int64_t inner) {
  if (real == DType::Float)
    resample(static_cast<const float*>(x), static_cast<float*>(y), taps, outer, n, inner);
  else
    resample(static_cast<const double*>(x), static_cast<double*>(y), taps, outer, n, inner);
}
void spread_rows(DType real, const void* x, void* y, Taps taps, int64_t outer, int64_t n,
                 int64_t inner) {
  if (real == DType::Float)
    spread(static_cast<const float*>(x), static_cast<float*>(y), taps, outer, n, inner);
  else
    spread(static_cast<const double*>(x), static_cast<double*>(y), taps, outer, n, inner);
}

}  // namespace rl::cpu::RL_ISA
