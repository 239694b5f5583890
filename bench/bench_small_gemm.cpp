// Small products: our kernel against the oneDNN provider, to place the threshold between them.
#include <chrono>
#include <cstdio>
#include <vector>

#include "base/parallel.h"
#include "kernels/cpu/onednn/provider.h"
#include "kernels/cpu/small_gemm.h"

namespace {

template <class F>
double nanoseconds(F&& f) {
  using clock = std::chrono::steady_clock;
  double best = 1e18;
  for (int round = 0; round < 20; ++round) {
    const auto t0 = clock::now();
    int64_t n = 0;
    do {
      for (int i = 0; i < 16; ++i) f();
      n += 16;
    } while (clock::now() - t0 < std::chrono::milliseconds(2));
    best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - t0).count() /
                              double(n));
  }
  return best;
}

void row(int64_t m, int64_t n, int64_t k, bool tb) {
  std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n);
  rl::cpu::GemmProblem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {a.data(), k, 1, 0};
  p.b = tb ? rl::cpu::GemmOperand{b.data(), 1, k, 0} : rl::cpu::GemmOperand{b.data(), n, 1, 0};
  p.c = {c.data(), n, 1, 0};
  bool taken = true;
  const double ours = nanoseconds([&] { taken = taken && rl::cpu::small_gemm_f32(p); });
  const double theirs = nanoseconds([&] {
    rl::onednn::gemm(rl::onednn::Type::f32, false, tb, m, n, k, 1, a.data(), k, b.data(),
                     tb ? k : n, 0, c.data(), n);
  });
  std::printf("%4ld %4ld %4ld %s  ours %8.0f ns%s  oneDNN %8.0f ns\n", m, n, k, tb ? "nt" : "nn",
              ours, taken ? "" : " (declined)", theirs);
}

}  // namespace

int main() {
  rl::set_num_threads(1);
  for (bool tb : {false, true}) {
    for (int64_t s : {4, 8, 12, 16, 20, 24, 32, 40}) row(s, s, s, tb);
    row(1, 64, 64, tb);
    row(1, 128, 784, tb);
    row(1, 512, 512, tb);
    row(512, 1, 512, tb);
    row(4, 64, 64, tb);
    row(8, 64, 64, tb);
    row(32, 10, 84, tb);
    row(64, 10, 32, tb);
  }
  return 0;
}
