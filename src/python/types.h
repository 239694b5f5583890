// The small Python types beside Tensor: dtype, device, layout, memory_format, Size, Generator and
// the storage base type. Each wraps one value of the core.
#pragma once
#include <Python.h>

#include "core/generator.h"
#include "core/tensor.h"
#include "python/binder.h"

namespace rl::py {

struct DTypeObject {
  PyObject_HEAD
  DType value;
};
struct DeviceObject {
  PyObject_HEAD
  Device value;
};
struct LayoutObject {
  PyObject_HEAD
  Layout value;
};
struct MemoryFormatObject {
  PyObject_HEAD
  MemoryFormat value;
};
struct GeneratorObject {
  PyObject_HEAD
  Generator* value;
  PyObject* weakrefs;
};
struct StorageObject {
  PyObject_HEAD
  Storage* value;
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject dtype_type, device_type, layout_type, memory_format_type, size_type,
    generator_type, storage_base_type;
extern PyTypeObject* storage_type;  // torch.UntypedStorage once the package made it

inline bool is_dtype(PyObject* o) { return Py_TYPE(o) == &dtype_type; }
inline bool is_device(PyObject* o) { return Py_TYPE(o) == &device_type; }
inline bool is_layout(PyObject* o) { return Py_TYPE(o) == &layout_type; }
inline bool is_memory_format(PyObject* o) { return Py_TYPE(o) == &memory_format_type; }
inline bool is_generator(PyObject* o) { return PyObject_TypeCheck(o, &generator_type); }
inline bool is_storage(PyObject* o) { return PyObject_TypeCheck(o, &storage_base_type); }
inline DType dtype_of_object(PyObject* o) { return reinterpret_cast<DTypeObject*>(o)->value; }
bool is_name_only(DType d);  // a dtype that no tensor has
const char* dtype_object_name(DType d);
inline Storage* storage_of(PyObject* o) { return reinterpret_cast<StorageObject*>(o)->value; }

PyObject* wrap(Layout v);
PyObject* wrap(MemoryFormat v);
PyObject* wrap(Generator* g);                  // None for null
PyObject* wrap_storage(const StoragePtr& s);   // the same object while one is alive
// A Python number type used as dtype=: float, int, bool, complex; Undefined for others.
DType dtype_of_python_type(PyObject* o);

PyTypeObject* return_type_of(const ReturnType& rt);  // of a named tuple; made at first use

// Each adds its types and constants to torch._C; false with an error set.
bool add_dtype_types(PyObject* module);
bool add_device_types(PyObject* module);
bool add_size_type(PyObject* module);
bool add_generator_type(PyObject* module);
bool add_storage_type(PyObject* module);
bool add_tensor_type(PyObject* module);
bool add_override_functions(PyObject* module);
bool add_construct_functions(PyObject* module);
bool add_registry_functions(PyObject* module);
bool add_mode_functions(PyObject* module);
bool add_return_types(PyObject* module);
bool add_serialize_functions(PyObject* module);
bool add_nn_module_functions(PyObject* module);

}  // namespace rl::py
