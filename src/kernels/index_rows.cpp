// See index_rows.h.
#include "kernels/index_rows.h"

#include <cstring>

namespace rl {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
void gather_as(void* out, int64_t out_step, const void* in, RowPlaces p, int64_t n) {
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  if (!p.at && p.step == 1 && out_step == 1) {
    std::memcpy(to, from, size_t(n) * sizeof(T));
  } else if (!p.at && p.step == -1 && out_step == 1) {
    for (int64_t j = 0; j < n; ++j) to[j] = from[-j];
  } else if (!p.at) {
    for (int64_t j = 0; j < n; ++j) to[j * out_step] = from[j * p.step];
  } else if (p.step == 0 && p.scale == 1 && out_step == 1) {
    for (int64_t j = 0; j < n; ++j) to[j] = from[p.at[j]];
  } else {
    for (int64_t j = 0; j < n; ++j) to[j * out_step] = from[p.at[j] * p.scale + j * p.step];
  }
}

template <class T> struct Compute { using type = T; };
template <> struct Compute<half> { using type = float; };
template <> struct Compute<bfloat16> { using type = float; };
template <> struct Compute<bool> { using type = int; };

struct Assign {
  template <class T> static T apply(T, T b) { return b; }
};
struct Add {
  template <class T> static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) return T(uint64_t(a) + uint64_t(b));
    else return T(a + b);
  }
};
struct Multiply {
  template <class T> static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) return T(uint64_t(a) * uint64_t(b));
    else return T(a * b);
  }
};
// NaN wins in both.
struct Max {
  template <class T> static T apply(T a, T b) { return b > a || b != b ? (a != a ? a : b) : a; }
};
struct Min {
  template <class T> static T apply(T a, T b) { return b < a || b != b ? (a != a ? a : b) : a; }
};

template <class Op, class T>
T combined(T a, T b) {
  using C = typename Compute<T>::type;
  if constexpr (std::is_same_v<Op, Assign>) return b;
  else return T(Op::apply(C(a), C(b)));
}

template <class T, class Op>
void combine_as(void* out, RowPlaces p, const void* in, int64_t in_step, int64_t n) {
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  if (!p.at && p.step == 1 && in_step == 1) {
    for (int64_t j = 0; j < n; ++j) to[j] = combined<Op>(to[j], from[j]);
  } else if (!p.at) {
    for (int64_t j = 0; j < n; ++j)
      to[j * p.step] = combined<Op>(to[j * p.step], from[j * in_step]);
  } else {
    for (int64_t j = 0; j < n; ++j) {
      T& place = to[p.at[j] * p.scale + j * p.step];
      place = combined<Op>(place, from[j * in_step]);
    }
  }
}

CombineRow assign_row(int64_t itemsize) {
  switch (itemsize) {
    case 1: return combine_as<uint8_t, Assign>;
    case 2: return combine_as<uint16_t, Assign>;
    case 4: return combine_as<uint32_t, Assign>;
    case 8: return combine_as<uint64_t, Assign>;
    default: return combine_as<Bytes16, Assign>;
  }
}

}  // namespace

GatherRow gather_row(int64_t itemsize) {
  switch (itemsize) {
    case 1: return gather_as<uint8_t>;
    case 2: return gather_as<uint16_t>;
    case 4: return gather_as<uint32_t>;
    case 8: return gather_as<uint64_t>;
    default: return gather_as<Bytes16>;
  }
}

CombineRow combine_row(Combine how, DType dtype, const char* name) {
  CombineRow f = nullptr;
  switch (how) {
    case Combine::Assign: return assign_row(itemsize(dtype));
    case Combine::Add:
      visit(AllTypes{}, dtype, name, [&]<class T>() { f = combine_as<T, Add>; });
      break;
    case Combine::Multiply:
      visit(AllTypes{}, dtype, name, [&]<class T>() { f = combine_as<T, Multiply>; });
      break;
    case Combine::Max:
      visit(RealBoolTypes{}, dtype, name, [&]<class T>() { f = combine_as<T, Max>; });
      break;
    case Combine::Min:
      visit(RealBoolTypes{}, dtype, name, [&]<class T>() { f = combine_as<T, Min>; });
      break;
  }
  return f;
}

Span span_of(const int64_t* p, int64_t n) {
  Span s{p[0], p[0]};
  for (int64_t i = 1; i < n; ++i) {
    s.low = p[i] < s.low ? p[i] : s.low;
    s.high = p[i] > s.high ? p[i] : s.high;
  }
  return s;
}

}  // namespace rl
