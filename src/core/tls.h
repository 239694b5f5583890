// The thread's state that every operator looks at: one cache line.
#pragma once
#include <cstdint>

namespace rl {

// What stands between a call and its kernel; each bit is looked at by generated wrappers.
enum ModeBit : uint8_t {
  kProfiling = 1,              // calls are recorded (modes/profiler.h)
  kModeStack = 2,              // a Mode above autograd: it sees calls with their arguments boxed
  kAutocast = 4,               // arguments are cast by the operator's rule (modes/autocast.h)
  kBelowModes = 8,             // a Mode below autograd takes the place of kernels
  kWrappers = 16,              // tensors whose class takes the place of kernels may come along
};
constexpr uint8_t kAboveAutograd = kProfiling | kModeStack | kAutocast;
constexpr uint8_t kBelowAutograd = kBelowModes | kWrappers;

struct Tls {
  uint8_t modes = 0;           // of ModeBit
  bool grad_mode = true;
  bool inference_mode = false;
  bool view_replay = false;    // inside the lazy rebuild of a view's grad_fn
  bool anomaly = false;
  bool multithreading = true;
  bool profiling = false;      // a recorder is on, though kProfiling may be off inside a call
};
extern thread_local constinit Tls tls;
// Told of memory taken (bytes > 0) and given back while the thread is profiling.
extern void (*memory_observer)(void* p, int64_t bytes);

inline bool grad_enabled() { return tls.grad_mode; }

class GradMode {  // RAII: no_grad is GradMode guard(false)
 public:
  explicit GradMode(bool on) : saved_(tls.grad_mode) { tls.grad_mode = on; }
  ~GradMode() { tls.grad_mode = saved_; }
  GradMode(const GradMode&) = delete;

 private:
  bool saved_;
};
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

}  // namespace rl
