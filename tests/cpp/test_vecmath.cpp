// Accuracy of kernels/cpu/vecmath.h in ulps against long double, and special values.
// Also builds alone, for one instruction set:
//   g++ -std=c++20 -O3 -march=x86-64-v4 -DRL_ISA=v4 -ffp-contract=off -fno-math-errno
//       -fno-trapping-math -Isrc tests/cpp/test_vecmath.cpp -lgtest -lgtest_main
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/vec_convert.h"
#include "kernels/cpu/vecmath.h"

namespace rv = rl::cpu::RL_ISA;

namespace {

// Distance of `got` from the exact value, in units of the last place of T at that value.
template <class T> double ulps(T got, long double want) {
  T near = static_cast<T>(want);
  if (std::isnan(near)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(near) || std::isinf(got)) return got == near ? 0 : 1e30;
  int exponent;
  std::frexp(want, &exponent);
  int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  exponent -= std::numeric_limits<T>::digits;
  long double unit = std::ldexp(1.0L, exponent < lowest ? lowest : exponent);
  return static_cast<double>(std::fabs((static_cast<long double>(got) - want) / unit));
}

template <class T> std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {T(0),  T(-0.0), L::infinity(), -L::infinity(), L::quiet_NaN(), L::max(),
                      L::lowest(), L::min(), -L::min(), L::denorm_min(), -L::denorm_min(),
                      L::epsilon(), -L::epsilon()};
  for (T t : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 0.25, 0.70710678, 1.41421356, 88.7, 89.0,
              103.0, 104.5, 709.5, 710.0, 745.2, 1e5, 1e7, 1e20, 1e30, 1e-5, 1e-10, 1e-30}) {
    v.push_back(t);
    v.push_back(-t);
  }
  return v;
}

// Uniform in [lo, hi] and, for half of them, in the exponent.
template <class T> std::vector<T> samples(double lo, double hi, int n) {
  std::mt19937_64 gen(1234);
  std::uniform_real_distribution<double> flat(lo, hi), unit(0, 1);
  std::vector<T> v;
  double top = std::log2(std::max(std::fabs(lo), std::fabs(hi)));
  double bottom = sizeof(T) == 4 ? -140 : -1060;
  while (static_cast<int>(v.size()) < n) {
    v.push_back(static_cast<T>(flat(gen)));
    double x = std::exp2(bottom + (top - bottom) * unit(gen));
    if (unit(gen) < 0.5) x = -x;
    if (x >= lo && x <= hi) v.push_back(static_cast<T>(x));
  }
  return v;
}

template <class T> int count() { return sizeof(T) == 4 ? 400000 : 200000; }

template <class T, class F, class R>
void check1(const char* name, F f, R reference, double lo, double hi, double limit) {
  using V = rv::Vec<T>;
  std::vector<T> xs = samples<T>(lo, hi, count<T>());
  for (T x : specials<T>()) xs.push_back(x);
  while (xs.size() % V::size) xs.push_back(T(1));
  double worst = 0;
  T at = 0;
  for (size_t i = 0; i < xs.size(); i += V::size) {
    T r[V::size];
    f(V::load(&xs[i])).store(r);
    for (int j = 0; j < V::size; ++j) {
      T x = xs[i + j];
      long double want = reference(static_cast<long double>(x));
      double u = ulps(r[j], want);
      if (u > worst) worst = u, at = x;
      if (want == 0 && x == 0) {
        EXPECT_EQ(std::signbit(r[j]), std::signbit(want)) << name << " of " << x;
      }
    }
  }
  std::printf("%-8s %-6s %6.3f ulp at %.9g\n", name, sizeof(T) == 4 ? "float" : "double", worst,
              static_cast<double>(at));
  EXPECT_LE(worst, limit) << name << " at " << at;
}

template <class T, class F, class R>
void check2(const char* name, F f, R reference, double lo, double hi, double limit) {
  using V = rv::Vec<T>;
  std::mt19937_64 gen(99);
  std::vector<T> xs = samples<T>(lo, hi, count<T>()), ys = samples<T>(-40, 40, count<T>());
  std::shuffle(ys.begin(), ys.end(), gen);
  ys.resize(xs.size(), T(2));
  for (T x : specials<T>()) {
    for (T y : specials<T>()) xs.push_back(x), ys.push_back(y);
  }
  while (xs.size() % V::size) xs.push_back(T(1)), ys.push_back(T(1));
  double worst = 0;
  T at = 0, at2 = 0;
  for (size_t i = 0; i < xs.size(); i += V::size) {
    T r[V::size];
    f(V::load(&xs[i]), V::load(&ys[i])).store(r);
    for (int j = 0; j < V::size; ++j) {
      long double want = reference(static_cast<long double>(xs[i + j]),
                                   static_cast<long double>(ys[i + j]));
      double u = ulps(r[j], want);
      if (want == 0 && !std::isnan(r[j]) && std::signbit(r[j]) != std::signbit(want)) u = 1e20;
      if (u > worst) worst = u, at = xs[i + j], at2 = ys[i + j];
    }
  }
  std::printf("%-8s %-6s %6.3f ulp at %.9g, %.9g\n", name, sizeof(T) == 4 ? "float" : "double",
              worst, static_cast<double>(at), static_cast<double>(at2));
  EXPECT_LE(worst, limit) << name << " at " << at << ", " << at2;
}

#define CHECK1(NAME, REF, LO, HI, LIMIT_F, LIMIT_D)                                             \
  TEST(VecMath, NAME) {                                                                         \
    auto f = [](auto v) { return rv::NAME(v); };                                                \
    auto r = [](long double x) -> long double { return REF; };                                  \
    check1<float>(#NAME, f, r, LO, HI, LIMIT_F);                                                \
    check1<double>(#NAME, f, r, LO, HI, LIMIT_D);                                               \
  }
CHECK1(exp, std::exp(x), -110, 95, 2, 2)
CHECK1(exp2, std::exp2(x), -155, 130, 2, 2)
CHECK1(expm1, std::expm1(x), -30, 95, 2, 2)
CHECK1(log, std::log(x), 0, 100, 2, 2)
CHECK1(log2, std::log2(x), 0, 100, 2, 2)
CHECK1(log10, std::log10(x), 0, 100, 2, 2)
CHECK1(log1p, std::log1p(x), -1, 100, 2, 2)
CHECK1(sin, std::sin(x), -100, 100, 2, 2)
CHECK1(cos, std::cos(x), -100, 100, 2, 2)
CHECK1(tan, std::tan(x), -100, 100, 2, 2.5)
CHECK1(asin, std::asin(x), -1, 1, 2, 2)
CHECK1(acos, std::acos(x), -1, 1, 2, 2)
CHECK1(atan, std::atan(x), -30, 30, 2, 2)
CHECK1(sinh, std::sinh(x), -92, 92, 2, 2)
CHECK1(cosh, std::cosh(x), -92, 92, 2, 2)
CHECK1(tanh, std::tanh(x), -12, 12, 2, 2.5)
CHECK1(asinh, std::asinh(x), -100, 100, 2.5, 2.5)
CHECK1(acosh, std::acosh(x), 0.5, 100, 2.5, 2.5)
CHECK1(atanh, std::atanh(x), -1, 1, 2.5, 2.5)
CHECK1(erf, std::erf(x), -5, 5, 2.1, 2)
CHECK1(erfc, std::erfc(x), -6, 11, 2, 4.5)
CHECK1(sqrt, std::sqrt(x), 0, 100, 0.5, 0.5)
CHECK1(floor, std::floor(x), -100, 100, 0, 0)
CHECK1(ceil, std::ceil(x), -100, 100, 0, 0)
CHECK1(trunc, std::trunc(x), -100, 100, 0, 0)
CHECK1(rint, std::nearbyint(x), -100, 100, 0, 0)

#define CHECK2(NAME, REF, LO, HI, LIMIT_F, LIMIT_D)                                             \
  TEST(VecMath, NAME) {                                                                         \
    auto f = [](auto v, auto w) { return rv::NAME(v, w); };                                     \
    auto r = [](long double x, long double y) -> long double { return REF; };                   \
    check2<float>(#NAME, f, r, LO, HI, LIMIT_F);                                                \
    check2<double>(#NAME, f, r, LO, HI, LIMIT_D);                                               \
  }
CHECK2(pow, std::pow(x, y), -20, 100, 1, 1)
CHECK2(atan2, std::atan2(x, y), -100, 100, 2, 2)
CHECK2(fmod, std::fmod(x, y), -1000, 1000, 0, 0)
CHECK2(hypot, std::hypot(x, y), -100, 100, 1, 1)

TEST(VecMath, Sigmoid) {
  auto f = [](auto v) { return rv::sigmoid(v); };
  auto r = [](long double x) -> long double { return 1 / (1 + std::exp(-x)); };
  check1<float>("sigmoid", f, r, -80, 80, 2.5);
  check1<double>("sigmoid", f, r, -80, 80, 2.5);
}

}  // namespace
