// Owned references and checks for CPython calls inside the glue.
#pragma once
#include <Python.h>

#include <utility>

#include "python/binder.h"

namespace rl::py {

extern PyObject* linalg_error;         // torch.linalg.LinAlgError
extern PyObject* out_of_memory_error;  // torch.OutOfMemoryError

void install_warning_handler();        // warnings of the core become Python's

void install_front_lock();             // kernels give up the GIL while they work

// A UserWarning that is given once in a process; `said` remembers.
void warn_once(bool& said, const char* text);

class Ref {  // an owned reference
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : p_(owned) {}
  Ref(const Ref& o) : p_(o.p_) { Py_XINCREF(p_); }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() { Py_XDECREF(p_); }
  static Ref borrow(PyObject* p) {
    Py_XINCREF(p);
    return Ref(p);
  }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  PyObject* p_ = nullptr;
};

// Takes the new reference that a CPython call returned; null becomes a C++ exception.
inline Ref owned(PyObject* p) {
  if (!p) throw_python_error();
  return Ref(p);
}
inline void check_python(bool ok) {
  if (!ok) throw_python_error();
}
inline PyObject* new_ref(PyObject* o) {
  Py_INCREF(o);
  return o;
}
inline PyObject* none() { return new_ref(Py_None); }

}  // namespace rl::py
