// The two loops of every reduction (see reduce.h): fold rows and fold columns, for a Reducer
//   In     element type          Acc    what a lane keeps inside one call
//   State  what is kept between calls
//   Acc start(); Acc step(Acc, In); Acc join(Acc, Acc); State init(); void merge(State&, State);
//   State state(Acc);  Out finish(State, attrs)
// A Reducer with `Lanes` folds rows in vector registers.
#pragma once
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {
namespace reduce {

template <class R>
concept HasLanes = requires { typename R::Lanes; };
// May four elements be added up in the element type before they are widened?
template <class R>
concept Groups = requires { R::kGroups; } && R::kGroups;

// Four independent register groups hide the latency of additions; they are joined in pairs.
template <HasLanes R>
RL_INLINE typename R::Acc fold_row(const typename R::In* x, int64_t n) {
  using V = Vec<typename R::In>;
  constexpr int64_t w = V::size;
  typename R::Lanes a = R::lanes();
  int64_t i = 0;
  if (n >= 4 * w) {
    typename R::Lanes b = a, c = a, d = a;
    if constexpr (Groups<R>) {
      for (; i + 8 * w <= n; i += 8 * w) {
        R::step4(a, V::load(x + i), V::load(x + i + w), V::load(x + i + 2 * w),
                 V::load(x + i + 3 * w));
        R::step4(b, V::load(x + i + 4 * w), V::load(x + i + 5 * w), V::load(x + i + 6 * w),
                 V::load(x + i + 7 * w));
      }
    }
    for (; i + 4 * w <= n; i += 4 * w) {
      R::step(a, V::load(x + i));
      R::step(b, V::load(x + i + w));
      R::step(c, V::load(x + i + 2 * w));
      R::step(d, V::load(x + i + 3 * w));
    }
    R::join(a, b);
    R::join(c, d);
    R::join(a, c);
  }
  for (; i + w <= n; i += w) R::step(a, V::load(x + i));
  if (i < n) R::step(a, V::load_partial(x + i, n - i, R::neutral()));
  return R::collapse(a);
}

template <class R>
  requires(!HasLanes<R>)
RL_INLINE typename R::Acc fold_row(const typename R::In* x, int64_t n) {
  constexpr int kLanes = 8;
  typename R::Acc lanes[kLanes];
  for (auto& l : lanes) l = R::start();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] = R::step(lanes[l], x[i + l]);
  for (int l = 0; i < n; ++i, ++l) lanes[l] = R::step(lanes[l], x[i]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] = R::join(lanes[l], lanes[l + half]);
  return lanes[0];
}

// Rows of a few elements: neither lanes nor tails are worth their set-up.
template <class R>
RL_INLINE typename R::Acc fold_short(const typename R::In* x, int64_t n) {
  typename R::Acc a = R::start();
  for (int64_t i = 0; i < n; ++i) a = R::step(a, x[i]);
  return a;
}

template <class R>
void init(void* states, int64_t n) {
  auto* s = static_cast<typename R::State*>(states);
  for (int64_t i = 0; i < n; ++i) s[i] = R::init();
}

template <class R>
void rows(void* states, const void* x, int64_t count, int64_t stride, int64_t n, int64_t,
          const ReduceAttrs&) {
  auto* s = static_cast<typename R::State*>(states);
  const auto* in = static_cast<const typename R::In*>(x);
  if (n <= 8) {
    for (int64_t r = 0; r < count; ++r)
      R::merge(s[r], R::state(fold_short<R>(in + r * stride, n)));
    return;
  }
  for (int64_t r = 0; r < count; ++r) R::merge(s[r], R::state(fold_row<R>(in + r * stride, n)));
}

// acc[j] takes in rows p, p + stride, ... (`rows` of them). Reducers whose lanes are one register
// of accumulators do it in registers; the others in loops that compilers vectorise.
template <class R>
concept SameLanes = HasLanes<R> && std::is_same_v<typename R::Acc, typename R::In> &&
                    requires(typename R::Lanes l) { Vec<typename R::In>(l.v); };

template <SameLanes R>
RL_INLINE void fold_strip(typename R::Acc* acc, const typename R::In* p, int64_t stride,
                          int64_t rows, int64_t m) {
  using V = Vec<typename R::In>;
  int64_t j = 0;
  for (; j + V::size <= m; j += V::size) {
    typename R::Lanes a{V::load(acc + j)};
    for (int64_t r = 0; r < rows; ++r) R::step(a, V::load(p + r * stride + j));
    a.v.store(acc + j);
  }
  for (; j < m; ++j)
    for (int64_t r = 0; r < rows; ++r) acc[j] = R::step(acc[j], p[r * stride + j]);
}

template <class R>
  requires(!SameLanes<R>)
RL_INLINE void fold_strip(typename R::Acc* acc, const typename R::In* p, int64_t stride,
                          int64_t rows, int64_t m) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const auto *p0 = p + r * stride, *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
    if constexpr (Groups<R>) {
      for (int64_t j = 0; j < m; ++j)
        acc[j] = R::step(acc[j], (p0[j] + p1[j]) + (p2[j] + p3[j]));
    } else {
      for (int64_t j = 0; j < m; ++j)
        acc[j] = R::step(R::step(R::step(R::step(acc[j], p0[j]), p1[j]), p2[j]), p3[j]);
    }
  }
  for (; r < rows; ++r)
    for (int64_t j = 0; j < m; ++j) acc[j] = R::step(acc[j], p[r * stride + j]);
}

// A strip of columns keeps its accumulators in first-level cache; rows of a group share their
// loads and stores. Accumulators are flushed to the states after 256 rows.
template <class R>
void columns(void* states, const void* x, int64_t count, int64_t stride, int64_t n, int64_t,
             const ReduceAttrs&) {
  using Acc = typename R::Acc;
  constexpr int64_t kStrip = 256, kFlush = 256;
  auto* s = static_cast<typename R::State*>(states);
  const auto* in = static_cast<const typename R::In*>(x);
  Acc acc[kStrip];
  for (int64_t c = 0; c < n; c += kStrip) {
    const int64_t m = n - c < kStrip ? n - c : kStrip;
    for (int64_t r0 = 0; r0 < count; r0 += kFlush) {
      const int64_t r1 = count - r0 < kFlush ? count : r0 + kFlush;
      for (int64_t j = 0; j < m; ++j) acc[j] = R::start();
      for (int64_t r = r0; r < r1; r += 8)
        fold_strip<R>(acc, in + r * stride + c, stride, r1 - r < 8 ? r1 - r : 8, m);
      for (int64_t j = 0; j < m; ++j) R::merge(s[c + j], R::state(acc[j]));
    }
  }
}

template <class R>
void merge(void* into, const void* from, int64_t n) {
  auto* a = static_cast<typename R::State*>(into);
  const auto* b = static_cast<const typename R::State*>(from);
  for (int64_t i = 0; i < n; ++i) R::merge(a[i], b[i]);
}

template <class R>
void finish(const void* states, int64_t n, void* out, void*, const ReduceAttrs& attrs) {
  using Out = decltype(R::finish(typename R::State(), attrs));
  const auto* s = static_cast<const typename R::State*>(states);
  Out* o = static_cast<Out*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = R::finish(s[i], attrs);
}

template <class R>
bool fill(ReduceKernel* k) {
  static_assert(sizeof(typename R::State) <= kMaxReduceState);
  *k = {int(sizeof(typename R::State)), init<R>, rows<R>, columns<R>, merge<R>, finish<R>};
  return true;
}

// Per family; reduce.cpp asks them in turn.
bool sum_kernel(ReduceOp op, DType compute, ReduceKernel* k);
bool extremum_kernel(ReduceOp op, DType compute, ReduceKernel* k);
bool moment_kernel(ReduceOp op, DType compute, ReduceKernel* k);

}  // namespace reduce
}  // namespace rl::cpu::RL_ISA
