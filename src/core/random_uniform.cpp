// Uniform numbers, integers, permutations and coin flips.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "core/random_detail.h"
#include "core/random_streams.h"

namespace rl {

using namespace random_detail;

template <class T>
void fill_uniform(Generator& gen, T* out, int64_t n, double from, double to) {
  GeneratorLock lock(gen, n);
  if constexpr (is_reduced_v<T>) {
    float low = float(from), high = float(to);
    float wide[kChunk];
    // Rounding to 16 bits may reach `to`, which the half-open interval excludes. Compared as bits;
    // the sign of a zero does not count.
    const T begin(low), end(high);
    const uint16_t mask = float(end) == 0 ? 0x7fff : 0xffff;
    for (int64_t i = 0; i < n; i += kChunk) {
      int64_t m = std::min(kChunk, n - i);
      uniforms(gen, wide, m, low, high);
      narrow_block(wide, out + i, m);
      for (int64_t k = i; k < i + m; ++k) {
        if (((out[k].bits ^ end.bits) & mask) == 0) out[k] = begin;
      }
    }
  } else {
    uniforms(gen, out, n, T(from), T(to));
  }
}

// ---- integers

namespace {

// PyTorch draws 64 bits from this range on, so that the remainder stays nearly unbiased.
constexpr uint64_t kWideRange = uint64_t(1) << 28;

// x % d for 32-bit numbers with two multiplications (Lemire, Kaser and Kurz, "Faster remainder
// by direct computation", 2019).
struct FastMod {
  uint32_t d;
  uint64_t inverse;
  explicit FastMod(uint32_t divisor) : d(divisor), inverse(~uint64_t(0) / divisor + 1) {}
  uint32_t operator()(uint32_t x) const {
    if (d == 1) return 0;
    __extension__ using u128 = unsigned __int128;
    return uint32_t(u128(inverse * x) * d >> 64);
  }
};

// out[i] = f(draw), one 32-bit draw for each element.
template <class T, class F>
void map32(Generator& gen, T* out, int64_t n, const F& f) {
  uint32_t draws[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    int64_t m = std::min(kChunk, n - i);
    gen.random_block(draws, m);
    for (int64_t k = 0; k < m; ++k) out[i + k] = f(draws[k]);
  }
}
template <class T, class F>
void map64(Generator& gen, T* out, int64_t n, const F& f) {
  uint32_t draws[kChunk];
  for (int64_t i = 0; i < n; i += kChunk / 2) {
    int64_t m = std::min(kChunk / 2, n - i);
    gen.random_block(draws, 2 * m);
    for (int64_t k = 0; k < m; ++k) {
      out[i + k] = f(uint64_t(draws[2 * k]) << 32 | draws[2 * k + 1]);
    }
  }
}

}  // namespace

template <class T>
void snap_random_bounds(int64_t& from, int64_t& to) {
  static_assert(std::is_floating_point_v<T> || is_reduced_v<T>);
  constexpr int kDigits = std::is_same_v<T, double> ? 53
                          : std::is_same_v<T, float> ? 24
                          : std::is_same_v<T, half>  ? 11
                                                     : 8;
  // The distance between neighbours of type T at the magnitude of x.
  auto step = [](int64_t x) {
    int width = std::bit_width(uint64_t(x < 0 ? -x : x));
    return int64_t(1) << std::max(width - kDigits, 0);
  };
  double low = double(from_int<T>(from + 1)), high = double(from_int<T>(to - 1));
  if (low < 0x1p63 && int64_t(low) < from) from = int64_t(low) + step(from + 1);
  if (high < 0x1p63 && int64_t(high) >= to) to = int64_t(high) - step(to - 1);
}

template <class T>
void fill_random_range(Generator& gen, T* out, int64_t n, int64_t base, uint64_t range) {
  GeneratorLock lock(gen, n);
  auto shifted = [base](uint64_t x) { return from_int<T>(int64_t(x + uint64_t(base))); };
  if (range == 0) {
    map64(gen, out, n, [](uint64_t x) { return from_int<T>(int64_t(x)); });
  } else if (range >= kWideRange) {
    map64(gen, out, n, [&](uint64_t x) { return shifted(x % range); });
  } else {
    FastMod mod{uint32_t(range)};
    map32(gen, out, n, [&](uint32_t x) { return shifted(mod(x)); });
  }
}

template <class T>
void fill_random(Generator& gen, T* out, int64_t n) {
  GeneratorLock lock(gen, n);
  if constexpr (std::is_same_v<T, bool>) {
    map32(gen, out, n, [](uint32_t x) { return (x & 1) != 0; });
  } else if constexpr (std::is_same_v<T, double>) {
    map64(gen, out, n, [](uint64_t x) { return double(x % ((uint64_t(1) << 53) + 1)); });
  } else if constexpr (std::is_same_v<T, float> || is_reduced_v<T>) {
    constexpr int kDigits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, half> ? 11 : 8;
    FastMod mod{(1u << kDigits) + 1};
    map32(gen, out, n, [&](uint32_t x) { return T(float(mod(x))); });
  } else if constexpr (sizeof(T) == 8) {
    constexpr uint64_t kMask = uint64_t(std::numeric_limits<T>::max());
    map64(gen, out, n, [](uint64_t x) { return T(x & kMask); });
  } else {
    constexpr uint32_t kMask = uint32_t(std::numeric_limits<T>::max());
    map32(gen, out, n, [](uint32_t x) { return T(x & kMask); });
  }
}

namespace {

// From this size on a 32-bit remainder would be visibly biased.
constexpr int64_t kWidePermutation = std::numeric_limits<uint32_t>::max() / 20;

// The shuffle of R. Durstenfeld (CACM 7(7), 1964, algorithm 235), from the front.
template <class T>
void shuffle(Generator& gen, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = from_int<T>(i);
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(out[i], out[i + gen.random() % uint32_t(n - i)]);
  }
}

// The same shuffle while the sequence grows: each number changes places with one before it.
template <class T>
void shuffle_growing(Generator& gen, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint64_t place = gen.random64() % uint64_t(i + 1);
    out[i] = from_int<T>(i);
    std::swap(out[i], out[place]);
  }
}

}  // namespace

template <class T>
void fill_randperm(Generator& gen, T* out, int64_t n) {
  GeneratorLock lock(gen, n);
  if (n < kWidePermutation) {
    shuffle(gen, out, n);
  } else {
    shuffle_growing(gen, out, n);
  }
}

// ---- coin flips

template <class T>
void fill_bernoulli(Generator& gen, T* out, int64_t n, double p) {
  GeneratorLock lock(gen, n);
  // u < p for u = k 2^-53 is k < ceil(p 2^53), exactly.
  uint64_t limit = uint64_t(std::ceil(p * 0x1p53));
  uint32_t draws[kChunk];
  uint8_t flips[kChunk / 2];
  [[maybe_unused]] const T one = from_int<T>(1);
  for (int64_t i = 0; i < n; i += kChunk / 2) {
    int64_t m = std::min(kChunk / 2, n - i);
    gen.random_block(draws, 2 * m);
    if constexpr (sizeof(T) == 1) {
      random_loops().below53(draws, reinterpret_cast<uint8_t*>(out) + i, m, limit);
    } else {
      random_loops().below53(draws, flips, m, limit);
      for (int64_t k = 0; k < m; ++k) {
        if constexpr (is_reduced_v<T>) {
          out[i + k].bits = flips[k] ? one.bits : uint16_t(0);
        } else {
          out[i + k] = T(flips[k]);
        }
      }
    }
  }
}

template <class T, class P>
void fill_bernoulli(Generator& gen, T* out, const P* p, int64_t n) {
  GeneratorLock lock(gen, n);
  using C = compute_t<P>;
  constexpr int64_t kStep = 512;
  C u[kStep];
  for (int64_t i = 0; i < n; i += kStep) {
    int64_t m = std::min(kStep, n - i);
    uniforms(gen, u, m);
    for (int64_t k = 0; k < m; ++k) {
      C prob = C(p[i + k]);
      check(prob >= 0 && prob <= 1, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
      out[i + k] = from_int<T>(u[k] < prob);
    }
  }
}

// ---- instantiations

#define RL_FLOATS(X) X(float) X(double) X(half) X(bfloat16)
#define RL_INTS(X) X(uint8_t) X(int8_t) X(int16_t) X(int32_t) X(int64_t)
#define RL_UNSIGNED(X) X(uint16_t) X(uint32_t) X(uint64_t)

#define RL_UNIFORM(T) template void fill_uniform<T>(Generator&, T*, int64_t, double, double);
RL_FLOATS(RL_UNIFORM)

#define RL_SNAP(T) template void snap_random_bounds<T>(int64_t&, int64_t&);
RL_FLOATS(RL_SNAP)

#define RL_PERM(T) template void fill_randperm<T>(Generator&, T*, int64_t);
RL_FLOATS(RL_PERM)
RL_INTS(RL_PERM)

#define RL_RANGE(T) \
  template void fill_random_range<T>(Generator&, T*, int64_t, int64_t, uint64_t);
RL_RANGE(bool)
RL_FLOATS(RL_RANGE)
RL_INTS(RL_RANGE)
RL_UNSIGNED(RL_RANGE)

#define RL_ALL(T)                                                                       \
  template void fill_random<T>(Generator&, T*, int64_t);                                \
  template void fill_bernoulli<T>(Generator&, T*, int64_t, double);                     \
  template void fill_bernoulli<T, float>(Generator&, T*, const float*, int64_t);        \
  template void fill_bernoulli<T, double>(Generator&, T*, const double*, int64_t);      \
  template void fill_bernoulli<T, half>(Generator&, T*, const half*, int64_t);          \
  template void fill_bernoulli<T, bfloat16>(Generator&, T*, const bfloat16*, int64_t);
RL_ALL(bool)
RL_FLOATS(RL_ALL)
RL_INTS(RL_ALL)

}  // namespace rl
