// RL_POINTWISE: makes the inner loops of an element-wise operator from its functor, in a file that
// is compiled once per instruction set. How to use it: kernels/iter/pointwise.h.
#pragma once
#include <tuple>
#include <utility>

#include "core/dtype.h"
#include "core/scalar.h"
#include "kernels/cpu/vec.h"

namespace rl {
using InnerLoop = void (*)(void* const* ptrs, int64_t n, const Scalar* attrs);
}

#define RL_TYPES(...) ::rl::TypeList<__VA_ARGS__>

namespace rl::cpu::RL_ISA {
namespace pointwise {

// ---- what a functor takes and gives
template <class T, int N> struct Repeat;
template <class T> struct Repeat<T, 1> { using type = TypeList<T>; };
template <class T> struct Repeat<T, 2> { using type = TypeList<T, T>; };
template <class T> struct Repeat<T, 3> { using type = TypeList<T, T, T>; };
template <class T> struct Repeat<T, 4> { using type = TypeList<T, T, T, T>; };

template <class F, class T>
constexpr int arity() {
  if constexpr (std::is_invocable_v<const F&, T>) return 1;
  else if constexpr (std::is_invocable_v<const F&, T, T>) return 2;
  else if constexpr (std::is_invocable_v<const F&, T, T, T>) return 3;
  else return 4;
}

template <class F, class T>
struct InputTypes { using type = typename Repeat<T, arity<F, T>()>::type; };
template <class F, class T>
  requires requires { typename F::inputs; }
struct InputTypes<F, T> { using type = typename F::inputs; };

template <class F>
constexpr bool is_vectorized = false;
template <class F>
  requires requires { F::vectorized; }
constexpr bool is_vectorized<F> = F::vectorized;

template <class T> constexpr bool is_pair = false;
template <class A, class B> constexpr bool is_pair<std::pair<A, B>> = true;

// ---- loading and storing one register
template <class T, class I>
RL_INLINE auto load(const void* p, int64_t at) {
  if constexpr (std::is_same_v<I, bool> && !std::is_same_v<T, bool>)
    return Mask<T>::load(static_cast<const bool*>(p) + at);
  else
    return Vec<I>::load(static_cast<const I*>(p) + at);
}
// Lanes past the end hold 1: harmless in any arithmetic.
template <class T, class I>
RL_INLINE auto load_tail(const void* p, int64_t at, int64_t count) {
  if constexpr (std::is_same_v<I, bool> && !std::is_same_v<T, bool>) {
    bool lanes[Mask<T>::size] = {};
    for (int64_t i = 0; i < count; ++i) lanes[i] = static_cast<const bool*>(p)[at + i];
    return Mask<T>::load(lanes);
  } else {
    return Vec<I>::load_partial(static_cast<const I*>(p) + at, count, I(1));
  }
}
template <class O, class R>
RL_INLINE void store(void* p, int64_t at, R r) { r.store(static_cast<O*>(p) + at); }
template <class O, class R>
RL_INLINE void store_tail(void* p, int64_t at, R r, int64_t count) {
  r.store_partial(static_cast<O*>(p) + at, count);
}

template <class T, class O, class F, class... I, size_t... K>
RL_INLINE void vector_loop(const F& f, void* const* p, int64_t n, TypeList<I...>,
                           std::index_sequence<K...>) {
  constexpr int64_t step = Vec<T>::size;
  int64_t i = 0;
  for (; i + step <= n; i += step) store<O>(p[0], i, f(load<T, I>(p[K + 1], i)...));
  if (i < n) store_tail<O>(p[0], i, f(load_tail<T, I>(p[K + 1], i, n - i)...), n - i);
}

// Bits in place of std::complex arithmetic types, so that the compiler may vectorise the loop.
template <class O, class F, class... I, size_t... K>
RL_INLINE void scalar_loop(const F& f, void* const* p, int64_t n, TypeList<I...>,
                           std::index_sequence<K...>) {
  if constexpr (is_pair<O>) {
    using A = typename O::first_type;
    using B = typename O::second_type;
    A* a = static_cast<A*>(p[0]);
    B* b = static_cast<B*>(p[1]);
    for (int64_t i = 0; i < n; ++i) {
      const O r = f(static_cast<const I*>(p[K + 2])[i]...);
      a[i] = r.first;
      b[i] = r.second;
    }
  } else {
    O* out = static_cast<O*>(p[0]);
    auto in = std::tuple<const I*...>(static_cast<const I*>(p[K + 1])...);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(std::get<K>(in)[i]...);
  }
}

template <class F, class T, class... I>
constexpr auto output_type(TypeList<I...>)
    -> std::remove_cvref_t<std::invoke_result_t<const F&, I...>>;

template <class Maker, class T>
void run(void* const* p, int64_t n, const Scalar* attrs) {
  const auto f = Maker::template make<T>(attrs);
  using F = std::remove_cv_t<decltype(f)>;
  using In = typename InputTypes<F, T>::type;
  using O = decltype(output_type<F, T>(In{}));
  [&]<class... I>(TypeList<I...> in) __attribute__((always_inline)) {
    constexpr auto ks = std::make_index_sequence<sizeof...(I)>{};
    if constexpr (is_vectorized<F>) vector_loop<T, O>(f, p, n, in, ks);
    else scalar_loop<O>(f, p, n, in, ks);
  }(In{});
}

template <class Maker, class... T>
InnerLoop find(TypeList<T...>, DType d) {
  InnerLoop loop = nullptr;
  ([&] {
    if constexpr (!is_reduced(dtype_of<T>))
      if (dtype_of<T> == d) loop = run<Maker, T>;
  }(), ...);
  return loop;
}

}  // namespace pointwise
}  // namespace rl::cpu::RL_ISA

// f.NAME = attrs[K], for up to six names.
#define RL_ATTR_1(k, name) f.name = a[k].to<decltype(f.name)>();
#define RL_ATTR_2(k, name, ...) RL_ATTR_1(k, name) RL_ATTR_1(k + 1, __VA_ARGS__)
#define RL_ATTR_3(k, name, ...) RL_ATTR_1(k, name) RL_ATTR_2(k + 1, __VA_ARGS__)
#define RL_ATTR_4(k, name, ...) RL_ATTR_1(k, name) RL_ATTR_3(k + 1, __VA_ARGS__)
#define RL_ATTR_5(k, name, ...) RL_ATTR_1(k, name) RL_ATTR_4(k + 1, __VA_ARGS__)
#define RL_ATTR_6(k, name, ...) RL_ATTR_1(k, name) RL_ATTR_5(k + 1, __VA_ARGS__)
#define RL_ATTR_PICK(a, b, c, d, e, f, NAME, ...) NAME
#define RL_ATTRS(...)                                                                           \
  RL_ATTR_PICK(__VA_ARGS__, RL_ATTR_6, RL_ATTR_5, RL_ATTR_4, RL_ATTR_3, RL_ATTR_2, RL_ATTR_1, ) \
  (0, __VA_ARGS__)

#define RL_POINTWISE(op, functor, types, ...)                             \
  namespace {                                                             \
  struct op##_maker {                                                     \
    template <class T>                                                    \
    static RL_INLINE functor<T> make([[maybe_unused]] const Scalar* a) {  \
      functor<T> f{};                                                     \
      __VA_OPT__(RL_ATTRS(__VA_ARGS__))                                   \
      return f;                                                           \
    }                                                                     \
  };                                                                      \
  }                                                                       \
  InnerLoop op##_loop(DType d) { return pointwise::find<op##_maker>(types{}, d); }
