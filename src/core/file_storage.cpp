// Storages over files.
#include "core/file_storage.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

namespace rl {
namespace {

[[noreturn]] void fail_errno(const char* what, const std::string& name) {
  fail(what, " <", name, ">: ", std::strerror(errno), " (", errno, ")");
}

struct File {
  int fd;
  ~File() { close(fd); }
};

}  // namespace

StoragePtr storage_of_file(const std::string& name, bool shared, size_t nbytes) {
  File file{open(name.c_str(), shared ? O_RDWR | O_CREAT : O_RDONLY, 0600)};
  if (file.fd < 0) fail_errno("unable to open file", name);
  struct stat st;
  if (fstat(file.fd, &st) < 0) fail_errno("unable to stat the file", name);
  if (nbytes == 0) nbytes = size_t(st.st_size);
  if (size_t(st.st_size) < nbytes && (!shared || ftruncate(file.fd, off_t(nbytes)) < 0))
    fail("file <", name, "> is smaller than the ", int64_t(nbytes), " bytes asked");
  void* p = nullptr;
  if (nbytes) {
    p = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file.fd,
             0);
    if (p == MAP_FAILED) fail_errno("unable to mmap", name);
  }
  auto unmap = [](void*, void* data, size_t n) {
    if (data && n) munmap(data, n);
  };
  return make_intrusive<Storage>(p, nbytes, unmap, nullptr);
}

}  // namespace rl
