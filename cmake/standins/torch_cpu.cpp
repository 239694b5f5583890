// The body of libtorch_cpu.so: what extensions take from it besides the C ABI. Their compiler's
// library keeps the cold half of std::string::replace out of line (GCC 13); libtorch exports it,
// so extensions are linked without a copy of their own.
#include <cstddef>
#include <cstring>
#include <ios>
#include <vector>

// Replaces `removed` characters at `at` by `inserted` from `source`, which lies inside the string
// itself; `tail` characters follow them. The room is there.
extern "C" void rl_replace_cold(void* string, char* at, size_t removed, const char* source,
                                size_t inserted, size_t tail)
    asm("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm");

extern "C" void rl_replace_cold(void*, char* at, size_t removed, const char* source,
                                size_t inserted, size_t tail) {
  std::vector<char> copy(source, source + inserted);
  if (tail && removed != inserted) std::memmove(at + inserted, at + removed, tail);
  if (inserted) std::memcpy(at, copy.data(), inserted);
}

// Standard streams are set up by the library itself since GCC 13, which extensions count on;
// before, by every user of them.
namespace {
const std::ios_base::Init streams;
}
extern "C" void rl_ios_base_library_init() asm("_ZSt21ios_base_library_initv");
extern "C" void rl_ios_base_library_init() { static std::ios_base::Init again; }
