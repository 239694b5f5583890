// Storages over files, shared memory and buffers of other objects.
#pragma once
#include <Python.h>

#include "core/storage.h"

namespace rl::py {

StoragePtr storage_from_buffer(PyObject* args, PyObject* kwargs);
StoragePtr storage_from_file(PyObject* args, PyObject* kwargs);       // filename, shared, nbytes
StoragePtr storage_new_with_file(PyObject* args, PyObject* kwargs);   // file object, element size
StoragePtr storage_new_using_fd(PyObject* args, PyObject* kwargs);        // nbytes
StoragePtr storage_new_using_filename(PyObject* args, PyObject* kwargs);  // nbytes
StoragePtr storage_new_shared_fd(PyObject* args, PyObject* kwargs);       // fd, nbytes
StoragePtr storage_new_shared_filename(PyObject* args, PyObject* kwargs); // manager, name, nbytes
PyObject* storage_share_fd(Storage& s);                               // (fd, nbytes)
PyObject* storage_share_filename(Storage& s);                         // (manager, name, nbytes)
PyObject* storage_write_file(Storage& s, PyObject* args);
PyObject* storage_weak_ref(Storage* s);
PyObject* storage_free_weak_ref(PyObject* p);
StoragePtr storage_from_weak_ref(PyObject* p);                        // null when it is gone

}  // namespace rl::py
