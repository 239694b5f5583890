// Largest and smallest values, and where they are. NaN counts as the most extreme value of all;
// of equal values the first is reported.
#include <limits>

#include "kernels/cpu/reduce_rows.h"

namespace rl::cpu::RL_ISA::reduce {
namespace {

template <class T>
RL_INLINE bool is_nan_value(T x) {
  return x != x;
}

template <class T, bool kMax>
RL_INLINE T worst() {  // no value is worse
  using L = std::numeric_limits<T>;
  if constexpr (is_real_float<T>) return kMax ? -L::infinity() : L::infinity();
  else return kMax ? L::lowest() : L::max();
}
template <bool kMax, class V>
RL_INLINE V extreme(V a, V b) {
  if constexpr (kMax) return maximum(a, b);
  else return minimum(a, b);
}

struct Plain {
  template <class V> static RL_INLINE V map(V x) { return x; }
};
struct Magnitude {
  template <class V> static RL_INLINE V map(V x) { return abs(x); }
};

template <class T, bool kMax, class Map = Plain>
struct Extremum {
  using In = T;
  using Acc = T;
  using State = T;
  struct Lanes {
    Vec<T> v;
  };
  // Norms start from zero for a maximum of magnitudes; nothing is below it.
  static RL_INLINE T neutral() {
    return std::is_same_v<Map, Magnitude> && kMax ? T(0) : worst<T, kMax>();
  }
  static RL_INLINE Acc start() { return neutral(); }
  static RL_INLINE Acc step(Acc a, T x) { return extreme<kMax>(a, Map::map(x)); }
  static RL_INLINE Acc join(Acc a, Acc b) { return extreme<kMax>(a, b); }
  static RL_INLINE Lanes lanes() { return {Vec<T>(neutral())}; }
  static RL_INLINE void step(Lanes& a, Vec<T> x) { a.v = extreme<kMax>(a.v, Map::map(x)); }
  static RL_INLINE void join(Lanes& a, const Lanes& b) { a.v = extreme<kMax>(a.v, b.v); }
  static RL_INLINE Acc collapse(const Lanes& a) {
    return fold(a.v, [](T x, T y) { return T(extreme<kMax>(x, y)); });
  }
  static RL_INLINE State init() { return neutral(); }
  static RL_INLINE State state(Acc a) { return a; }
  static RL_INLINE void merge(State& a, State b) { a = extreme<kMax>(a, b); }
  static RL_INLINE T finish(State s, const ReduceAttrs&) { return s; }
};

// ---- with positions ---------------------------------------------------------------------------

template <class T>
struct Found {
  T value;
  int64_t index;  // -1: nothing seen yet
};

// Does x replace `best` when it comes later?
template <class T, bool kMax>
RL_INLINE bool better(T x, T best) {
  if (is_nan_value(x)) return !is_nan_value(best);
  return kMax ? x > best : x < best;
}

template <class T>
RL_INLINE int64_t first_equal(const T* x, int64_t n, T value) {
  constexpr int64_t w = Vec<T>::size;
  const Vec<T> v(value);
  int64_t i = 0;
  if (is_nan_value(value)) {
    while (i < n && !is_nan_value(x[i])) ++i;
    return i;
  }
  while (i + w <= n && !any(Vec<T>::load(x + i) == v)) i += w;
  while (i < n && x[i] != value) ++i;
  return i;
}

template <class T, bool kMax>
struct ArgExtremum {
  using Values = Extremum<T, kMax>;
  using State = Found<T>;

  static void init(void* states, int64_t n) {
    auto* s = static_cast<State*>(states);
    for (int64_t i = 0; i < n; ++i) s[i] = {worst<T, kMax>(), -1};
  }
  static void rows(void* states, const void* x, int64_t count, int64_t stride, int64_t n,
                   int64_t first, const ReduceAttrs&) {
    auto* s = static_cast<State*>(states);
    for (int64_t r = 0; r < count; ++r) {
      const T* row = static_cast<const T*>(x) + r * stride;
      const T best = n <= 8 ? fold_short<Values>(row, n) : fold_row<Values>(row, n);
      if (s[r].index < 0 || better<T, kMax>(best, s[r].value))
        s[r] = {best, first + first_equal(row, n, best)};
    }
  }
  static void columns(void* states, const void* x, int64_t count, int64_t stride, int64_t n,
                      int64_t first, const ReduceAttrs&) {
    constexpr int64_t kStrip = 128;
    auto* s = static_cast<State*>(states);
    T value[kStrip];
    int64_t index[kStrip];
    for (int64_t c = 0; c < n; c += kStrip) {
      const int64_t m = n - c < kStrip ? n - c : kStrip;
      const T* in = static_cast<const T*>(x) + c;
      for (int64_t j = 0; j < m; ++j) {
        const bool fresh = s[c + j].index < 0;
        value[j] = fresh ? in[j] : s[c + j].value;
        index[j] = fresh ? first : s[c + j].index;
      }
      for (int64_t r = 0; r < count; ++r) {
        const T* p = in + r * stride;
        for (int64_t j = 0; j < m; ++j) {
          const bool take = better<T, kMax>(p[j], value[j]);
          value[j] = take ? p[j] : value[j];
          index[j] = take ? first + r : index[j];
        }
      }
      for (int64_t j = 0; j < m; ++j) s[c + j] = {value[j], index[j]};
    }
  }
  static void merge(void* into, const void* from, int64_t n) {
    auto* a = static_cast<State*>(into);
    const auto* b = static_cast<const State*>(from);
    for (int64_t i = 0; i < n; ++i) {
      if (b[i].index < 0) continue;
      if (a[i].index < 0 || better<T, kMax>(b[i].value, a[i].value)) a[i] = b[i];
    }
  }
  static void finish(const void* states, int64_t n, void* out, void* values, const ReduceAttrs&) {
    const auto* s = static_cast<const State*>(states);
    for (int64_t i = 0; i < n; ++i) {
      static_cast<int64_t*>(out)[i] = s[i].index;
      if (values) static_cast<T*>(values)[i] = s[i].value;
    }
  }
};

template <class A>
bool fill_arg(ReduceKernel* k) {
  *k = {int(sizeof(typename A::State)), A::init, A::rows, A::columns, A::merge, A::finish};
  return true;
}

template <class T>
bool typed(ReduceOp op, ReduceKernel* k) {
  switch (op) {
    case ReduceOp::Max: return fill<Extremum<T, true>>(k);
    case ReduceOp::Min: return fill<Extremum<T, false>>(k);
    case ReduceOp::ArgMax: return fill_arg<ArgExtremum<T, true>>(k);
    case ReduceOp::ArgMin: return fill_arg<ArgExtremum<T, false>>(k);
    default: break;
  }
  if constexpr (is_real_float<T>) {
    if (op == ReduceOp::NormInf) return fill<Extremum<T, true, Magnitude>>(k);
    if (op == ReduceOp::NormMinusInf) return fill<Extremum<T, false, Magnitude>>(k);
  }
  return false;
}

}  // namespace

bool extremum_kernel(ReduceOp op, DType compute, ReduceKernel* k) {
  switch (compute) {
    case DType::Float: return typed<float>(op, k);
    case DType::Double: return typed<double>(op, k);
    case DType::Int64: return typed<int64_t>(op, k);
    case DType::Int32: return typed<int32_t>(op, k);
    case DType::UInt8: return typed<uint8_t>(op, k);
    default: return false;
  }
}

}  // namespace rl::cpu::RL_ISA::reduce
