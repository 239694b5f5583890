// Storages over files, shared memory and buffers of other objects.
#include "python/storage_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

#include "core/file_storage.h"
#include "python/accepts.h"
#include "python/errors.h"

namespace rl::py {
namespace {

struct Mapping {
  std::string name;        // shm object to unlink with the last mapping of its maker; or empty
  int fd = -1;
  bool unlink = false;
};

void unmap(void* ctx, void* data, size_t nbytes) {
  auto* m = static_cast<Mapping*>(ctx);
  if (data && nbytes) munmap(data, nbytes);
  if (m->fd >= 0) close(m->fd);
  if (m->unlink) shm_unlink(m->name.c_str());
  delete m;
}

// Which mapping lies under a shared storage.
std::mutex mappings_mutex;
std::unordered_map<void*, Mapping*> mappings;

void unmap_shared(void* ctx, void* data, size_t nbytes) {
  {
    std::lock_guard lock(mappings_mutex);
    mappings.erase(data);
  }
  unmap(ctx, data, nbytes);
}

[[noreturn]] void fail_errno(const char* what, const std::string& name) {
  fail(what, " <", name, ">: ", std::strerror(errno), " (", errno, ")");
}

StoragePtr map_fd(int fd, size_t nbytes, std::string name, bool unlink) {
  auto* m = new Mapping{std::move(name), fd, unlink};
  void* p = nullptr;
  if (nbytes) {
    p = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
      unmap(m, nullptr, 0);
      fail_errno("unable to mmap shared memory", m->name);
    }
  }
  if (p) {
    std::lock_guard lock(mappings_mutex);
    mappings[p] = m;
  }
  auto s = make_intrusive<Storage>(p, nbytes, unmap_shared, m);
  s->shared_memory = true;
  return s;
}

Mapping* mapping_of(Storage& s) {
  std::lock_guard lock(mappings_mutex);
  auto it = mappings.find(s.data());
  return it == mappings.end() ? nullptr : it->second;
}

std::string fresh_name() {
  static std::mt19937_64 random{std::random_device{}()};
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  return "/torch_" + std::to_string(getpid()) + "_" + std::to_string(random() % 1000000007) + "_" +
         std::to_string(random() % 100000);
}

StoragePtr new_shared(size_t nbytes, bool keep_name) {
  std::string name = fresh_name();
  int fd = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) fail_errno("unable to open shared memory object", name);
  if (!keep_name) shm_unlink(name.c_str());
  if (nbytes && ftruncate(fd, off_t(nbytes)) < 0) {
    int saved = errno;
    close(fd);
    if (keep_name) shm_unlink(name.c_str());
    errno = saved;
    fail_errno("unable to resize shared memory object", name);
  }
  return map_fd(fd, nbytes, keep_name ? name : "", keep_name);
}

// Moves the bytes of `s` to shared memory, for all tensors that use it.
void move_to_shared(Storage& s, bool keep_name) {
  StoragePtr fresh = new_shared(s.nbytes(), keep_name);
  if (s.nbytes()) std::memcpy(fresh->data(), s.data(), s.nbytes());
  s.swap(*fresh);
  s.shared_memory = true;
}

int64_t size_argument(PyObject* args, Py_ssize_t i) {
  check_type(PyTuple_GET_SIZE(args) > i, "expected a size");
  int64_t n = to_int(PyTuple_GET_ITEM(args, i));
  check(n >= 0, "negative storage size: ", n);
  return n;
}

}  // namespace

StoragePtr storage_from_buffer(PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"buffer", "byte_order", "count", "offset", "dtype", nullptr};
  PyObject *object, *order = nullptr, *dtype = nullptr;
  Py_ssize_t count = -1, offset = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OnnO", const_cast<char**>(names), &object,
                                   &order, &count, &offset, &dtype))
    throw_python_error();
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) throw_python_error();
  struct Release {
    Py_buffer* v;
    ~Release() { PyBuffer_Release(v); }
  } release{&view};
  int64_t itemsize = dtype && dtype != Py_None ? rl::itemsize(to_dtype(dtype)) : 1;
  check_value(offset >= 0 && offset <= view.len, "offset must be non-negative and no greater than "
              "buffer length (", view.len, "), but got ", offset);
  int64_t n = count >= 0 ? count : (view.len - offset) / itemsize;
  check_value(count >= 0 || (view.len - offset) % itemsize == 0, "buffer size (", view.len,
              ") must be a multiple of element size (", itemsize, ")");
  check_value(offset + n * itemsize <= view.len, "buffer has only ", view.len - offset,
              " bytes after offset ", offset, ", but specified a count of ", n);
  auto s = make_intrusive<Storage>(size_t(n * itemsize));
  if (n) std::memcpy(s->data(), static_cast<char*>(view.buf) + offset, size_t(n * itemsize));
  bool swap = order && PyUnicode_Check(order) &&
              !PyUnicode_CompareWithASCIIString(order, "big") && itemsize > 1;
  auto* p = static_cast<char*>(s->data());
  for (int64_t i = 0; swap && i < n; ++i) std::reverse(p + i * itemsize, p + (i + 1) * itemsize);
  return s;
}

StoragePtr storage_from_file(PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"filename", "shared", "nbytes", nullptr};
  const char* filename;
  int shared = 0;
  Py_ssize_t nbytes = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|pn", const_cast<char**>(names), &filename,
                                   &shared, &nbytes))
    throw_python_error();
  check_value(nbytes >= 0, "negative storage size: ", int64_t(nbytes));
  return storage_of_file(filename, shared != 0, size_t(nbytes));
}

// torch.load's old format: eight bytes of length, then the elements.
StoragePtr storage_new_with_file(PyObject* args, PyObject*) {
  check_type(PyTuple_GET_SIZE(args) == 2, "_new_with_file takes exactly two arguments");
  int fd = PyObject_AsFileDescriptor(PyTuple_GET_ITEM(args, 0));
  if (fd < 0) throw_python_error();
  int64_t itemsize = to_int(PyTuple_GET_ITEM(args, 1)), n = 0;
  auto read_all = [&](void* to, size_t bytes) {
    auto* p = static_cast<char*>(to);
    while (bytes) {
      ssize_t got = read(fd, p, std::min<size_t>(bytes, size_t(1) << 30));
      check(got > 0, "unexpected EOF, expected ", bytes, " more bytes. The file might be "
            "corrupted.");
      p += got;
      bytes -= size_t(got);
    }
  };
  read_all(&n, 8);
  check(n >= 0, "corrupted storage header");
  auto s = make_intrusive<Storage>(size_t(n * itemsize));
  read_all(s->data(), size_t(n * itemsize));
  return s;
}

PyObject* storage_write_file(Storage& s, PyObject* args) {
  PyObject *file, *is_real_file, *save_size;
  Py_ssize_t itemsize = 1;
  if (!PyArg_ParseTuple(args, "OOO|n", &file, &is_real_file, &save_size, &itemsize))
    throw_python_error();
  auto write_bytes = [&](const void* p, size_t n) {
    Ref view = owned(PyMemoryView_FromMemory(static_cast<char*>(const_cast<void*>(p)),
                                             Py_ssize_t(n), PyBUF_READ));
    owned(PyObject_CallMethod(file, "write", "O", view.get()));
  };
  int64_t n = int64_t(s.nbytes()) / int64_t(itemsize);
  if (to_bool(save_size)) write_bytes(&n, 8);
  write_bytes(s.data(), s.nbytes());
  return none();
}

StoragePtr storage_new_using_fd(PyObject* args, PyObject*) {
  return new_shared(size_t(size_argument(args, 0)), false);
}
StoragePtr storage_new_using_filename(PyObject* args, PyObject*) {
  return new_shared(size_t(size_argument(args, 0)), true);
}

StoragePtr storage_new_shared_fd(PyObject* args, PyObject*) {
  check_type(PyTuple_GET_SIZE(args) == 2, "_new_shared_fd_cpu(fd, nbytes)");
  int fd = dup(int(to_int(PyTuple_GET_ITEM(args, 0))));
  if (fd < 0) fail_errno("could not duplicate a shared memory file descriptor", "fd");
  return map_fd(fd, size_t(size_argument(args, 1)), "", false);
}

StoragePtr storage_new_shared_filename(PyObject* args, PyObject*) {
  check_type(PyTuple_GET_SIZE(args) == 3, "_new_shared_filename_cpu(manager, name, nbytes)");
  PyObject* o = PyTuple_GET_ITEM(args, 1);
  std::string name = PyBytes_Check(o) ? PyBytes_AS_STRING(o) : std::string(to_str(o));
  int fd = shm_open(name.c_str(), O_RDWR, 0600);
  if (fd < 0) fail_errno("unable to open shared memory object", name);
  return map_fd(fd, size_t(size_argument(args, 2)), name, false);
}

PyObject* storage_share_fd(Storage& s) {
  Mapping* m = mapping_of(s);
  if (!m && (s.nbytes() || !s.shared_memory)) move_to_shared(s, false);
  m = mapping_of(s);
  int fd = m ? m->fd : -1;
  if (!m) {  // nothing is mapped for an empty storage
    fd = shm_open(fresh_name().c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) fail_errno("unable to open shared memory object", "empty storage");
  }
  return Py_BuildValue("(in)", fd, Py_ssize_t(s.nbytes()));
}

PyObject* storage_share_filename(Storage& s) {
  Mapping* m = mapping_of(s);
  if (!m || m->name.empty()) move_to_shared(s, true);
  m = mapping_of(s);
  std::string name = m ? m->name : "";
  return Py_BuildValue("(yyn)", "", name.c_str(), Py_ssize_t(s.nbytes()));
}

// ---- weak references by number. The core has no weak counts, so none is ever found alive: a
// receiver of a shared storage maps it again.
PyObject* storage_weak_ref(Storage* s) { return PyLong_FromVoidPtr(s); }
PyObject* storage_free_weak_ref(PyObject*) { return none(); }
StoragePtr storage_from_weak_ref(PyObject*) { return nullptr; }

}  // namespace rl::py
