// Tiny matrix products and products with a vector; see small_gemm.h.
//
// Tiles of MR rows and NV registers of columns accumulate over all of k. A transposed B is first
// packed into rows on the stack. (The loops over a tile are unrolled by pragma: GCC would otherwise
// keep the accumulators in memory.) A row vector times a transposed matrix, and a matrix times a
// vector, are dot products along the matrix's rows: bound by memory, split over the threads.
#include "kernels/cpu/small_gemm.h"

#include "base/parallel.h"
#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {
namespace {

constexpr int64_t kTinyProducts = 40 * 40 * 40;  // m * n * k up to which we beat oneDNN's call
constexpr int64_t kPackBytes = 12288;            // B on the stack
constexpr int64_t kParallelBytes = 256 * 1024;   // of a matrix, per thread

template <class T>
struct Tile {
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row;  // columns of B are contiguous
  T* c;
  int64_t c_row;
  const T* bias;
  int64_t k;
  T alpha, beta;
};

template <class T>
RL_INLINE Vec<T> finish(Vec<T> sum, const Tile<T>& t, T* c, const T* bias, Mask<T> m, bool whole) {
  Vec<T> out = t.alpha == T(1) ? sum : sum * Vec<T>(t.alpha);
  if (t.beta != T(0)) {
    const Vec<T> old = whole ? Vec<T>::load(c) : Vec<T>::load_masked(c, m, Vec<T>(T(0)));
    out = fma(Vec<T>(t.beta), old, out);
  }
  if (bias) out = out + (whole ? Vec<T>::load(bias) : Vec<T>::load_masked(bias, m, Vec<T>(T(0))));
  return out;
}

// MR rows, NV registers of columns; the last register may be partial (mask m).
template <class T, int MR, int NV, bool Whole>
RL_INLINE void tile(const Tile<T>& t, int64_t i, int64_t j, Mask<T> m) {
  constexpr int W = Vec<T>::size;
  Vec<T> acc[MR][NV];
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) acc[r][v] = Vec<T>(T(0));
  const T* a = t.a + i * t.a_row;
  const T* b = t.b + j;
  for (int64_t l = 0; l < t.k; ++l, a += t.a_col, b += t.b_row) {
    Vec<T> column[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      column[v] = Whole || v + 1 < NV ? Vec<T>::load(b + v * W)
                                      : Vec<T>::load_masked(b + v * W, m, Vec<T>(T(0)));
    }
#pragma GCC unroll 8
    for (int r = 0; r < MR; ++r) {
      const Vec<T> x(a[r * t.a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[r][v] = fma(x, column[v], acc[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      T* c = t.c + (i + r) * t.c_row + j + v * W;
      const bool whole = Whole || v + 1 < NV;
      const Vec<T> out = finish(acc[r][v], t, c, t.bias ? t.bias + j + v * W : nullptr, m, whole);
      whole ? out.store(c) : out.store_masked(c, m);
    }
  }
}

template <class T, int NV, bool Whole>
RL_NOINLINE void columns(const Tile<T>& t, int64_t rows, int64_t j, Mask<T> m) {
  constexpr int MR = NV == 1 ? 8 : NV == 2 ? 6 : 4;
  int64_t i = 0;
  for (; i + MR <= rows; i += MR) tile<T, MR, NV, Whole>(t, i, j, m);
  if (i + 4 <= rows && MR > 4) {
    tile<T, 4, NV, Whole>(t, i, j, m);
    i += 4;
  }
  for (; i + 2 <= rows; i += 2) tile<T, 2, NV, Whole>(t, i, j, m);
  if (i < rows) tile<T, 1, NV, Whole>(t, i, j, m);
}

template <class T>
void product(const Tile<T>& t, int64_t m, int64_t n) {
  constexpr int W = Vec<T>::size;
  constexpr int Wide = kVecBytes == 64 ? 4 : 2;
  const Mask<T> all(true);
  int64_t j = 0;
  for (; j + Wide * W <= n; j += Wide * W) columns<T, Wide, true>(t, m, j, all);
  for (; j + W <= n; j += W) columns<T, 1, true>(t, m, j, all);
  if (j < n) columns<T, 1, false>(t, m, j, Mask<T>::first(n - j));
}

// B[l][j] with unit row stride, as rows of `width` elements.
template <class T>
void pack_transposed(const T* b, int64_t col, int64_t k, int64_t n, T* to, int64_t width) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l) to[l * width + j] = b[j * col + l];
}

template <class T>
bool tiny(const GemmProblem& p) {
  if (p.c.col != 1 && p.n != 1) return false;
  if (p.m * p.n * p.k > kTinyProducts) return false;
  const bool rows = p.b.col == 1 || p.n == 1;
  const int64_t width = p.n;
  if (!rows && (p.b.row != 1 || p.k * width * int64_t(sizeof(T)) > kPackBytes)) return false;
  alignas(64) char packed[kPackBytes];
  T* const buffer = reinterpret_cast<T*>(packed);
  for (int64_t i = 0; i < p.batch; ++i) {
    const T* b = static_cast<const T*>(p.b.data) + i * p.b.batch;
    if (!rows && (i == 0 || p.b.batch != 0)) {
      pack_transposed(b, p.b.col, p.k, p.n, buffer, width);
    }
    const Tile<T> t{static_cast<const T*>(p.a.data) + i * p.a.batch, p.a.row, p.a.col,
                    rows ? b : buffer, rows ? p.b.row : width,
                    static_cast<T*>(const_cast<void*>(p.c.data)) + i * p.c.batch, p.c.row,
                    static_cast<const T*>(p.bias), p.k, T(p.alpha), T(p.beta)};
    product(t, p.m, p.n);
  }
  return true;
}

// ---- matrix times vector

template <class T>
RL_INLINE T sum_lanes(Vec<T> v) {
  T lanes[Vec<T>::size];
  v.store(lanes);
  for (int step = Vec<T>::size / 2; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  return lanes[0];
}

// R dot products of rows of the matrix with x.
template <class T, int R>
RL_INLINE void dots(const T* w, int64_t row, const T* x, int64_t k, T* to) {
  constexpr int W = Vec<T>::size;
  Vec<T> acc[R][2];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = Vec<T>(T(0));
  int64_t l = 0;
  for (; l + 2 * W <= k; l += 2 * W) {
    const Vec<T> x0 = Vec<T>::load(x + l), x1 = Vec<T>::load(x + l + W);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      acc[r][0] = fma(x0, Vec<T>::load(w + r * row + l), acc[r][0]);
      acc[r][1] = fma(x1, Vec<T>::load(w + r * row + l + W), acc[r][1]);
    }
  }
  for (; l < k; l += W) {
    const Mask<T> m = Mask<T>::first(k - l);
    const Vec<T> zero(T(0)), x0 = Vec<T>::load_masked(x + l, m, zero);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      acc[r][0] = fma(x0, Vec<T>::load_masked(w + r * row + l, m, zero), acc[r][0]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) to[r] = sum_lanes(acc[r][0] + acc[r][1]);
}

// y[j * stride] = alpha * dot(w[j], x) + beta * y + bias[j * bias_stride]
template <class T>
struct RowDots {
  const T* w;
  int64_t row;
  const T* x;
  int64_t k;
  T* y;
  int64_t stride;
  const T* bias;
  int64_t bias_stride;
  T alpha, beta;

  void store(int64_t j, T sum) const {
    T out = alpha * sum;
    if (beta != T(0)) out += beta * y[j * stride];
    if (bias) out += bias[j * bias_stride];
    y[j * stride] = out;
  }
  void run(int64_t begin, int64_t end) const {
    int64_t j = begin;
    T sums[4];
    for (; j + 4 <= end; j += 4) {
      dots<T, 4>(w + j * row, row, x, k, sums);
      for (int r = 0; r < 4; ++r) store(j + r, sums[r]);
    }
    for (; j < end; ++j) {
      dots<T, 1>(w + j * row, row, x, k, sums);
      store(j, sums[0]);
    }
  }
};

int64_t rows_per_thread(int64_t row_bytes) {
  return row_bytes >= kParallelBytes ? 1 : (kParallelBytes / (row_bytes + 1) + 3) / 4 * 4;
}

// y (1, n) = x (1, k) @ B (k, n) with contiguous rows of B: columns are split over the threads.
template <class T>
void row_times_matrix(const Tile<T>& t, int64_t n) {
  constexpr int64_t step = 4 * Vec<T>::size;
  const int64_t columns_bytes = t.k * int64_t(sizeof(T));
  const int64_t grain = (rows_per_thread(columns_bytes) + step - 1) / step * step;
  parallel_for(0, (n + step - 1) / step, grain / step, [&](int64_t begin, int64_t end) {
    Tile<T> part = t;
    const int64_t from = begin * step, to = end * step < n ? end * step : n;
    part.b += from;
    part.c += from;
    if (part.bias) part.bias += from;
    product(part, 1, to - from);
  });
}

template <class T>
bool vector_product(const GemmProblem& p) {
  if (p.batch != 1) return false;
  const T* a = static_cast<const T*>(p.a.data);
  const T* b = static_cast<const T*>(p.b.data);
  T* c = static_cast<T*>(const_cast<void*>(p.c.data));
  const T* bias = static_cast<const T*>(p.bias);
  const T alpha = T(p.alpha), beta = T(p.beta);
  const int64_t grain = rows_per_thread(p.k * int64_t(sizeof(T)));
  if (p.m == 1 && p.b.row == 1 && (p.a.col == 1 || p.k == 1)) {
    const RowDots<T> d{b, p.b.col, a, p.k, c, p.c.col, bias, 1, alpha, beta};
    parallel_for(0, p.n, grain, [&](int64_t from, int64_t to) { d.run(from, to); });
    return true;
  }
  if (p.n == 1 && p.a.col == 1 && (p.b.row == 1 || p.k == 1)) {
    const RowDots<T> d{a, p.a.row, b, p.k, c, p.c.row, bias, 0, alpha, beta};
    parallel_for(0, p.m, grain, [&](int64_t from, int64_t to) { d.run(from, to); });
    return true;
  }
  if (p.m == 1 && p.b.col == 1 && p.c.col == 1) {
    row_times_matrix(
        Tile<T>{a, p.a.row, p.a.col, b, p.b.row, c, p.c.row, bias, p.k, alpha, beta}, p.n);
    return true;
  }
  return false;
}

template <class T>
bool small_gemm(const GemmProblem& p) {
  if (p.m == 1 || p.n == 1) {
    if (vector_product<T>(p)) return true;
  }
  return tiny<T>(p);
}

}  // namespace

bool small_gemm_f32(const GemmProblem& p) { return small_gemm<float>(p); }
bool small_gemm_f64(const GemmProblem& p) { return small_gemm<double>(p); }

}  // namespace rl::cpu::RL_ISA
