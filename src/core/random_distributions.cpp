// Distributions by inversion or rejection: exponential, Cauchy, geometric, Poisson, binomial,
// gamma, Dirichlet, categories, and the noise of rrelu.
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "core/random_detail.h"
#include "core/random_streams.h"

namespace rl {

using namespace random_detail;

template <class T>
void fill_exponential(Generator& gen, T* out, int64_t n, double lambda) {
  GeneratorLock lock(gen, n);
  double scale = -1.0 / lambda;
  if constexpr (!std::is_same_v<T, double>) {
    // 1 - u is exact, and the vectorised logarithm is as good as any after rounding to float.
    double u[kChunk / 2];
    for (int64_t i = 0; i < n; i += kChunk / 2) {
      int64_t m = std::min(kChunk / 2, n - i);
      uniforms(gen, u, m);
      random_loops().log_complement(u, m, scale);
      for (int64_t k = 0; k < m; ++k) out[i + k] = narrow<T>(u[k]);
    }
    return;
  }
  transform_uniforms(gen, out, n, [=](double u) { return narrow<T>(scale * std::log1p(-u)); });
}

template <class T>
void fill_cauchy(Generator& gen, T* out, int64_t n, double median, double sigma) {
  GeneratorLock lock(gen, n);
  transform_uniforms(gen, out, n, [=](double u) {
    return narrow<T>(std::fma(sigma, std::tan(std::numbers::pi * (u - 0.5)), median));
  });
}

template <class T>
void fill_geometric(Generator& gen, T* out, int64_t n, double p) {
  GeneratorLock lock(gen, n);
  double base = std::log1p(-p);
  transform_uniforms(gen, out, n,
                     [=](double u) { return narrow<T>(std::ceil(std::log(u) / base)); });
}

// ---- Poisson

namespace {

// Counts are 64-bit integers; what does not fit becomes the smallest of them, as on x86-64.
double whole(double x) {
  x = std::floor(x);
  return x >= -0x1p63 && x < 0x1p63 ? x : -0x1p63;
}

// Rates of ten and more: W. Hörmann, "The transformed rejection method for generating Poisson
// random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS.
double poisson_rejection(Generator& gen, double rate) {
  double root = std::sqrt(rate), log_rate = std::log(rate);
  double b = 0.931 + 2.53 * root;
  double a = -0.059 + 0.02483 * b;
  double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
  double v_r = 0.9277 - 3.6224 / (b - 2.0);
  for (;;) {
    double u = gen.uniform_double() - 0.5;
    double v = gen.uniform_double();
    double us = 0.5 - std::fabs(u);
    double k = whole((2.0 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    double left = std::log(v) + std::log(inv_alpha) - std::log(a / (us * us) + b);
    if (left <= -rate + k * log_rate - std::lgamma(k + 1.0)) return k;
  }
}

// Small rates: multiply uniforms until exp(-rate) is passed (Knuth, TAOCP 2, 3.4.1).
double poisson_product(Generator& gen, double rate) {
  double bound = std::exp(-rate), product = 1.0;
  for (double k = 0;; ++k) {
    product *= gen.uniform_double();
    if (product <= bound) return k;
  }
}

double poisson_one(Generator& gen, double rate) {
  check(rate >= 0, "invalid Poisson rate, expected rate to be non-negative");
  if (rate >= 10) return poisson_rejection(gen, rate);
  return rate == 0 ? 0 : poisson_product(gen, rate);
}

// ---- binomial, 0 < prob <= 1/2

// Few expected successes: sum geometric waiting times.
double binomial_waiting(Generator& gen, double count, double prob) {
  double log_miss = std::log1p(-prob), trials = 0;
  for (double successes = 0;; ++successes) {
    trials += std::ceil(std::log(gen.uniform_double()) / log_miss);
    if (trials > count) return successes;
  }
}

// log k! less the leading terms of Stirling's series.
double stirling_rest(double k) {
  static constexpr double kTable[] = {
      0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650,
      0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTable[int(k)];
  double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// W. Hörmann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46 (1993),
// algorithm BTRS.
double binomial_rejection(Generator& gen, double count, double prob, double mean) {
  double spread = std::sqrt(mean * (1 - prob));
  double b = 1.15 + 2.53 * spread;
  double a = -0.0873 + 0.0248 * b + 0.01 * prob;
  double c = mean + 0.5;
  double v_r = 0.92 - 4.2 / b;
  double ratio = prob / (1 - prob);
  double alpha = (2.83 + 5.1 / b) * spread;
  double m = std::floor((count + 1) * prob);
  for (;;) {
    double u = gen.uniform_double() - 0.5;
    double v = gen.uniform_double();
    double us = 0.5 - std::fabs(u);
    double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    double bound = (m + 0.5) * std::log((m + 1) / (ratio * (count - m + 1))) +
                   (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                   (k + 0.5) * std::log(ratio * (count - k + 1) / (k + 1)) + stirling_rest(m) +
                   stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (v <= bound) return k;
  }
}

// The expectation is rounded to T, the rest is done in double.
template <class T>
double binomial_half(Generator& gen, T count, T prob) {
  T mean = count * prob;
  return mean >= 10 ? binomial_rejection(gen, count, prob, mean)
                    : binomial_waiting(gen, count, prob);
}

template <class T>
double binomial_one(Generator& gen, T count, T prob) {
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1) return double(count);
  if (std::isnan(count)) return double(count);
  if (prob <= T(0.5)) return binomial_half(gen, count, prob);
  if (prob > T(0.5)) return double(count) - binomial_half<T>(gen, count, 1 - prob);
  return std::numeric_limits<double>::quiet_NaN();
}

// ---- gamma: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM
// TOMS 26(3), 2000. Shapes below one are raised by one and scaled back by a power of a uniform.
// The parameters are rounded to T, the rest is done in double.
template <class T>
double gamma_one(Generator& gen, T alpha) {
  double scale = 1.0;
  if (alpha < 1) {
    if (alpha == 0) return 0.0;
    scale = std::pow(1.0 - gen.uniform_double(), double(1 / alpha));
    alpha += 1;
  }
  double d = alpha - T(1.0f / 3.0f);  // a third in single precision, whatever T is
  double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    double x, y;
    do {
      x = gen.normal_double();
      y = 1.0 + c * x;
    } while (y <= 0);
    double v = y * y * y;
    double u = 1.0 - gen.uniform_double();
    double xx = x * x;
    if (u < 1.0 - 0.0331 * xx * xx) return scale * d * v;
    if (std::log(u) < 0.5 * xx + d * (1.0 - v + std::log(v))) return scale * d * v;
  }
}

// Never zero, and never NaN.
template <class T>
T gamma_positive(Generator& gen, T alpha) {
  return std::max(std::numeric_limits<T>::min(), T(gamma_one(gen, alpha)));
}

}  // namespace

template <class T>
void sample_poisson(Generator& gen, T* out, const T* rate, int64_t n) {
  GeneratorLock lock(gen, n);
  for (int64_t i = 0; i < n; ++i) out[i] = narrow<T>(poisson_one(gen, double(rate[i])));
}

template <class T>
void sample_binomial(Generator& gen, T* out, const T* count, const T* prob, int64_t n) {
  GeneratorLock lock(gen, n);
  for (int64_t i = 0; i < n; ++i) out[i] = T(binomial_one(gen, count[i], prob[i]));
}

template <class T>
void sample_standard_gamma(Generator& gen, T* out, const T* alpha, int64_t n) {
  GeneratorLock lock(gen, n);
  for (int64_t i = 0; i < n; ++i) out[i] = gamma_positive(gen, alpha[i]);
}

template <class T>
void sample_dirichlet(Generator& gen, T* out, const T* alpha, int64_t rows, int64_t size) {
  GeneratorLock lock(gen);
  constexpr T kBelowOne = 1 - std::numeric_limits<T>::epsilon() / 2;
  std::vector<double> gamma(static_cast<size_t>(size));
  for (int64_t r = 0; r < rows; ++r, alpha += size, out += size) {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += gamma[i] = gamma_positive(gen, double(alpha[i]));
    for (int64_t i = 0; i < size; ++i) {
      T share = T(gamma[i] / sum);
      out[i] = std::min(std::max(std::numeric_limits<T>::min(), share), kBelowOne);
    }
  }
}

// ---- categories

namespace {

template <class T>
void check_weights(const T* weights, int64_t rows, int64_t categories) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* w = weights + r * categories;
    for (int64_t i = 0; i < categories; ++i) {
      check(double(w[i]) >= 0 && std::isfinite(double(w[i])),
            "probability tensor contains either `inf`, `nan` or element < 0");
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const T* w = weights + r * categories;
    bool any = std::any_of(w, w + categories, [](T x) { return double(x) > 0; });
    check(any, "invalid multinomial distribution (sum of probabilities <= 0)");
  }
}

// Without replacement: the largest of w / e, e exponential, in falling order, is a sample in
// proportion to w (an exponential race; Efraimidis and Spirakis, Inf. Proc. Letters 97, 2006).
template <class T>
void draw_distinct(Generator& gen, int64_t* out, const T* weights, int64_t rows,
                   int64_t categories, int64_t samples) {
  std::vector<T> race(static_cast<size_t>(rows * categories));
  fill_exponential(gen, race.data(), rows * categories, 1.0);
  std::vector<std::pair<compute_t<T>, int64_t>> order(static_cast<size_t>(categories));
  auto before = [](const auto& a, const auto& b) { return a.first > b.first; };
  for (int64_t r = 0; r < rows; ++r, weights += categories, out += samples) {
    const T* e = race.data() + r * categories;
    for (int64_t i = 0; i < categories; ++i) {
      order[i] = {compute_t<T>(T(compute_t<T>(weights[i]) / compute_t<T>(e[i]))), i};
    }
    if (samples == 1) {  // the first of the largest
      out[0] = std::min_element(order.begin(), order.end(), before)->second;
      continue;
    }
    // Few of many: a heap; otherwise select, then sort. Equal keys (zero weights, coarse types)
    // come out in the order in which the standard library's algorithms leave them.
    if (samples * 64 <= categories) {
      std::partial_sort(order.begin(), order.begin() + samples, order.end(), before);
    } else {
      std::nth_element(order.begin(), order.begin() + samples - 1, order.end(), before);
      std::sort(order.begin(), order.begin() + samples - 1, before);
    }
    for (int64_t s = 0; s < samples; ++s) out[s] = order[s].second;
  }
}

// With replacement: search the running sums for a uniform number.
template <class T>
void draw_repeated(Generator& gen, int64_t* out, const T* weights, int64_t rows,
                   int64_t categories, int64_t samples) {
  GeneratorLock lock(gen);
  using C = compute_t<T>;
  std::vector<C> sums(static_cast<size_t>(categories));
  for (int64_t r = 0; r < rows; ++r, weights += categories) {
    C sum = 0;
    for (int64_t i = 0; i < categories; ++i) {
      double w = double(weights[i]);
      check(w >= 0, "invalid multinomial distribution (encountering probability entry < 0)");
      check(std::isfinite(w), "invalid multinomial distribution (encountering probability entry = "
                              "infinity or NaN)");
      sum += C(weights[i]);
      sums[i] = sum;
    }
    check(sum > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
    for (C& s : sums) s /= sum;
    sums.back() = 1;
    for (int64_t s = 0; s < samples; ++s) {
      double u = gen.uniform_double();
      auto at = std::lower_bound(sums.begin(), sums.end(), u,
                                 [](C a, double b) { return double(a) < b; });
      *out++ = at - sums.begin();
    }
  }
}

}  // namespace

template <class T>
void sample_multinomial(Generator& gen, int64_t* out, const T* weights, int64_t rows,
                        int64_t categories, int64_t samples, bool replacement) {
  if (replacement && samples > 1) {
    return draw_repeated(gen, out, weights, rows, categories, samples);
  }
  check_weights(weights, rows, categories);
  draw_distinct(gen, out, weights, rows, categories, samples);
}

// ---- rrelu

template <class T>
void sample_rrelu(Generator& gen, T* out, T* noise, const T* in, int64_t n, double lower,
                  double upper) {
  GeneratorLock lock(gen, n);
  using C = compute_t<T>;
  const double low = C(lower), range = C(upper) - low;
  for (int64_t i = 0; i < n; ++i) {
    C x = C(in[i]);
    if (x <= 0) {
      C slope = C(gen.uniform_double() * range + low);
      noise[i] = T(slope);
      out[i] = T(x * slope);
    } else {
      noise[i] = T(1.0f);
      out[i] = in[i];
    }
  }
}

#define RL_CONTINUOUS(T)                                                       \
  template void fill_exponential<T>(Generator&, T*, int64_t, double);         \
  template void fill_cauchy<T>(Generator&, T*, int64_t, double, double);      \
  template void fill_geometric<T>(Generator&, T*, int64_t, double);           \
  template void sample_poisson<T>(Generator&, T*, const T*, int64_t);         \
  template void sample_multinomial<T>(Generator&, int64_t*, const T*, int64_t, int64_t, int64_t, \
                                      bool);
RL_CONTINUOUS(float)
RL_CONTINUOUS(double)
RL_CONTINUOUS(half)
RL_CONTINUOUS(bfloat16)

#define RL_GEOMETRIC(T) template void fill_geometric<T>(Generator&, T*, int64_t, double);
RL_GEOMETRIC(uint8_t)
RL_GEOMETRIC(int8_t)
RL_GEOMETRIC(int16_t)
RL_GEOMETRIC(int32_t)
RL_GEOMETRIC(int64_t)

#define RL_SAMPLED(T)                                                                 \
  template void sample_binomial<T>(Generator&, T*, const T*, const T*, int64_t);      \
  template void sample_standard_gamma<T>(Generator&, T*, const T*, int64_t);          \
  template void sample_dirichlet<T>(Generator&, T*, const T*, int64_t, int64_t);
RL_SAMPLED(float)
RL_SAMPLED(double)


#define RL_RRELU(T) \
  template void sample_rrelu<T>(Generator&, T*, T*, const T*, int64_t, double, double);
RL_RRELU(float)
RL_RRELU(double)
RL_RRELU(bfloat16)

}  // namespace rl
