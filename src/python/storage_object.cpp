// torch._C.StorageBase: bytes with an owner. torch.UntypedStorage derives from it
// (torch/_untyped_storage.py).
#include <cstring>

#include "python/accepts.h"
#include "python/errors.h"
#include "python/storage_memory.h"
#include "python/types.h"

namespace rl::py {

PyTypeObject* storage_type = nullptr;
PyTypeObject storage_base_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

StorageObject* cast(PyObject* o) { return reinterpret_cast<StorageObject*>(o); }
Storage& value(PyObject* o) { return *cast(o)->value; }
uint8_t* bytes(PyObject* o) { return static_cast<uint8_t*>(value(o).data()); }

PyObject* attach(PyTypeObject* type, StoragePtr s) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) throw_python_error();
  s->python = o;
  cast(o)->value = s.detach();
  return o;
}

void storage_dealloc(PyObject* o) {
  StorageObject* s = cast(o);
  if (s->weakrefs) PyObject_ClearWeakRefs(o);
  Py_CLEAR(s->dict);
  if (s->value) {
    s->value->python = nullptr;
    s->value->release();
  }
  Py_TYPE(o)->tp_free(o);  // of a subclass, its own deallocator drops the type
}

StoragePtr bytes_of_sequence(PyObject* sequence) {
  Ref seq(PySequence_Fast(sequence, "Expected a sequence type"));
  if (!seq) throw_python_error();
  Py_ssize_t n = PySequence_Fast_GET_SIZE(seq.get());
  auto s = make_intrusive<Storage>(size_t(n));
  for (Py_ssize_t i = 0; i < n; ++i)
    static_cast<uint8_t*>(s->data())[i] = uint8_t(to_int(PySequence_Fast_GET_ITEM(seq.get(), i)));
  return s;
}

PyObject* storage_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Device device;
    PyObject* d = kwargs ? PyDict_GetItemString(kwargs, "device") : nullptr;
    if (d && d != Py_None) device = to_device(d);
    PyObject* arg = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : nullptr;
    check_type(PyTuple_GET_SIZE(args) <= 1, type->tp_name,
               "() takes at most one positional argument");
    if (!arg) return attach(type, make_intrusive<Storage>(size_t(0), device));
    if (is_int_like(arg)) {
      int64_t n = to_int(arg);
      check(n >= 0, "Trying to create a storage of negative size ", n);
      return attach(type, make_intrusive<Storage>(size_t(n), device));
    }
    return attach(type, bytes_of_sequence(arg));
  });
}

Py_ssize_t storage_length(PyObject* o) { return Py_ssize_t(value(o).nbytes()); }

Py_ssize_t position(PyObject* o, PyObject* index) {
  int64_t i = to_int(index), n = storage_length(o);
  check_index(i >= -n && i < n, "index ", i, " out of range for storage of size ", n);
  return i < 0 ? i + n : i;
}

// A slice shares memory with what it was cut from.
PyObject* sub_storage(PyObject* o, Py_ssize_t start, Py_ssize_t length) {
  auto* keep = new StoragePtr(cast(o)->value);
  auto drop = [](void* ctx, void*, size_t) { delete static_cast<StoragePtr*>(ctx); };
  auto s = make_intrusive<Storage>(bytes(o) + start, size_t(length), drop, keep);
  return attach(Py_TYPE(o), s);
}

PyObject* storage_get(PyObject* o, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (!PySlice_Check(index)) return PyLong_FromLong(bytes(o)[position(o, index)]);
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(index, &start, &stop, &step) < 0) throw_python_error();
    Py_ssize_t n = PySlice_AdjustIndices(storage_length(o), &start, &stop, step);
    check_value(step == 1, "Trying to slice with a step of ", step,
                ", but only a step of 1 is supported");
    return sub_storage(o, start, n);
  });
}

int storage_set(PyObject* o, PyObject* index, PyObject* v) {
  try {
    check_type(v, "cannot delete elements of a storage");
    uint8_t byte = uint8_t(to_int(v));
    if (!PySlice_Check(index)) {
      bytes(o)[position(o, index)] = byte;
      return 0;
    }
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(index, &start, &stop, &step) < 0) throw_python_error();
    Py_ssize_t n = PySlice_AdjustIndices(storage_length(o), &start, &stop, step);
    check_value(step == 1, "Trying to slice with a step of ", step,
                ", but only a step of 1 is supported");
    std::memset(bytes(o) + start, byte, size_t(n));
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

PyObject* nbytes(PyObject* o, PyObject*) { return PyLong_FromSize_t(value(o).nbytes()); }
PyObject* element_size(PyObject*, PyObject*) { return PyLong_FromLong(1); }
PyObject* data_ptr(PyObject* o, PyObject*) { return PyLong_FromVoidPtr(value(o).data()); }
PyObject* resizable(PyObject* o, PyObject*) { return wrap(value(o).resizable()); }
PyObject* resize(PyObject* o, PyObject* n) {
  return guarded([&]() -> PyObject* {
    int64_t size = to_int(n);
    check(size >= 0, "negative storage size: ", size);
    check(value(o).resizable(), "Trying to resize storage that is not resizable");
    value(o).resize(size_t(size));
    return new_ref(o);
  });
}

PyObject* copy_from(PyObject* o, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"source", "non_blocking", nullptr};
  PyObject *source, *ignored = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(names), &source,
                                   &ignored))
    return nullptr;
  return guarded([&]() -> PyObject* {
    check_type(is_storage(source), "expected a storage, but got ", Py_TYPE(source)->tp_name);
    check(value(source).nbytes() == value(o).nbytes(),
          "size does not match, self was ", value(o).nbytes(), " bytes but src was ",
          value(source).nbytes(), " bytes");
    if (value(o).nbytes()) std::memmove(bytes(o), bytes(source), value(o).nbytes());
    return new_ref(o);
  });
}

PyObject* fill(PyObject* o, PyObject* v) {
  return guarded([&]() -> PyObject* {
    check_type(is_int_like(v), "fill_ expects int, but got ", Py_TYPE(v)->tp_name);
    if (value(o).nbytes()) std::memset(bytes(o), uint8_t(to_int(v)), value(o).nbytes());
    return new_ref(o);
  });
}

PyObject* make_new(PyObject* o, PyObject*) {
  return guarded([&] { return attach(Py_TYPE(o), make_intrusive<Storage>(size_t(0))); });
}

PyObject* get_device(PyObject* o, void*) { return wrap(value(o).device()); }
PyObject* get_cdata(PyObject* o, void*) { return PyLong_FromVoidPtr(cast(o)->value); }
PyObject* is_shared(PyObject* o, PyObject*) { return wrap(value(o).shared_memory); }

// ---- memory that other processes see (storage_memory.cpp)
template <StoragePtr (*F)(PyObject* args, PyObject* kwargs)>
PyObject* make_static(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&] { return attach(storage_type, F(args, kwargs)); });
}
PyCFunction keywords(PyCFunctionWithKeywords f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}
PyObject* share_fd(PyObject* o, PyObject*) {
  return guarded([&] { return storage_share_fd(value(o)); });
}
PyObject* share_filename(PyObject* o, PyObject*) {
  return guarded([&] { return storage_share_filename(value(o)); });
}
PyObject* write_file(PyObject* o, PyObject* args) {
  return guarded([&] { return storage_write_file(value(o), args); });
}
// Weak references by address: multiprocessing's cache of shared storages.
PyObject* weak_ref(PyObject* o, PyObject*) {
  return guarded([&] { return storage_weak_ref(cast(o)->value); });
}
PyObject* free_weak_ref(PyObject*, PyObject* p) {
  return guarded([&] { return storage_free_weak_ref(p); });
}
PyObject* expired(PyObject*, PyObject* p) {
  return guarded([&] { return wrap(!storage_from_weak_ref(p)); });
}
PyObject* new_with_weak_ptr(PyObject*, PyObject* p) {
  return guarded([&]() -> PyObject* {
    StoragePtr s = storage_from_weak_ref(p);
    return s ? wrap_storage(s) : none();
  });
}
PyObject* shared_incref(PyObject*, PyObject*) { return none(); }

const auto kStaticKeywords = METH_VARARGS | METH_KEYWORDS | METH_STATIC;
PyMethodDef methods[] = {
    {"nbytes", nbytes, METH_NOARGS, nullptr},
    {"size", nbytes, METH_NOARGS, nullptr},
    {"element_size", element_size, METH_NOARGS, nullptr},
    {"data_ptr", data_ptr, METH_NOARGS, nullptr},
    {"resizable", resizable, METH_NOARGS, nullptr},
    {"resize_", resize, METH_O, nullptr},
    {"copy_", keywords(copy_from), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"fill_", fill, METH_O, nullptr},
    {"new", make_new, METH_NOARGS, nullptr},
    {"is_shared", is_shared, METH_NOARGS, nullptr},
    {"from_buffer", keywords(make_static<storage_from_buffer>), kStaticKeywords, nullptr},
    {"from_file", keywords(make_static<storage_from_file>), kStaticKeywords, nullptr},
    {"_new_with_file", keywords(make_static<storage_new_with_file>), kStaticKeywords, nullptr},
    {"_new_using_fd_cpu", keywords(make_static<storage_new_using_fd>), kStaticKeywords, nullptr},
    {"_new_using_filename_cpu", keywords(make_static<storage_new_using_filename>),
     kStaticKeywords, nullptr},
    {"_new_shared_fd_cpu", keywords(make_static<storage_new_shared_fd>), kStaticKeywords, nullptr},
    {"_new_shared_filename_cpu", keywords(make_static<storage_new_shared_filename>),
     kStaticKeywords, nullptr},
    {"_share_fd_cpu_", share_fd, METH_VARARGS, nullptr},
    {"_share_filename_cpu_", share_filename, METH_VARARGS, nullptr},
    {"_write_file", write_file, METH_VARARGS, nullptr},
    {"_weak_ref", weak_ref, METH_NOARGS, nullptr},
    {"_free_weak_ref", free_weak_ref, METH_O | METH_STATIC, nullptr},
    {"_expired", expired, METH_O | METH_STATIC, nullptr},
    {"_new_with_weak_ptr", new_with_weak_ptr, METH_O | METH_STATIC, nullptr},
    {"_shared_incref", shared_incref, METH_VARARGS, nullptr},
    {"_shared_decref", shared_incref, METH_VARARGS, nullptr},
    {}};
PyGetSetDef properties[] = {
    {"device", get_device, nullptr, nullptr, nullptr},
    {"_cdata", get_cdata, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {}};
PyMappingMethods mapping = {storage_length, storage_get, storage_set};

PyObject* set_storage_class(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls)) {
    PyErr_SetString(PyExc_TypeError, "expected a class");
    return nullptr;
  }
  storage_type = reinterpret_cast<PyTypeObject*>(new_ref(cls));
  return none();
}
PyMethodDef functions[] = {{"_set_storage_class", set_storage_class, METH_O, nullptr}, {}};

}  // namespace

PyObject* wrap_storage(const StoragePtr& s) {
  if (s->python) return new_ref(static_cast<PyObject*>(s->python));
  if (!storage_type) owned(PyImport_ImportModule("torch._untyped_storage"));
  check(storage_type, "torch._untyped_storage defined no storage class");
  return attach(storage_type, s);
}

bool add_storage_type(PyObject* module) {
  PyTypeObject& t = storage_base_type;
  t.tp_name = "torch._C.StorageBase";
  t.tp_basicsize = sizeof(StorageObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  t.tp_new = storage_new;
  t.tp_dealloc = storage_dealloc;
  t.tp_dictoffset = offsetof(StorageObject, dict);
  t.tp_weaklistoffset = offsetof(StorageObject, weakrefs);
  t.tp_as_mapping = &mapping;
  t.tp_methods = methods;
  t.tp_getset = properties;
  return PyModule_AddType(module, &t) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace rl::py
