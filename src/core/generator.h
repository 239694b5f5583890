// The CPU random number generator: mt19937 (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998) with
// the draws, the cached normals and the saved state of PyTorch's CPU generator.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/intrusive_ptr.h"
#include "base/long_work.h"

namespace rl {

class Generator : public RefCounted {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;
  static constexpr int64_t kStateBytes = 5056;

  explicit Generator(uint64_t seed = kDefaultSeed);
  intrusive_ptr<Generator> clone() const;

  // Each of these takes the mutex itself.
  void manual_seed(uint64_t seed);
  uint64_t seed();  // seeds from a nondeterministic source; returns the seed
  uint64_t initial_seed() const;
  std::vector<uint8_t> get_state() const;
  // Throws Runtime when `size` is not kStateBytes or the bytes are no state of this generator.
  void set_state(const uint8_t* bytes, int64_t size);
  void set_state(const std::vector<uint8_t>& bytes) {
    set_state(bytes.data(), int64_t(bytes.size()));
  }

  // The draws below do not lock: hold a GeneratorLock around a series of them.
  std::mutex& mutex() const { return mutex_; }

  uint32_t random() {
    if (left_ == 1) advance();
    --left_;
    return temper(words_[next_++]);
  }
  // Two draws; the first one gives the high half.
  uint64_t random64() {
    uint64_t high = random();
    return high << 32 | random();
  }
  float uniform_float() { return float(random() & 0xffffffu) * 0x1p-24f; }            // [0, 1)
  double uniform_double() { return double(random64() & 0x1fffffffffffffu) * 0x1p-53; }  // [0, 1)
  double normal_double();  // N(0, 1); draws a pair, keeps the second for the next call
  // The same numbers as `count` calls of random(), in bulk.
  void random_block(uint32_t* out, int64_t count);

 private:
  static constexpr int kWords = 624;

  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void reset(uint64_t seed);
  void advance();  // the next 624 words

  mutable std::mutex mutex_;
  uint64_t seed_ = 0;
  // Words still to be used are words_[next_, next_ + left_ - 1); after seeding there are none.
  int32_t left_ = 1;
  int32_t next_ = 0;
  bool has_normal_ = false;
  bool has_float_normal_ = false;  // carried through saved states; no stream of ours draws it
  double normal_ = 0;
  float float_normal_ = 0;
  alignas(64) uint32_t words_[kWords];
};

// Locks a generator for a series of `n` draws. The front end's lock is given up if there are many,
// or if another thread draws: who holds the mutex never waits for the front end's lock.
class GeneratorLock {
 public:
  explicit GeneratorLock(const Generator& g, int64_t n = 0) {
    if (n <= kFewDraws) {
      lock_ = std::unique_lock(g.mutex(), std::try_to_lock);
      if (lock_.owns_lock()) return;
    }
    work_.emplace();
    lock_ = std::unique_lock(g.mutex());
  }

 private:
  static constexpr int64_t kFewDraws = 16384;
  std::optional<LongWork> work_;  // ends after the lock
  std::unique_lock<std::mutex> lock_;
};

Generator& default_generator();  // seeded nondeterministically at first use
inline Generator& generator_or_default(Generator* g) { return g ? *g : default_generator(); }
uint64_t nondeterministic_seed();

}  // namespace rl
