// The thread's state that every operator looks at: one cache line.
#pragma once
#include <cstdint>

namespace rl {

struct Tls {
  uint8_t modes = 0;           // != 0: some mode is active and calls take the boxed path
  bool grad_mode = true;
  bool inference_mode = false;
  bool view_replay = false;    // inside the lazy rebuild of a view's grad_fn
  bool anomaly = false;
  bool multithreading = true;
};
extern thread_local constinit Tls tls;

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
