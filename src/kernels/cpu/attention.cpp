// Rows of attention scores; see attention.h.
#include "kernels/cpu/attention.h"

#include "kernels/cpu/rows.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace {

using rows::for_vectors;
using rows::load;
using rows::store;

template <class T>
constexpr T kLowest = -__builtin_inf();

int64_t visible_keys(const ScoreTile& t, int64_t r) {
  if (!t.causal) return t.cols;
  const int64_t n = t.visible + r;
  return n < 0 ? 0 : n < t.cols ? n : t.cols;
}

template <class T>
void add_mask(const ScoreTile& t, int64_t r, T* s, int64_t n) {
  if (!t.mask) return;
  const T* m = static_cast<const T*>(t.mask) + r * t.mask_row;
  if (t.mask_col == 0) {
    const Vec<T> all(m[0]);
    for_vectors<T>(n, [&](int64_t i, int64_t c) { store(s + i, load(s + i, c) + all, c); });
  } else {
    for_vectors<T>(n, [&](int64_t i, int64_t c) {
      store(s + i, load(s + i, c) + load(m + i, c), c);
    });
  }
}

template <class T>
void exp_row(T* s, int64_t n, int64_t cols, T& high, T& sum, T* out, int64_t width) {
  Vec<T> m(high);
  for_vectors<T>(n, [&](int64_t i, int64_t c) { m = maximum(m, load(s + i, c, kLowest<T>)); });
  const T top = hmax(m), base = top == kLowest<T> ? T(0) : top;
  const Vec<T> shift(base);
  rows::WideSum total;
  for_vectors<T>(n, [&](int64_t i, int64_t c) {
    const Vec<T> e = exp(load(s + i, c, kLowest<T>) - shift);
    store(s + i, e, c);
    total.add(c == Vec<T>::size ? e : select(Mask<T>::first(c), e, Vec<T>(T(0))));
  });
  for_vectors<T>(cols - n, [&](int64_t i, int64_t c) { store(s + n + i, Vec<T>(T(0)), c); });
  const T keep = exp(high - base);
  sum = sum * keep + T(total.total());
  if (high != top && high != kLowest<T>) {
    const Vec<T> k(keep);
    for_vectors<T>(width, [&](int64_t i, int64_t c) { store(out + i, load(out + i, c) * k, c); });
  }
  high = top;
}

template <class T>
void exp_tile(const ScoreTile& t, T* scores, T* high, T* sum, T* out, int64_t width) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* s = scores + r * t.ld;
    const int64_t n = visible_keys(t, r);
    add_mask(t, r, s, n);
    exp_row(s, n, t.cols, high[r], sum[r], out + r * width, width);
  }
}

template <class T>
void finish(int64_t rows, int64_t width, const T* high, const T* sum, T* out, T* lse,
            int64_t lse_step) {
  for (int64_t r = 0; r < rows; ++r) {
    const bool empty = high[r] == kLowest<T>;
    const Vec<T> by(empty ? T(0) : T(1) / sum[r]);
    T* o = out + r * width;
    for_vectors<T>(width, [&](int64_t i, int64_t c) {
      store(o + i, empty ? Vec<T>(T(0)) : load(o + i, c) * by, c);
    });
    if (lse) lse[r * lse_step] = empty ? kLowest<T> : high[r] + T(log(double(sum[r])));
  }
}

template <class T>
void backward_tile(const ScoreTile& t, T* scores, T* dp, const T* lse, int64_t lse_step,
                   const T* delta, T scale) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T *s = scores + r * t.ld, *g = dp + r * t.ld;
    const int64_t n = visible_keys(t, r);
    add_mask(t, r, s, n);
    const T l = lse[r * lse_step];
    const Vec<T> shift(l == kLowest<T> ? T(0) : l), d(delta[r]), by(scale);
    for_vectors<T>(n, [&](int64_t i, int64_t c) {
      const Vec<T> p = exp(load(s + i, c) - shift);
      store(s + i, p, c);
      store(g + i, p * (load(g + i, c) - d) * by, c);
    });
    for_vectors<T>(t.cols - n, [&](int64_t i, int64_t c) {
      store(s + n + i, Vec<T>(T(0)), c);
      store(g + n + i, Vec<T>(T(0)), c);
    });
  }
}

}  // namespace

void attention_exp(DType dtype, const ScoreTile& tile, void* scores, void* high, void* sum,
                   void* out, int64_t width) {
  if (dtype == DType::Float) {
    exp_tile(tile, static_cast<float*>(scores), static_cast<float*>(high),
             static_cast<float*>(sum), static_cast<float*>(out), width);
  } else {
    exp_tile(tile, static_cast<double*>(scores), static_cast<double*>(high),
             static_cast<double*>(sum), static_cast<double*>(out), width);
  }
}

void attention_finish(DType dtype, int64_t rows, int64_t width, const void* high, const void* sum,
                      void* out, void* lse, int64_t lse_step) {
  if (dtype == DType::Float) {
    finish(rows, width, static_cast<const float*>(high), static_cast<const float*>(sum),
           static_cast<float*>(out), static_cast<float*>(lse), lse_step);
  } else {
    finish(rows, width, static_cast<const double*>(high), static_cast<const double*>(sum),
           static_cast<double*>(out), static_cast<double*>(lse), lse_step);
  }
}

void attention_backward_rows(DType dtype, const ScoreTile& tile, void* scores, void* dp,
                             const void* lse, int64_t lse_step, const void* delta, double scale) {
  if (dtype == DType::Float) {
    backward_tile(tile, static_cast<float*>(scores), static_cast<float*>(dp),
                  static_cast<const float*>(lse), lse_step, static_cast<const float*>(delta),
                  float(scale));
  } else {
    backward_tile(tile, static_cast<double*>(scores), static_cast<double*>(dp),
                  static_cast<const double*>(lse), lse_step, static_cast<const double*>(delta),
                  scale);
  }
}

}  // namespace rl::cpu::RL_ISA
