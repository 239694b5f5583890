// Sums, products, norms, counts, any and all.
#include "kernels/cpu/reduce_rows.h"
#include "kernels/cpu/vecmath.h"

namespace rl::cpu::RL_ISA::reduce {
namespace {

template <class T> constexpr bool is_complex_type = false;
template <class T> constexpr bool is_complex_type<std::complex<T>> = true;

// ---- sums of mapped values in double ----------------------------------------------------------

struct Identity {
  template <class V> static RL_INLINE V map(V x) { return x; }
};
struct NanToZero {
  template <class V> static RL_INLINE V map(V x) { return select(x != x, V(0.0), x); }
};
struct Magnitude {
  template <class V> static RL_INLINE V map(V x) { return abs(x); }
};
struct Square {
  template <class V> static RL_INLINE V map(V x) { return x * x; }
};

// Sum of many partial sums with the rounding errors collected beside it (Neumaier, ZAMM 54, 1974).
struct Compensated {
  double sum = 0, error = 0;
  RL_INLINE void add(double x) {
    const double t = sum + x;
    // An infinite total has no error term: inf - inf would make it NaN.
    if (!(t - t == 0)) {
      sum = t;
      return;
    }
    error += (sum < 0 ? -sum : sum) >= (x < 0 ? -x : x) ? (sum - t) + x : (x - t) + sum;
    sum = t;
  }
  RL_INLINE double value() const { return sum - sum == 0 ? sum + error : sum; }
};

enum class Last : uint8_t { Plain, Divide, Root };

template <class T, class Map, Last last>
struct SumOf {
  using In = T;
  using Acc = double;
  using State = Compensated;
  static constexpr bool kGroups = std::is_same_v<T, float> && std::is_same_v<Map, Identity>;
  struct Lanes {
    Vec<double> low, high;  // float uses both halves
  };
  static RL_INLINE Acc start() { return 0; }
  static RL_INLINE Acc step(Acc a, T x) { return a + Map::map(double(x)); }
  static RL_INLINE Acc join(Acc a, Acc b) { return a + b; }
  static RL_INLINE T neutral() { return T(0); }
  static RL_INLINE Lanes lanes() { return {Vec<double>(0.0), Vec<double>(0.0)}; }
  static RL_INLINE void step(Lanes& a, Vec<T> x) {
    if constexpr (std::is_same_v<T, float>) {
      a.low += Map::map(widen_low(x));
      a.high += Map::map(widen_high(x));
    } else {
      a.low += Map::map(x);
    }
  }
  static RL_INLINE void step4(Lanes& a, Vec<T> p, Vec<T> q, Vec<T> r, Vec<T> s) {
    step(a, (p + q) + (r + s));
  }
  static RL_INLINE void join(Lanes& a, const Lanes& b) {
    a.low += b.low;
    a.high += b.high;
  }
  static RL_INLINE Acc collapse(const Lanes& a) { return hsum(a.low + a.high); }
  static RL_INLINE State init() { return {}; }
  static RL_INLINE State state(Acc a) { return {a, 0}; }
  static RL_INLINE void merge(State& a, State b) {
    a.add(b.sum);
    a.error += b.error;
  }
  static RL_INLINE T finish(State s, const ReduceAttrs& attrs) {
    double v = s.value();
    if constexpr (last == Last::Divide) v /= attrs.count;
    if constexpr (last == Last::Root) v = sqrt(v);
    return T(v);
  }
};

// ---- integers wrap around; complex sums are pairs of real ones --------------------------------

struct IntSum {
  using In = int64_t;
  using Acc = int64_t;
  using State = int64_t;
  struct Lanes {
    Vec<int64_t> v;
  };
  static RL_INLINE Acc start() { return 0; }
  static RL_INLINE Acc step(Acc a, In x) { return int64_t(uint64_t(a) + uint64_t(x)); }
  static RL_INLINE Acc join(Acc a, Acc b) { return step(a, b); }
  static RL_INLINE In neutral() { return 0; }
  static RL_INLINE Lanes lanes() { return {Vec<int64_t>(0)}; }
  static RL_INLINE void step(Lanes& a, Vec<int64_t> x) { a.v += x; }
  static RL_INLINE void join(Lanes& a, const Lanes& b) { a.v += b.v; }
  static RL_INLINE Acc collapse(const Lanes& a) {
    return fold(a.v, [](int64_t x, int64_t y) { return step(x, y); });
  }
  static RL_INLINE State init() { return 0; }
  static RL_INLINE State state(Acc a) { return a; }
  static RL_INLINE void merge(State& a, State b) { a = step(a, b); }
  static RL_INLINE int64_t finish(State s, const ReduceAttrs&) { return s; }
};

struct ComplexPair {
  double re, im;
};

template <Last last>
struct ComplexSum {
  using In = ComplexPair;
  using Acc = ComplexPair;
  struct State {
    Compensated re, im;
  };
  static RL_INLINE Acc start() { return {0, 0}; }
  static RL_INLINE Acc step(Acc a, In x) { return {a.re + x.re, a.im + x.im}; }
  static RL_INLINE Acc join(Acc a, Acc b) { return step(a, b); }
  static RL_INLINE State init() { return {}; }
  static RL_INLINE State state(Acc a) { return {{a.re, 0}, {a.im, 0}}; }
  static RL_INLINE void merge(State& a, const State& b) {
    a.re.add(b.re.value());
    a.im.add(b.im.value());
  }
  static RL_INLINE ComplexPair finish(const State& s, const ReduceAttrs& attrs) {
    const double d = last == Last::Divide ? attrs.count : 1.0;
    return {s.re.value() / d, s.im.value() / d};
  }
};

// ---- products ---------------------------------------------------------------------------------

template <class T>
struct Prod {
  using In = T;
  using Acc = std::conditional_t<std::is_same_v<T, float>, double, T>;
  using State = Acc;
  static RL_INLINE Acc start() { return Acc(1); }
  static RL_INLINE Acc step(Acc a, T x) {
    if constexpr (std::is_integral_v<T>) return Acc(uint64_t(a) * uint64_t(x));
    else return a * Acc(x);
  }
  static RL_INLINE Acc join(Acc a, Acc b) { return multiply(a, b); }
  static RL_INLINE Acc multiply(Acc a, Acc b) {
    if constexpr (std::is_integral_v<T>) return Acc(uint64_t(a) * uint64_t(b));
    else return a * b;
  }
  static RL_INLINE State init() { return Acc(1); }
  static RL_INLINE State state(Acc a) { return a; }
  static RL_INLINE void merge(State& a, State b) { a = multiply(a, b); }
  static RL_INLINE T finish(State s, const ReduceAttrs&) { return T(s); }
};

struct ComplexProd {
  using In = ComplexPair;
  using Acc = ComplexPair;
  using State = ComplexPair;
  static RL_INLINE Acc start() { return {1, 0}; }
  static RL_INLINE Acc step(Acc a, In x) {
    return {a.re * x.re - a.im * x.im, a.re * x.im + a.im * x.re};
  }
  static RL_INLINE Acc join(Acc a, Acc b) { return step(a, b); }
  static RL_INLINE State init() { return {1, 0}; }
  static RL_INLINE State state(Acc a) { return a; }
  static RL_INLINE void merge(State& a, State b) { a = step(a, b); }
  static RL_INLINE ComplexPair finish(State s, const ReduceAttrs&) { return s; }
};

// ---- bool: any, all, count --------------------------------------------------------------------

template <bool kAll>
struct Logical {
  using In = uint8_t;
  using Acc = uint8_t;
  using State = uint8_t;
  struct Lanes {
    Vec<uint8_t> v;
  };
  static RL_INLINE Acc start() { return kAll; }
  static RL_INLINE Acc step(Acc a, In x) { return kAll ? Acc(a & x) : Acc(a | x); }
  static RL_INLINE Acc join(Acc a, Acc b) { return step(a, b); }
  static RL_INLINE In neutral() { return kAll; }
  static RL_INLINE Lanes lanes() { return {Vec<uint8_t>(uint8_t(kAll))}; }
  static RL_INLINE void step(Lanes& a, Vec<uint8_t> x) { a.v = kAll ? a.v & x : a.v | x; }
  static RL_INLINE void join(Lanes& a, const Lanes& b) { step(a, b.v); }
  static RL_INLINE Acc collapse(const Lanes& a) {
    return fold(a.v, [](uint8_t x, uint8_t y) { return step(x, y); });
  }
  static RL_INLINE State init() { return kAll; }
  static RL_INLINE State state(Acc a) { return a; }
  static RL_INLINE void merge(State& a, State b) { a = step(a, b); }
  static RL_INLINE uint8_t finish(State s, const ReduceAttrs&) { return s; }
};

struct Count {  // of bytes that are 1
  using In = uint8_t;
  using Acc = int32_t;
  using State = int64_t;
  static RL_INLINE Acc start() { return 0; }
  static RL_INLINE Acc step(Acc a, In x) { return a + x; }
  static RL_INLINE Acc join(Acc a, Acc b) { return a + b; }
  static RL_INLINE State init() { return 0; }
  static RL_INLINE State state(Acc a) { return a; }
  static RL_INLINE void merge(State& a, State b) { a += b; }
  static RL_INLINE int64_t finish(State s, const ReduceAttrs&) { return s; }
};

template <class T>
bool real_kernel(ReduceOp op, ReduceKernel* k) {
  switch (op) {
    case ReduceOp::Sum: return fill<SumOf<T, Identity, Last::Plain>>(k);
    case ReduceOp::Mean: return fill<SumOf<T, Identity, Last::Divide>>(k);
    case ReduceOp::NanSum: return fill<SumOf<T, NanToZero, Last::Plain>>(k);
    case ReduceOp::Norm1: return fill<SumOf<T, Magnitude, Last::Plain>>(k);
    case ReduceOp::Norm2: return fill<SumOf<T, Square, Last::Root>>(k);
    case ReduceOp::Prod: return fill<Prod<T>>(k);
    default: return false;
  }
}

bool complex_kernel(ReduceOp op, ReduceKernel* k) {
  switch (op) {
    case ReduceOp::Sum: return fill<ComplexSum<Last::Plain>>(k);
    case ReduceOp::Mean: return fill<ComplexSum<Last::Divide>>(k);
    case ReduceOp::Prod: return fill<ComplexProd>(k);
    default: return false;
  }
}

}  // namespace

bool sum_kernel(ReduceOp op, DType compute, ReduceKernel* k) {
  switch (compute) {
    case DType::Float: return real_kernel<float>(op, k);
    case DType::Double: return real_kernel<double>(op, k);
    case DType::ComplexDouble: return complex_kernel(op, k);
    case DType::Int64:
      if (op == ReduceOp::Sum) return fill<IntSum>(k);
      return op == ReduceOp::Prod && fill<Prod<int64_t>>(k);
    case DType::Bool:
      if (op == ReduceOp::Any) return fill<Logical<false>>(k);
      if (op == ReduceOp::All) return fill<Logical<true>>(k);
      return op == ReduceOp::CountNonzero && fill<Count>(k);
    default: return false;
  }
}

}  // namespace rl::cpu::RL_ISA::reduce
