// See rnn.h.
#include "kernels/cpu/rnn.h"

#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA {
namespace {

template <class T>
RL_INLINE Vec<T> load(const T* p, int64_t n) {
  return n == Vec<T>::size ? Vec<T>::load(p) : Vec<T>::load_partial(p, n, T(0));
}
template <class T>
RL_INLINE void store(T* p, Vec<T> v, int64_t n) {
  if (n == Vec<T>::size) v.store(p);
  else v.store_partial(p, n);
}
template <class T, class F>
RL_INLINE void for_vectors(int64_t n, F&& f) {
  constexpr int64_t w = Vec<T>::size;
  int64_t i = 0;
  for (; i + w <= n; i += w) f(i, w);
  if (i < n) f(i, n - i);
}

template <class T>
void lstm_row(int64_t n, const T* a, const T* b, const T* c0, T* gates, T* h, T* c) {
  for_vectors<T>(n, [&](int64_t j, int64_t count) {
    auto sum = [&](int64_t gate) {
      return load(a + gate * n + j, count) + load(b + gate * n + j, count);
    };
    const Vec<T> i = sigmoid(sum(0)), f = sigmoid(sum(1)), g = tanh(sum(2)), o = sigmoid(sum(3));
    const Vec<T> cell = f * load(c0 + j, count) + i * g;
    store(c + j, cell, count);
    store(h + j, o * tanh(cell), count);
    store(gates + j, i, count);
    store(gates + n + j, f, count);
    store(gates + 2 * n + j, g, count);
    store(gates + 3 * n + j, o, count);
  });
}

template <class T>
void lstm_row_backward(int64_t n, const T* gates, const T* c0, const T* c, const T* dh, const T* dc,
                       T* dsum, T* dc0) {
  const Vec<T> one(T(1));
  for_vectors<T>(n, [&](int64_t j, int64_t count) {
    const Vec<T> i = load(gates + j, count), f = load(gates + n + j, count);
    const Vec<T> g = load(gates + 2 * n + j, count), o = load(gates + 3 * n + j, count);
    const Vec<T> t = tanh(load(c + j, count));
    const Vec<T> gh = dh ? load(dh + j, count) : Vec<T>(T(0));
    Vec<T> gc = gh * o * (one - t * t);
    if (dc) gc = gc + load(dc + j, count);
    store(dsum + j, gc * g * i * (one - i), count);
    store(dsum + n + j, gc * load(c0 + j, count) * f * (one - f), count);
    store(dsum + 2 * n + j, gc * i * (one - g * g), count);
    store(dsum + 3 * n + j, gh * t * o * (one - o), count);
    store(dc0 + j, gc * f, count);
  });
}

template <class T>
void gru_row(int64_t n, const T* a, const T* b, const T* h0, T* gates, T* h) {
  for_vectors<T>(n, [&](int64_t j, int64_t count) {
    const Vec<T> r = sigmoid(load(a + j, count) + load(b + j, count));
    const Vec<T> z = sigmoid(load(a + n + j, count) + load(b + n + j, count));
    const Vec<T> bn = load(b + 2 * n + j, count);
    const Vec<T> m = tanh(load(a + 2 * n + j, count) + r * bn);
    store(h + j, m + z * (load(h0 + j, count) - m), count);
    store(gates + j, r, count);
    store(gates + n + j, z, count);
    store(gates + 2 * n + j, m, count);
    store(gates + 3 * n + j, bn, count);
  });
}

template <class T>
void gru_row_backward(int64_t n, const T* gates, const T* h0, const T* dh, T* da, T* db, T* dh0) {
  const Vec<T> one(T(1));
  for_vectors<T>(n, [&](int64_t j, int64_t count) {
    const Vec<T> r = load(gates + j, count), z = load(gates + n + j, count);
    const Vec<T> m = load(gates + 2 * n + j, count), bn = load(gates + 3 * n + j, count);
    const Vec<T> g = load(dh + j, count);
    const Vec<T> dm = g * (one - z) * (one - m * m);
    const Vec<T> dz = g * (load(h0 + j, count) - m) * z * (one - z);
    const Vec<T> dr = dm * bn * r * (one - r);
    store(da + j, dr, count);
    store(da + n + j, dz, count);
    store(da + 2 * n + j, dm, count);
    store(db + j, dr, count);
    store(db + n + j, dz, count);
    store(db + 2 * n + j, dm * r, count);
    store(dh0 + j, g * z, count);
  });
}

template <class T>
const T* at(const void* p, int64_t i) {
  return p ? static_cast<const T*>(p) + i : nullptr;
}
template <class T>
T* at(void* p, int64_t i) {
  return static_cast<T*>(p) + i;
}

}  // namespace

void lstm_step(DType dtype, int64_t rows, int64_t n, const void* a, int64_t a_row, const void* b,
               const void* c0, void* gates, void* h, void* c) {
  visit(RealFloatTypes{}, dtype, "lstm_cell", [&]<class T>() {
    for (int64_t i = 0; i < rows; ++i)
      lstm_row(n, at<T>(a, i * a_row), at<T>(b, i * 4 * n), at<T>(c0, i * n),
               at<T>(gates, i * 4 * n), at<T>(h, i * n), at<T>(c, i * n));
  });
}

void lstm_step_backward(DType dtype, int64_t rows, int64_t n, const void* gates, const void* c0,
                        const void* c, const void* dh, const void* dc, void* dsum, void* dc0) {
  visit(RealFloatTypes{}, dtype, "lstm_cell", [&]<class T>() {
    for (int64_t i = 0; i < rows; ++i)
      lstm_row_backward(n, at<T>(gates, i * 4 * n), at<T>(c0, i * n), at<T>(c, i * n),
                        at<T>(dh, i * n), at<T>(dc, i * n), at<T>(dsum, i * 4 * n),
                        at<T>(dc0, i * n));
  });
}

void gru_step(DType dtype, int64_t rows, int64_t n, const void* a, int64_t a_row, const void* b,
              const void* h0, void* gates, void* h) {
  visit(RealFloatTypes{}, dtype, "gru_cell", [&]<class T>() {
    for (int64_t i = 0; i < rows; ++i)
      gru_row(n, at<T>(a, i * a_row), at<T>(b, i * 3 * n), at<T>(h0, i * n),
              at<T>(gates, i * 4 * n), at<T>(h, i * n));
  });
}

void gru_step_backward(DType dtype, int64_t rows, int64_t n, const void* gates, const void* h0,
                       const void* dh, void* da, void* db, void* dh0) {
  visit(RealFloatTypes{}, dtype, "gru_cell", [&]<class T>() {
    for (int64_t i = 0; i < rows; ++i)
      gru_row_backward(n, at<T>(gates, i * 4 * n), at<T>(h0, i * n), at<T>(dh, i * n),
                       at<T>(da, i * 3 * n), at<T>(db, i * 3 * n), at<T>(dh0, i * n));
  });
}

}  // namespace rl::cpu::RL_ISA
