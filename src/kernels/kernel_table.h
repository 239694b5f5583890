// Choice of the instruction set at run time. Files in kernels/cpu are compiled once per x86-64
// level into rl::cpu::{v2,v3,v4}; RL_KERNEL(ret, name, (args)) in a header declares these functions
// and makes the constant `rl::cpu::name`, which calls the best one that is built and that the
// processor runs. There are no static initialisers: the level is found by the first call.
#pragma once
#include <cstdint>

#include "gen/isa_config.h"

namespace rl::cpu {

enum class Isa : int8_t { V2 = 0, V3 = 1, V4 = 2 };

namespace detail {
extern constinit int8_t g_isa;  // -1: not looked at yet
int8_t find_isa();              // sets g_isa
}  // namespace detail

inline Isa isa() {
  int8_t level = detail::g_isa;
  return Isa(level >= 0 ? level : detail::find_isa());
}
const char* isa_name(Isa isa);  // "x86-64-v3"
// Highest level that may be used, for tests: levels above it, or not built, are not chosen.
void limit_isa(Isa highest);

template <class Signature>
struct KernelTable;

template <class R, class... A>
struct KernelTable<R(A...)> {
  using Function = R (*)(A...);
  Function per_isa[3];

  Function pick() const { return per_isa[int(isa())]; }
  R operator()(A... args) const { return pick()(static_cast<A&&>(args)...); }
};

}  // namespace rl::cpu

#if RL_HAVE_V2
#define RL_IF_V2(x) x
#else
#define RL_IF_V2(x) nullptr
#endif
#if RL_HAVE_V3
#define RL_IF_V3(x) x
#else
#define RL_IF_V3(x) nullptr
#endif
#if RL_HAVE_V4
#define RL_IF_V4(x) x
#else
#define RL_IF_V4(x) nullptr
#endif

// Use inside namespace rl::cpu.
#define RL_KERNEL(ret, name, args)                    \
  namespace v2 {                                      \
  ret name args;                                      \
  }                                                   \
  namespace v3 {                                      \
  ret name args;                                      \
  }                                                   \
  namespace v4 {                                      \
  ret name args;                                      \
  }                                                   \
  inline constexpr ::rl::cpu::KernelTable<ret args> name{ \
      {RL_IF_V2(v2::name), RL_IF_V3(v3::name), RL_IF_V4(v4::name)}}
