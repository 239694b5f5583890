// Tiny matrix products and products with a vector; see small_gemm.h.
//
// Tiles of MR rows and NV registers of columns accumulate over all of k. A transposed B is first
// packed into rows on the stack. Half types are loaded as float and rounded once, at the end. (The
// loops over a tile are unrolled by pragma: GCC would otherwise keep the accumulators in memory.)
// A row vector times a transposed matrix, and a matrix times a
// vector, are dot products along the matrix's rows: bound by memory, split over the threads.
#include "kernels/cpu/small_gemm.h"

#include "base/parallel.h"
#include "kernels/cpu/vec_convert.h"

namespace rl::cpu::RL_ISA {
namespace {

constexpr int64_t kTinyProducts = 40 * 40 * 40;  // m * n * k up to which we beat oneDNN's call
constexpr int64_t kPackBytes = 12288;            // B on the stack
constexpr int64_t kParallelBytes = 256 * 1024;   // of a matrix, per thread

// The arithmetic type of elements stored as S, and loads and stores between the two.
template <class S>
using Math = std::conditional_t<is_small_float<S>, float, S>;

// The first n lanes of a register.
template <class T>
struct Lanes {
  Mask<T> mask;
  int64_t n;
};
template <class T>
RL_INLINE Lanes<T> first_lanes(int64_t n) {
  return {Mask<T>::first(n), n};
}

template <class S>
RL_INLINE Vec<Math<S>> load(const S* p) {
  if constexpr (is_small_float<S>) return load_float(p);
  else return Vec<S>::load(p);
}
template <class S>
RL_INLINE Vec<Math<S>> load(const S* p, const Lanes<Math<S>>& lanes, bool whole) {
  if (whole) return load(p);
#if RL_VEC_BYTES == 64
  if constexpr (is_small_float<S>) {
    const __mmask16 mask = __mmask16((1u << lanes.n) - 1);
    return float_of((Lanes16)_mm256_maskz_loadu_epi16(mask, p), S());
  }
#else
  if constexpr (is_small_float<S>) return load_float_partial(p, lanes.n);
#endif
  else return Vec<S>::load_masked(p, lanes.mask, Vec<S>(S(0)));
}
template <class S>
RL_INLINE void store(S* p, Vec<Math<S>> x, const Lanes<Math<S>>& lanes, bool whole) {
  if constexpr (is_small_float<S>) {
    whole ? store_float(p, x) : store_float_partial(p, x, lanes.n);
  } else {
    whole ? x.store(p) : x.store_masked(p, lanes.mask);
  }
}

template <class S>
struct Tile {
  using T = Math<S>;
  const S* a;
  int64_t a_row, a_col;
  const S* b;
  int64_t b_row;  // columns of B are contiguous
  S* c;
  int64_t c_row;
  const S* bias;
  int64_t k;
  T alpha, beta;
};

template <class S, class T = Math<S>>
RL_INLINE Vec<T> finish(Vec<T> sum, const Tile<S>& t, const S* c, const S* bias,
                        const Lanes<T>& lanes, bool whole) {
  Vec<T> out = t.alpha == T(1) ? sum : sum * Vec<T>(t.alpha);
  if (t.beta != T(0)) out = fma(Vec<T>(t.beta), load(c, lanes, whole), out);
  if (bias) out = out + load(bias, lanes, whole);
  return out;
}

// MR rows, NV registers of columns; the last register may be partial.
template <class S, int MR, int NV, bool Whole>
RL_INLINE void tile(const Tile<S>& t, int64_t i, int64_t j, const Lanes<Math<S>>& lanes) {
  using T = Math<S>;
  constexpr int W = Vec<T>::size;
  Vec<T> acc[MR][NV];
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) acc[r][v] = Vec<T>(T(0));
  const S* a = t.a + i * t.a_row;
  const S* b = t.b + j;
  for (int64_t l = 0; l < t.k; ++l, a += t.a_col, b += t.b_row) {
    Vec<T> column[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) column[v] = load(b + v * W, lanes, Whole || v + 1 < NV);
#pragma GCC unroll 8
    for (int r = 0; r < MR; ++r) {
      const Vec<T> x(T(a[r * t.a_row]));
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[r][v] = fma(x, column[v], acc[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      S* c = t.c + (i + r) * t.c_row + j + v * W;
      const S* bias = t.bias ? t.bias + j + v * W : nullptr;
      const bool whole = Whole || v + 1 < NV;
      store(c, finish(acc[r][v], t, c, bias, lanes, whole), lanes, whole);
    }
  }
}

template <class S, int NV, bool Whole>
RL_NOINLINE void columns(const Tile<S>& t, int64_t rows, int64_t j, const Lanes<Math<S>>& lanes) {
  constexpr int MR = NV == 1 ? 8 : NV == 2 ? 6 : 4;
  int64_t i = 0;
  for (; i + MR <= rows; i += MR) tile<S, MR, NV, Whole>(t, i, j, lanes);
  if (i + 4 <= rows && MR > 4) {
    tile<S, 4, NV, Whole>(t, i, j, lanes);
    i += 4;
  }
  for (; i + 2 <= rows; i += 2) tile<S, 2, NV, Whole>(t, i, j, lanes);
  if (i < rows) tile<S, 1, NV, Whole>(t, i, j, lanes);
}

template <class S>
void product(const Tile<S>& t, int64_t m, int64_t n) {
  using T = Math<S>;
  constexpr int W = Vec<T>::size;
  constexpr int Wide = kVecBytes == 64 ? 4 : 2;
  const Lanes<T> all = first_lanes<T>(W);
  int64_t j = 0;
  for (; j + Wide * W <= n; j += Wide * W) columns<S, Wide, true>(t, m, j, all);
  for (; j + W <= n; j += W) columns<S, 1, true>(t, m, j, all);
  if (j < n) columns<S, 1, false>(t, m, j, first_lanes<T>(n - j));
}

// B[l][j] with unit row stride, as rows of `width` elements.
template <class S>
void pack_transposed(const S* b, int64_t col, int64_t k, int64_t n, S* to, int64_t width) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l) to[l * width + j] = b[j * col + l];
}

template <class S>
bool tiny(const GemmProblem& p) {
  if (p.c.col != 1 && p.n != 1) return false;
  if (p.m * p.n * p.k > kTinyProducts) return false;
  const bool rows = p.b.col == 1 || p.n == 1;
  const int64_t width = p.n;
  if (!rows && (p.b.row != 1 || p.k * width * int64_t(sizeof(S)) > kPackBytes)) return false;
  alignas(64) char packed[kPackBytes];
  S* const buffer = reinterpret_cast<S*>(packed);
  for (int64_t i = 0; i < p.batch; ++i) {
    const S* b = static_cast<const S*>(p.b.data) + i * p.b.batch;
    if (!rows && (i == 0 || p.b.batch != 0)) {
      pack_transposed(b, p.b.col, p.k, p.n, buffer, width);
    }
    const Tile<S> t{static_cast<const S*>(p.a.data) + i * p.a.batch, p.a.row, p.a.col,
                    rows ? b : buffer, rows ? p.b.row : width,
                    static_cast<S*>(const_cast<void*>(p.c.data)) + i * p.c.batch, p.c.row,
                    static_cast<const S*>(p.bias), p.k, Math<S>(p.alpha), Math<S>(p.beta)};
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
template <class S, int R, class T = Math<S>>
RL_INLINE void dots(const S* w, int64_t row, const S* x, int64_t k, T* to) {
  constexpr int W = Vec<T>::size;
  Vec<T> acc[R][2];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = Vec<T>(T(0));
  int64_t l = 0;
  for (; l + 2 * W <= k; l += 2 * W) {
    const Vec<T> x0 = load(x + l), x1 = load(x + l + W);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      acc[r][0] = fma(x0, load(w + r * row + l), acc[r][0]);
      acc[r][1] = fma(x1, load(w + r * row + l + W), acc[r][1]);
    }
  }
  for (; l < k; l += W) {
    const Lanes<T> lanes = first_lanes<T>(k - l < W ? k - l : W);
    const Vec<T> x0 = load(x + l, lanes, false);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      acc[r][0] = fma(x0, load(w + r * row + l, lanes, false), acc[r][0]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) to[r] = sum_lanes(acc[r][0] + acc[r][1]);
}

// y[j * stride] = alpha * dot(w[j], x) + beta * y + bias[j * bias_stride]
template <class S>
struct RowDots {
  using T = Math<S>;
  const S* w;
  int64_t row;
  const S* x;
  int64_t k;
  S* y;
  int64_t stride;
  const S* bias;
  int64_t bias_stride;
  T alpha, beta;

  void store_one(int64_t j, T sum) const {
    T out = alpha * sum;
    if (beta != T(0)) out += beta * T(y[j * stride]);
    if (bias) out += T(bias[j * bias_stride]);
    y[j * stride] = S(out);
  }
  void run(int64_t begin, int64_t end) const {
    int64_t j = begin;
    T sums[4];
    for (; j + 4 <= end; j += 4) {
      dots<S, 4>(w + j * row, row, x, k, sums);
      for (int r = 0; r < 4; ++r) store_one(j + r, sums[r]);
    }
    for (; j < end; ++j) {
      dots<S, 1>(w + j * row, row, x, k, sums);
      store_one(j, sums[0]);
    }
  }
};

int64_t rows_per_thread(int64_t row_bytes) {
  return row_bytes >= kParallelBytes ? 1 : (kParallelBytes / (row_bytes + 1) + 3) / 4 * 4;
}

// y (1, n) = x (1, k) @ B (k, n) with contiguous rows of B: columns are split over the threads.
template <class S>
void row_times_matrix(const Tile<S>& t, int64_t n) {
  constexpr int64_t step = 4 * Vec<Math<S>>::size;
  const int64_t columns_bytes = t.k * int64_t(sizeof(S));
  const int64_t grain = (rows_per_thread(columns_bytes) + step - 1) / step * step;
  parallel_for(0, (n + step - 1) / step, grain / step, [&](int64_t begin, int64_t end) {
    Tile<S> part = t;
    const int64_t from = begin * step, to = end * step < n ? end * step : n;
    part.b += from;
    part.c += from;
    if (part.bias) part.bias += from;
    product(part, 1, to - from);
  });
}

template <class S>
bool vector_product(const GemmProblem& p) {
  using T = Math<S>;
  if (p.batch != 1) return false;
  const S* a = static_cast<const S*>(p.a.data);
  const S* b = static_cast<const S*>(p.b.data);
  S* c = static_cast<S*>(const_cast<void*>(p.c.data));
  const S* bias = static_cast<const S*>(p.bias);
  const T alpha = T(p.alpha), beta = T(p.beta);
  const int64_t grain = rows_per_thread(p.k * int64_t(sizeof(S)));
  if (p.m == 1 && p.b.row == 1 && (p.a.col == 1 || p.k == 1)) {
    const RowDots<S> d{b, p.b.col, a, p.k, c, p.c.col, bias, 1, alpha, beta};
    parallel_for(0, p.n, grain, [&](int64_t from, int64_t to) { d.run(from, to); });
    return true;
  }
  if (p.n == 1 && p.a.col == 1 && (p.b.row == 1 || p.k == 1)) {
    const RowDots<S> d{a, p.a.row, b, p.k, c, p.c.row, bias, 0, alpha, beta};
    parallel_for(0, p.m, grain, [&](int64_t from, int64_t to) { d.run(from, to); });
    return true;
  }
  if (p.m == 1 && p.b.col == 1 && p.c.col == 1) {
    row_times_matrix(
        Tile<S>{a, p.a.row, p.a.col, b, p.b.row, c, p.c.row, bias, p.k, alpha, beta}, p.n);
    return true;
  }
  return false;
}

template <class S>
bool small_gemm(const GemmProblem& p) {
  if (p.m == 1 || p.n == 1) {
    if (vector_product<S>(p)) return true;
  }
  return tiny<S>(p);
}

}  // namespace

bool small_gemm_f32(const GemmProblem& p) { return small_gemm<float>(p); }
bool small_gemm_f64(const GemmProblem& p) { return small_gemm<double>(p); }
bool small_gemm_f16(const GemmProblem& p) { return small_gemm<half>(p); }
bool small_gemm_bf16(const GemmProblem& p) { return small_gemm<bfloat16>(p); }

}  // namespace rl::cpu::RL_ISA
