// Seeding, saved states and the cached normal of the CPU generator.
#include "core/generator.h"

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <utility>

#include "base/check.h"
#include "core/random_loops.h"

namespace rl {

Generator::Generator(uint64_t seed) { reset(seed); }

// Knuth's initialisation as in the 2002 version of mt19937; only the low 32 bits of a seed count.
void Generator::reset(uint64_t seed) {
  seed_ = seed;
  words_[0] = uint32_t(seed);
  for (uint32_t i = 1; i < kWords; ++i) {
    words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
  }
  left_ = 1;
  next_ = 0;
  has_normal_ = has_float_normal_ = false;
  normal_ = 0;
  float_normal_ = 0;
}

void Generator::advance() {
  random_loops().twist(words_);
  left_ = kWords + 1;
  next_ = 0;
}

void Generator::random_block(uint32_t* out, int64_t count) {
  while (count > 0) {
    if (left_ == 1) advance();
    int64_t n = std::min<int64_t>(count, left_ - 1);
    random_loops().temper(words_ + next_, out, n);
    next_ += int32_t(n);
    left_ -= int32_t(n);
    out += n;
    count -= n;
  }
}

double Generator::normal_double() {
  if (has_normal_) {
    has_normal_ = false;
    return std::exchange(normal_, 0.0);
  }
  double u1 = uniform_double();
  double u2 = uniform_double();
  double radius = std::sqrt(-2.0 * std::log1p(-u2));
  double angle = 2.0 * std::numbers::pi * u1;
  normal_ = radius * std::sin(angle);
  has_normal_ = true;
  return radius * std::cos(angle);
}

void Generator::manual_seed(uint64_t seed) {
  GeneratorLock lock(*this);
  reset(seed);
}

uint64_t Generator::seed() {
  uint64_t value = nondeterministic_seed();
  manual_seed(value);
  return value;
}

uint64_t Generator::initial_seed() const {
  GeneratorLock lock(*this);
  return seed_;
}

intrusive_ptr<Generator> Generator::clone() const {
  intrusive_ptr<Generator> copy(new Generator);
  copy->set_state(get_state());
  return copy;
}

namespace {

// Byte offsets of the saved state, little endian. Gaps hold zeros.
constexpr int kSeedAt = 0;          // uint64: the seed
constexpr int kLeftAt = 8;          // int32: words left before the next twist, plus one
constexpr int kSeededAt = 12;       // int32: 1
constexpr int kNextAt = 16;         // uint64: index of the next word
constexpr int kWordsAt = 24;        // 624 x uint64, each a 32-bit word
constexpr int kNormalAt = 5024;     // double: the cached normal
constexpr int kHasNormalAt = 5040;  // int32
constexpr int kFloatAt = 5048;      // float: a cached single precision normal
constexpr int kHasFloatAt = 5052;   // bool

template <class T>
void put(uint8_t* bytes, int at, T value) {
  std::memcpy(bytes + at, &value, sizeof(T));
}
template <class T>
T take(const uint8_t* bytes, int at) {
  T value;
  std::memcpy(&value, bytes + at, sizeof(T));
  return value;
}

}  // namespace

std::vector<uint8_t> Generator::get_state() const {
  GeneratorLock lock(*this);
  std::vector<uint8_t> bytes(kStateBytes, 0);
  uint8_t* p = bytes.data();
  put<uint64_t>(p, kSeedAt, seed_);
  put<int32_t>(p, kLeftAt, left_);
  put<int32_t>(p, kSeededAt, 1);
  put<uint64_t>(p, kNextAt, uint64_t(next_));
  for (int i = 0; i < kWords; ++i) put<uint64_t>(p, kWordsAt + 8 * i, words_[i]);
  put<double>(p, kNormalAt, has_normal_ ? normal_ : 0.0);
  put<int32_t>(p, kHasNormalAt, has_normal_);
  put<float>(p, kFloatAt, has_float_normal_ ? float_normal_ : 0.0f);
  put<uint8_t>(p, kHasFloatAt, has_float_normal_);
  return bytes;
}

void Generator::set_state(const uint8_t* bytes, int64_t size) {
  check(size == kStateBytes, "Expected a CPUGeneratorImplState of size ", kStateBytes,
        " but found the input RNG state size to be ", size);
  int32_t left = take<int32_t>(bytes, kLeftAt);
  uint64_t next = take<uint64_t>(bytes, kNextAt);
  // The last term keeps a forged state from reading past the words.
  bool valid = take<int32_t>(bytes, kSeededAt) == 1 && left >= 1 && left <= kWords &&
               next <= uint64_t(kWords) && int64_t(next) + left - 1 <= kWords;
  check(valid, "Invalid mt19937 state");
  GeneratorLock lock(*this);
  seed_ = take<uint64_t>(bytes, kSeedAt);
  left_ = left;
  next_ = int32_t(next);
  for (int i = 0; i < kWords; ++i) {
    words_[i] = uint32_t(take<uint64_t>(bytes, kWordsAt + 8 * i));
  }
  has_normal_ = take<int32_t>(bytes, kHasNormalAt) != 0;
  normal_ = has_normal_ ? take<double>(bytes, kNormalAt) : 0.0;
  has_float_normal_ = take<uint8_t>(bytes, kHasFloatAt) != 0;
  float_normal_ = has_float_normal_ ? take<float>(bytes, kFloatAt) : 0.0f;
}

uint64_t nondeterministic_seed() {
  std::random_device source;
  uint64_t high = source();
  return high << 32 | source();
}

namespace {

// fork() while another thread draws: the child's copy of the mutex must not stay locked.
void hold_over_fork() { default_generator().mutex().lock(); }
void let_go() { default_generator().mutex().unlock(); }
const int g_atfork = pthread_atfork(hold_over_fork, let_go, let_go);

}  // namespace

Generator& default_generator() {
  static intrusive_ptr<Generator> generator(new Generator(nondeterministic_seed()));
  return *generator;
}

}  // namespace rl
