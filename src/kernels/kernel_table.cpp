// Finds the best x86-64 level that the processor has and that this build has kernels for.
#include "kernels/kernel_table.h"

#include "base/check.h"

namespace rl::cpu {
namespace detail {
constinit int8_t g_isa = -1;
}

namespace {

constinit int8_t g_limit = int8_t(Isa::V4);

bool built(int8_t level) {
  constexpr bool kBuilt[] = {RL_HAVE_V2 != 0, RL_HAVE_V3 != 0, RL_HAVE_V4 != 0};
  return kBuilt[level];
}

bool supported(int8_t level) {
  __builtin_cpu_init();
  switch (Isa(level)) {
    case Isa::V4: return __builtin_cpu_supports("x86-64-v4");
    case Isa::V3: return __builtin_cpu_supports("x86-64-v3");
    default: return __builtin_cpu_supports("x86-64-v2");
  }
}

}  // namespace

int8_t detail::find_isa() {
  for (int8_t level = g_limit; level >= 0; --level) {
    if (built(level) && supported(level)) {
      g_isa = level;
      return level;
    }
  }
  fail("this processor runs none of the instruction sets that the library was built for");
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::V4: return "x86-64-v4";
    case Isa::V3: return "x86-64-v3";
    default: return "x86-64-v2";
  }
}

void limit_isa(Isa highest) {
  g_limit = int8_t(highest);
  detail::g_isa = -1;
  detail::find_isa();
}

}  // namespace rl::cpu
