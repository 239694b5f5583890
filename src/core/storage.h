// Storage: a block of bytes with an owner. Tensors that share memory share one Storage.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/intrusive_ptr.h"
#include "core/device.h"

namespace rl {

// Caching CPU allocator (core/allocator.cpp). `alloc` throws OutOfMemory naming the bytes asked.
void* cpu_alloc(size_t nbytes);
void cpu_free(void* p, size_t nbytes);
struct AllocatorStats {
  int64_t allocated, reserved, peak_allocated, peak_reserved, num_allocs;
};
AllocatorStats cpu_allocator_stats();
void cpu_allocator_reset_peak();
void cpu_empty_cache();

class Storage : public RefCounted {
 public:
  using Deleter = void (*)(void* ctx, void* data, size_t nbytes);
  explicit Storage(size_t nbytes, Device device = {});  // fresh memory (none on meta)
  // Borrowed memory: `deleter(ctx, ...)` runs when the last user is gone (it may be null).
  Storage(void* data, size_t nbytes, Deleter deleter, void* ctx, bool resizable = false);
  ~Storage() override;

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  bool resizable() const { return resizable_; }
  void resize(size_t nbytes);  // keeps the common prefix
  void swap(Storage& o);       // exchanges contents (moving a storage to shared memory)

  void* python = nullptr;      // the Python object that wraps it, kept by the binding
  bool shared_memory = false;

 private:
  void release_data();
  void* data_ = nullptr;
  size_t nbytes_ = 0;
  Deleter deleter_ = nullptr;
  void* ctx_ = nullptr;
  Device device_;
  bool resizable_ = true, owned_ = true;
};
using StoragePtr = intrusive_ptr<Storage>;

}  // namespace rl
