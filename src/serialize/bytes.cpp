// Reading memory and files at an offset.
#include "serialize/bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace rl::serialize {

size_t MemorySource::read(uint64_t offset, void* out, size_t n) const {
  if (offset >= data_.size()) return 0;
  n = std::min<uint64_t>(n, data_.size() - offset);
  if (n) std::memcpy(out, data_.data() + offset, n);
  return n;
}

FileSource::FileSource(int fd) : fd_(fd), size_(0) {
  struct stat info;
  check(fstat(fd, &info) == 0, "cannot read the file: ", std::strerror(errno));
  size_ = info.st_size > 0 ? uint64_t(info.st_size) : 0;
}

size_t FileSource::read(uint64_t offset, void* out, size_t n) const {
  size_t done = 0;
  while (done < n) {
    ssize_t got = pread(fd_, static_cast<char*>(out) + done, n - done, off_t(offset + done));
    if (got < 0 && errno == EINTR) continue;
    check(got >= 0, "cannot read the file: ", std::strerror(errno));
    if (got == 0) break;
    done += size_t(got);
  }
  return done;
}

}  // namespace rl::serialize
