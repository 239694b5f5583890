#include "core/storage.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "core/tls.h"

namespace rl {

void (*memory_observer)(void* p, int64_t bytes) = nullptr;

static inline void observe(void* p, int64_t bytes) {
  if (tls.profiling && memory_observer) [[unlikely]] memory_observer(p, bytes);
}

Storage::Storage(size_t nbytes, Device device) : nbytes_(nbytes), device_(device) {
  if (device.is_meta()) return;
  if (device.is_cuda()) fail_as(ErrorKind::Assertion, "Torch not compiled with CUDA enabled");
  check(device.is_cpu(), "Storage: this build has no ", device_type_name(device.type), " support");
  data_ = cpu_alloc(nbytes);
  observe(data_, int64_t(nbytes));
}

Storage::Storage(void* data, size_t nbytes, Deleter deleter, void* ctx, bool resizable)
    : data_(data), nbytes_(nbytes), deleter_(deleter), ctx_(ctx), resizable_(resizable),
      owned_(false) {}

Storage::~Storage() { release_data(); }

void Storage::release_data() {
  if (owned_) {
    if (data_) {
      observe(data_, -int64_t(nbytes_));
      cpu_free(data_, nbytes_);
    }
  } else if (deleter_) {
    deleter_(ctx_, data_, nbytes_);
  }
  data_ = nullptr;
}

void Storage::resize(size_t nbytes) {
  check(resizable_, "Trying to resize storage that is not resizable");
  if (nbytes == nbytes_) return;
  if (device_.is_meta()) {
    nbytes_ = nbytes;
    return;
  }
  void* fresh = nbytes ? cpu_alloc(nbytes) : nullptr;  // a tensor that outlives it sees no memory
  if (fresh) observe(fresh, int64_t(nbytes));
  if (data_ && fresh) std::memcpy(fresh, data_, std::min(nbytes, nbytes_));
  release_data();
  data_ = fresh;
  nbytes_ = nbytes;
  owned_ = true;
  deleter_ = nullptr;
}

void Storage::swap(Storage& o) {
  std::swap(data_, o.data_);
  std::swap(nbytes_, o.nbytes_);
  std::swap(deleter_, o.deleter_);
  std::swap(ctx_, o.ctx_);
  std::swap(device_, o.device_);
  std::swap(resizable_, o.resizable_);
  std::swap(owned_, o.owned_);
  std::swap(shared_memory, o.shared_memory);
}

}  // namespace rl
