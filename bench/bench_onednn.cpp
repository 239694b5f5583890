// Speed of the oneDNN provider: GEMM and convolution in GFLOP/s, and the cost of a small call.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/parallel.h"
#include "kernels/cpu/onednn/provider.h"

using namespace rl::onednn;

namespace {

template <class F>
double best_seconds(F&& f, double budget = 0.3) {
  using clock = std::chrono::steady_clock;
  f();
  double best = 1e9, spent = 0;
  int64_t repeat = 1;
  while (spent < budget) {
    const auto t0 = clock::now();
    for (int64_t i = 0; i < repeat; ++i) f();
    const double t = std::chrono::duration<double>(clock::now() - t0).count();
    spent += t;
    best = std::min(best, t / double(repeat));
    if (t < 1e-3) repeat *= 4;
  }
  return best;
}

std::vector<float> numbers(int64_t n) {
  std::vector<float> v(n);
  for (auto& x : v) x = float(std::rand()) / float(RAND_MAX) - 0.5f;
  return v;
}

void bench_gemm(int64_t m, int64_t n, int64_t k, bool tb) {
  auto a = numbers(m * k), b = numbers(k * n), c = numbers(m * n);
  const double s = best_seconds([&] {
    gemm(Type::f32, false, tb, m, n, k, 1, a.data(), k, b.data(), tb ? k : n, 0, c.data(), n);
  });
  std::printf("gemm%s %5ld %5ld %5ld  %9.2f us  %7.1f GFLOP/s\n", tb ? "_nt" : "   ", m, n, k,
              s * 1e6, 2e-9 * double(m * n * k) / s);
}

void bench_conv(int64_t n, int64_t ic, int64_t oc, int64_t size, int64_t k, int64_t stride,
                int64_t groups, bool last) {
  Conv p;
  p.n = n;
  p.in_channels = ic;
  p.out_channels = oc;
  p.groups = groups;
  p.src_last = p.dst_last = last;
  for (int i = 0; i < 2; ++i) {
    p.in[i] = size;
    p.kernel[i] = k;
    p.padding[i] = k / 2;
    p.stride[i] = stride;
    p.out[i] = (size + 2 * (k / 2) - k) / stride + 1;
  }
  auto src = numbers(n * ic * size * size), dst = numbers(n * oc * p.out[0] * p.out[1]);
  auto w = numbers(oc * ic / groups * k * k), b = numbers(oc);
  const double flop = 2e-9 * double(n * oc * ic / groups * k * k * p.out[0] * p.out[1]);
  bool ok = true;
  const double f = best_seconds(
      [&] { ok = ok && conv_forward(p, src.data(), w.data(), b.data(), dst.data()); });
  const double d =
      best_seconds([&] { ok = ok && conv_backward_data(p, dst.data(), w.data(), src.data()); });
  const double g = best_seconds([&] {
    ok = ok && conv_backward_weights(p, src.data(), dst.data(), w.data(), b.data());
  });
  std::printf("conv n%ld %ld->%ld %ld k%ld s%ld g%ld %s%s  fwd %8.1f us %6.1f  "
              "data %8.1f us %6.1f  weights %8.1f us %6.1f GFLOP/s\n",
              n, ic, oc, size, k, stride, groups, last ? "nhwc" : "nchw", ok ? "" : " DECLINED",
              f * 1e6, flop / f, d * 1e6, flop / d, g * 1e6, flop / g);
}

}  // namespace

int main(int argc, char** argv) {
  rl::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  for (int64_t s : {8, 16, 32, 64, 128, 256, 512, 1024}) bench_gemm(s, s, s, false);
  for (int64_t m : {1, 8, 64}) bench_gemm(m, 512, 512, true);
  for (bool last : {false, true}) {
    for (int64_t n : {1, 8}) {
      bench_conv(n, 64, 64, 56, 3, 1, 1, last);
      bench_conv(n, 256, 256, 14, 3, 1, 1, last);
      bench_conv(n, 64, 256, 56, 1, 1, 1, last);
      bench_conv(n, 128, 128, 56, 3, 1, 128, last);
    }
    bench_conv(1, 3, 64, 224, 7, 2, 1, last);
    bench_conv(8, 512, 512, 7, 3, 1, 1, last);
    bench_conv(64, 1, 6, 28, 5, 1, 1, last);
    bench_conv(64, 6, 16, 14, 5, 1, 1, last);
    bench_conv(64, 3, 16, 32, 3, 1, 1, last);
  }
  return 0;
}
