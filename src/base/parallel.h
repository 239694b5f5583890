// parallel_for: splits [begin, end) into chunks of at least `grain` and runs them on the OpenMP
// pool. Nested regions run serially. Exceptions are collected and rethrown on the caller's thread.
// Whatever exceeds the grain, or has a grain of 1 (each item is much work), is LongWork.
#pragma once
#include <cstdint>
#include <type_traits>

namespace rl {

int num_threads();               // threads that a parallel region may use
void set_num_threads(int n);     // torch.set_num_threads
bool in_parallel();
int thread_index();              // 0 outside a region

namespace detail {
void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  void (*f)(void*, int64_t, int64_t), void* ctx);
}

template <class F>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (begin >= end) return;
  if (end - begin <= grain && grain > 1) {
    f(begin, end);
    return;
  }
  detail::parallel_run(
      begin, end, grain,
      [](void* ctx, int64_t b, int64_t e) {
        (*static_cast<std::remove_reference_t<F>*>(ctx))(b, e);
      },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace rl
