// Making and keeping plans of Fourier transforms.
#include "kernels/fft_plan.h"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "kernels/cpu/fft.h"

namespace rl {
namespace {

constexpr int64_t kLargestRadix = 31;
constexpr size_t kKept = 64;  // plans in the cache

// exp(-2 pi i k / n), reduced so that the argument is exact.
void root(int64_t k, int64_t n, double& re, double& im) {
  const long double angle = -2.0L * 3.14159265358979323846264338327950288L * (long double)(k % n) /
                            (long double)n;
  re = double(std::cos(angle));
  im = double(std::sin(angle));
}

void set_table(FftTable& t, const std::vector<double>& re, const std::vector<double>& im,
               DType real) {
  t.imag = re.size();
  auto fill = [&](auto& v) {
    v.assign(re.begin(), re.end());
    v.insert(v.end(), im.begin(), im.end());
  };
  if (real == DType::Float) fill(t.f);
  else fill(t.d);
}

std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t p : {4, 2, 3, 5})
    for (; n % p == 0; n /= p) out.push_back(p);
  for (int64_t p = 7; p * p <= n; p += 2)
    for (; n % p == 0; n /= p) out.push_back(p);
  if (n > 1) out.push_back(n);
  return out;
}

void plan_stages(FftPlan& plan, const std::vector<int64_t>& factors, DType real) {
  std::vector<double> re, im;
  auto add = [&](int64_t k, int64_t n) {
    re.emplace_back();
    im.emplace_back();
    root(k, n, re.back(), im.back());
  };
  int64_t n = plan.n;
  for (int64_t p : factors) {
    FftStage s{p, n / p, re.size(), 0};
    for (int64_t i = 1; i < p; ++i)
      for (int64_t q = 0; q < s.m; ++q) add(i * q, n);
    s.roots = re.size();
    if (p > 5)
      for (int64_t i = 0; i < p; ++i) add(i, p);
    plan.stages.push_back(s);
    n = s.m;
  }
  set_table(plan.table, re, im, real);
}

void plan_bluestein(FftPlan& plan, DType real) {
  const int64_t n = plan.n;
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  plan.convolution = fft_plan(m, real);
  std::vector<double> cr(size_t(n), 0), ci(size_t(n), 0), kr(size_t(m), 0), ki(size_t(m), 0);
  for (int64_t k = 0; k < n; ++k) {
    const auto square = int64_t((__int128(k) * k) % (2 * n));
    root(square, 2 * n, cr[size_t(k)], ci[size_t(k)]);
    for (int64_t at : {k, (m - k) % m}) {
      kr[size_t(at)] = cr[size_t(k)];
      ki[size_t(at)] = -ci[size_t(k)];
    }
  }
  set_table(plan.chirp, cr, ci, real);
  // The kernel's transform in double, by a plan of its own.
  const auto exact = fft_plan(m, DType::Double);
  std::vector<double> wr(static_cast<size_t>(m), 0), wi(static_cast<size_t>(m), 0);
  void* buffers[4] = {kr.data(), ki.data(), wr.data(), wi.data()};
  cpu::fft_columns(DType::Double, *exact, buffers, 1);
  auto* tr = static_cast<double*>(buffers[0]);
  auto* ti = static_cast<double*>(buffers[1]);
  std::vector<double> re(tr, tr + m), im(ti, ti + m);
  for (int64_t i = 0; i < m; ++i) {
    re[size_t(i)] /= double(m);
    im[size_t(i)] /= double(m);
  }
  set_table(plan.kernel, re, im, real);
}

std::shared_ptr<const FftPlan> make_plan(int64_t n, DType real) {
  auto plan = std::make_shared<FftPlan>();
  plan->n = n;
  const auto factors = factors_of(n);
  bool smooth = true;
  for (int64_t p : factors) smooth = smooth && p <= kLargestRadix;
  if (smooth) plan_stages(*plan, factors, real);
  else plan_bluestein(*plan, real);
  std::vector<double> re(size_t(n) + 1), im(size_t(n) + 1);
  for (int64_t k = 0; k <= n; ++k) root(k, 2 * n, re[size_t(k)], im[size_t(k)]);
  set_table(plan->half, re, im, real);
  return plan;
}

}  // namespace

std::shared_ptr<const FftPlan> fft_plan(int64_t n, DType real) {
  using Key = std::pair<int64_t, DType>;
  static std::mutex mutex;
  static auto& plans = *new std::map<Key, std::shared_ptr<const FftPlan>>;
  const Key key{n, real};
  {
    std::lock_guard lock(mutex);
    if (auto it = plans.find(key); it != plans.end()) return it->second;
  }
  auto plan = make_plan(n, real);  // without the lock: Bluestein asks for another plan
  std::lock_guard lock(mutex);
  if (plans.size() >= kKept) plans.clear();
  plans[key] = plan;
  return plan;
}

}  // namespace rl
