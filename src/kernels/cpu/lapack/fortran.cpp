// Opens the bundled OpenBLAS and keeps its thread count in step with ours.
#include "kernels/cpu/lapack/fortran.h"

#include <atomic>

#include "base/dylib.h"
#include "base/parallel.h"
#include "kernels/cpu/lapack/lapack.h"

namespace rl::lapack {
namespace {

std::atomic<int> g_threads{0};  // what OpenBLAS was told last
std::atomic<int> g_serial{0};   // living Serial objects

void* library() {
  static void* const handle = open_bundled("librl_openblas.so.0");
  return handle;
}

void set_threads(int n) {
  using Function = void(int);
  static auto* const f =
      reinterpret_cast<Function*>(find_symbol(library(), "scipy_openblas_set_num_threads"));
  if (g_threads.exchange(n) != n) f(n);
}

}  // namespace

void* routine(const std::string& name) {
  return find_symbol(library(), ("scipy_" + name + "_").c_str());
}

void sync_threads() {
  if (g_serial.load(std::memory_order_relaxed) == 0 && !in_parallel()) set_threads(num_threads());
}

Serial::Serial() {
  ++g_serial;
  set_threads(1);
}
Serial::~Serial() { --g_serial; }

}  // namespace rl::lapack
