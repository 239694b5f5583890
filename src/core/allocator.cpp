// Caching CPU allocator. Freed blocks are kept by size class, so that a training loop writes to
// pages that are already mapped: fresh pages cost more than the arithmetic of most operators.
//  - up to 4 KiB: per-thread free lists, no lock;
//  - up to 1 MiB: classes of four steps per power of two, 64-byte aligned, malloc below;
//  - above: 2 MiB-aligned mmap blocks with MADV_HUGEPAGE, best fit within 1/8 of slack.
// The cache holds at most a quarter of the machine's memory; older blocks are given back first.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "core/storage.h"

namespace rl {
namespace {

constexpr size_t kAlign = 64, kSmallMax = 4096, kMidMax = size_t(1) << 20;
constexpr size_t kHuge = size_t(2) << 20;
constexpr int kSmallClasses = kSmallMax / kAlign;
constexpr int kPerThread = 32;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The size a request really takes; a function of the request alone, so free() needs no header.
size_t class_size(size_t n) {
  if (n == 0) n = 1;
  if (n <= kSmallMax) return round_up(n, kAlign);
  if (n <= kMidMax) {
    size_t step = size_t(1) << (63 - __builtin_clzll(n - 1));
    return round_up(n, std::max(step / 4, kAlign));
  }
  return round_up(n, kHuge / 8);
}

struct Counters {
  std::atomic<int64_t> allocated{0}, reserved{0}, peak_allocated{0}, peak_reserved{0}, allocs{0};
};
constinit Counters counters;

void raise(std::atomic<int64_t>& peak, int64_t v) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (v > seen && !peak.compare_exchange_weak(seen, v, std::memory_order_relaxed)) {
  }
}

size_t cache_limit() {
  static const size_t limit =
      size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGE_SIZE)) / 4;
  return limit;
}

void system_free(void* p, size_t size) {
  counters.reserved.fetch_sub(int64_t(size), std::memory_order_relaxed);
  if (size > kMidMax) {
    munmap(p, size);
  } else {
    std::free(p);
  }
}

void* map_aligned(size_t size) {
  const size_t padded = size + kHuge;
  void* raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const size_t start = size_t(raw), aligned = round_up(start, kHuge);
  if (aligned > start) munmap(raw, aligned - start);
  const size_t tail = start + padded - (aligned + size);
  if (tail) munmap(reinterpret_cast<void*>(aligned + size), tail);
  madvise(reinterpret_cast<void*>(aligned), size, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

class Cache {
 public:
  void* take(size_t size, size_t& got) {
    std::lock_guard lock(mutex_);
    auto it = blocks_.lower_bound(size);
    const size_t most = size <= kMidMax ? size : size + size / 8;
    if (it == blocks_.end() || it->first > most) return nullptr;
    void* p = it->second.back();
    got = it->first;
    it->second.pop_back();
    held_ -= got;
    if (it->second.empty()) blocks_.erase(it);
    return p;
  }
  void give(void* p, size_t size) {
    std::unique_lock lock(mutex_);
    if (held_ + size > cache_limit()) {
      lock.unlock();
      system_free(p, size);
      return;
    }
    blocks_[size].push_back(p);
    held_ += size;
  }
  void clear() {
    std::map<size_t, std::vector<void*>> old;
    {
      std::lock_guard lock(mutex_);
      old.swap(blocks_);
      held_ = 0;
    }
    for (auto& [size, list] : old)
      for (void* p : list) system_free(p, size);
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> blocks_;
  size_t held_ = 0;
};
Cache& cache() {
  static Cache* c = new Cache;  // outlives every static tensor
  return *c;
}

struct ThreadLists {
  void* slots[kSmallClasses][kPerThread];
  uint8_t count[kSmallClasses] = {};
  ~ThreadLists() {
    for (int c = 0; c < kSmallClasses; ++c)
      while (count[c]) std::free(slots[c][--count[c]]);
  }
};

// A pointer, because the thread-local memory of a library that is opened late is scarce (the
// loader keeps about 1.5 kB for all of them).
thread_local constinit ThreadLists* t_lists = nullptr;
thread_local constinit bool t_ended = false;  // this thread's lists are gone for good
struct ListsOwner {
  ~ListsOwner() {
    t_ended = true;
    delete t_lists;
    t_lists = nullptr;
  }
};

[[gnu::noinline]] ThreadLists* make_lists() {
  if (t_ended) return nullptr;
  static thread_local ListsOwner owner;
  (void)owner;
  return t_lists = new ThreadLists;
}
inline ThreadLists* lists() { return t_lists ? t_lists : make_lists(); }

void* from_system(size_t size) {
  void* p = size > kMidMax ? map_aligned(size) : std::aligned_alloc(kAlign, round_up(size, kAlign));
  if (p) {
    const int64_t r = counters.reserved.fetch_add(int64_t(size), std::memory_order_relaxed);
    raise(counters.peak_reserved, r + int64_t(size));
  }
  return p;
}

[[noreturn, gnu::noinline]] void out_of_memory(size_t nbytes) {
  fail_as(ErrorKind::OutOfMemory,
          "[enforce fail at alloc_cpu] DefaultCPUAllocator: can't allocate "
          "memory: you tried to allocate ",
          nbytes, " bytes. Error code 12 (Cannot allocate memory)");
}

// Blocks above kMidMax may be larger than their class (best fit): their real sizes stand here.
struct Oversize {
  std::mutex mutex;
  std::map<void*, size_t> real;
};
Oversize& oversize() {
  static Oversize* o = new Oversize;
  return *o;
}

// fork() while another thread allocates: the child's copies of the locks must not stay locked.
void hold_over_fork() {
  cache().lock();
  oversize().mutex.lock();
}
void let_go() {
  oversize().mutex.unlock();
  cache().unlock();
}
const int g_atfork = pthread_atfork(hold_over_fork, let_go, let_go);

void* alloc_large(size_t nbytes, size_t size) {
  size_t got = size;
  void* p = cache().take(size, got);
  if (!p) p = from_system(size);
  if (!p) {
    cache().clear();
    p = from_system(size);
  }
  if (!p) out_of_memory(nbytes);
  if (got != size) {
    std::lock_guard lock(oversize().mutex);
    oversize().real[p] = got;
  }
  return p;
}

size_t real_size(void* p, size_t size) {
  if (size <= kMidMax) return size;
  std::lock_guard lock(oversize().mutex);
  auto it = oversize().real.find(p);
  if (it == oversize().real.end()) return size;
  size = it->second;
  oversize().real.erase(it);
  return size;
}

// RL_GUARD_MEMORY=1, for tests: every block ends at a page that nobody may touch, and a freed block
// is unmapped, so that a read or a write outside of it ends the process there and then.
const bool g_guard = std::getenv("RL_GUARD_MEMORY") != nullptr;
constexpr size_t kPage = 4096, kGuardAlign = 8;

[[gnu::noinline]] void* guarded_alloc(size_t nbytes) {
  const size_t size = round_up(nbytes, kPage);
  void* raw = mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0);
  if (raw == MAP_FAILED) out_of_memory(nbytes);
  char* end = static_cast<char*>(raw) + size;
  mprotect(end, kPage, PROT_NONE);
  return end - round_up(nbytes, kGuardAlign);
}

[[gnu::noinline]] void guarded_free(void* p, size_t nbytes) {
  char* end = static_cast<char*>(p) + round_up(nbytes, kGuardAlign);
  const size_t size = round_up(nbytes, kPage);
  munmap(end - size, size + kPage);
}

}  // namespace

void* cpu_alloc(size_t nbytes) {
  if (nbytes > (size_t(1) << 47)) out_of_memory(nbytes);
  if (g_guard) [[unlikely]] return guarded_alloc(nbytes);
  const size_t size = class_size(nbytes);
  if (size <= kSmallMax) {
    const size_t c = size / kAlign - 1;
    ThreadLists* l = lists();
    if (l && l->count[c]) return l->slots[c][--l->count[c]];
    if (void* p = std::aligned_alloc(kAlign, size)) return p;
    out_of_memory(nbytes);
  }
  void* p = alloc_large(nbytes, size);
  const int64_t a = counters.allocated.fetch_add(int64_t(size), std::memory_order_relaxed);
  raise(counters.peak_allocated, a + int64_t(size));
  counters.allocs.fetch_add(1, std::memory_order_relaxed);
  return p;
}

void cpu_free(void* p, size_t nbytes) {
  if (!p) return;
  if (g_guard) [[unlikely]] return guarded_free(p, nbytes);
  const size_t size = class_size(nbytes);
  if (size <= kSmallMax) {
    const size_t c = size / kAlign - 1;
    ThreadLists* l = lists();
    if (l && l->count[c] < kPerThread) {
      l->slots[c][l->count[c]++] = p;
      return;
    }
    std::free(p);
    return;
  }
  counters.allocated.fetch_sub(int64_t(size), std::memory_order_relaxed);
  cache().give(p, real_size(p, size));
}

AllocatorStats cpu_allocator_stats() {
  return {counters.allocated, counters.reserved, counters.peak_allocated, counters.peak_reserved,
          counters.allocs};
}
void cpu_allocator_reset_peak() {
  counters.peak_allocated = counters.allocated.load();
  counters.peak_reserved = counters.reserved.load();
}
void cpu_empty_cache() { cache().clear(); }

}  // namespace rl
