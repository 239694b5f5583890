// C++ exceptions to Python exceptions, and Python errors carried through C++.
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <variant>

#include "base/long_work.h"
#include "base/warn.h"
#include "python/binder.h"
#include "python/errors.h"

namespace rl::py {

PyObject* linalg_error = nullptr;
PyObject* out_of_memory_error = nullptr;

namespace {

// A Python error that waits in a C++ exception: the interpreter's error indicator is clear while
// destructors run.
struct PythonError : Error {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PythonError() : Error(ErrorKind::External, "a Python error") {
    PyErr_Fetch(&type, &value, &traceback);
  }
  PythonError(const PythonError& o)
      : Error(o), type(o.type), value(o.value), traceback(o.traceback) {
    Py_XINCREF(type);
    Py_XINCREF(value);
    Py_XINCREF(traceback);
  }
  ~PythonError() override {
    if (!type && !value && !traceback) return;
    GilAcquire gil;
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  }
  void restore() {
    PyErr_Restore(type, value, traceback);
    type = value = traceback = nullptr;
  }
};

PyObject* exception_class(ErrorKind k) {
  switch (k) {
    case ErrorKind::Index: return PyExc_IndexError;
    case ErrorKind::Type: return PyExc_TypeError;
    case ErrorKind::Value: return PyExc_ValueError;
    case ErrorKind::NotImplemented: return PyExc_NotImplementedError;
    case ErrorKind::Overflow: return PyExc_OverflowError;
    case ErrorKind::Assertion: return PyExc_AssertionError;
    case ErrorKind::Linalg: return linalg_error ? linalg_error : PyExc_RuntimeError;
    default: return PyExc_RuntimeError;  // OutOfMemory on a CPU is a RuntimeError too
  }
}

constexpr char kNoMemory[] = "not enough memory: the lists that these arguments need do not fit";

}  // namespace

void set_python_error() {
  try {
    throw;
  } catch (const PythonError& e) {
    PythonError(e).restore();
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::External && PyErr_Occurred()) return;
    PyErr_SetString(exception_class(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_RuntimeError, kNoMemory);
  } catch (const std::length_error&) {  // a std::vector beyond all memory
    PyErr_SetString(PyExc_RuntimeError, kNoMemory);
  } catch (const std::bad_variant_access&) {
    PyErr_SetString(PyExc_TypeError, "an argument has a type that the operator does not take");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

namespace {

void python_warning(WarningKind kind, const std::string& message) {
  if (!Py_IsInitialized()) return;
  GilAcquire gil;
  PyObject* category = kind == WarningKind::Deprecation ? PyExc_DeprecationWarning
                       : kind == WarningKind::Future    ? PyExc_FutureWarning
                                                        : PyExc_UserWarning;
  // With a filter that turns warnings into errors, the warning is one.
  if (PyErr_WarnEx(category, message.c_str(), 1) < 0) throw_python_error();
}

}  // namespace

void warn_once(bool& said, const char* text) {
  if (said) return;
  said = true;
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) < 0) throw_python_error();
}

void install_warning_handler() { set_warning_handler(python_warning); }

// A daemon thread that returns to an interpreter which is shutting down would be ended by an
// exception that no C++ frame may see: it sleeps instead.
void retake_gil(PyThreadState* state) {
#if PY_VERSION_HEX >= 0x030d0000
  while (Py_IsFinalizing()) pause();
#else
  while (_Py_IsFinalizing()) pause();
#endif
  PyEval_RestoreThread(state);
}

void install_front_lock() {
  front_lock = {[]() -> void* { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; },
                [](void* state) { retake_gil(static_cast<PyThreadState*>(state)); }};
}

void throw_python_error() {
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "error without an exception set");
  throw PythonError();
}

}  // namespace rl::py
