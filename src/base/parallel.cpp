#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "base/long_work.h"

namespace rl {

FrontLock front_lock;

namespace {

std::atomic<int> g_threads{0};

// A forked child has no OpenMP workers of its parent and libgomp would wait for them for ever.
std::atomic<bool> g_forked{false};
void on_fork_child() { g_forked = true; }
const int g_atfork = pthread_atfork(nullptr, nullptr, on_fork_child);

}  // namespace

int num_threads() {
  int n = g_threads.load(std::memory_order_relaxed);
  if (n == 0) {
    n = std::max(1, omp_get_max_threads());
    g_threads = n;
  }
  return g_forked.load(std::memory_order_relaxed) ? 1 : n;
}

void set_num_threads(int n) {
  g_threads = std::max(1, n);
  if (!g_forked) omp_set_num_threads(std::max(1, n));
}

bool in_parallel() { return omp_in_parallel(); }
int thread_index() { return omp_get_thread_num(); }

namespace detail {

// Chunks are taken from a shared counter, so a preempted core delays its own chunk only.
void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  void (*f)(void*, int64_t, int64_t), void* ctx) {
  const LongWork others_may_run;
  const int64_t n = end - begin;
  const int64_t most = (n + std::max<int64_t>(grain, 1) - 1) / std::max<int64_t>(grain, 1);
  const int threads = int(std::min<int64_t>(num_threads(), most));
  if (threads <= 1 || omp_in_parallel()) {
    f(ctx, begin, end);
    return;
  }
  const int64_t chunks = std::min<int64_t>(most, int64_t(threads) * 4);
  const int64_t step = (n + chunks - 1) / chunks;
  std::atomic<int64_t> next{0};
  std::exception_ptr error;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(threads)
  {
    for (;;) {
      const int64_t b = begin + next.fetch_add(1, std::memory_order_relaxed) * step;
      if (b >= end) break;
      try {
        f(ctx, b, std::min(end, b + step));
      } catch (...) {
        if (!failed.test_and_set()) error = std::current_exception();
        next.store(chunks, std::memory_order_relaxed);
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace rl
