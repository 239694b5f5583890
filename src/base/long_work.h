// LongWork: while one lives, other threads of the front end may run (Python: the GIL is given up).
// Only around work that never touches the front end: kernels. Never wait for a mutex that is held
// across LongWork while the front end's lock is held (see GeneratorLock in core/generator.h).
#pragma once

namespace rl {

// Set by the front end. `give_up` returns null if this thread does not hold the lock.
struct FrontLock {
  void* (*give_up)() = nullptr;
  void (*take_back)(void*) = nullptr;
};
extern FrontLock front_lock;

// Giving the lock up costs some 50 ns: for work of 10 µs and more.
constexpr double kLongWork = 1 << 18;  // multiplications

class LongWork {
 public:
  explicit LongWork(bool is_long = true) {
    if (is_long && front_lock.give_up) held_ = front_lock.give_up();
  }
  ~LongWork() {
    if (held_) front_lock.take_back(held_);
  }
  LongWork(const LongWork&) = delete;

 private:
  void* held_ = nullptr;
};

}  // namespace rl
