// torch.dtype, torch.layout, torch.memory_format: singletons that print as their names.
#include "python/errors.h"
#include "python/types.h"

#include <cstring>
#include <string>

namespace rl::py {
namespace {

constexpr int kAllDTypes = 46;  // with those that only have a name
DTypeObject dtypes[kAllDTypes];

// Types of PyTorch that no tensor of this package has; their names can be passed around.
struct NameOnly {
  int code;
  const char* name;
};
constexpr NameOnly kNameOnly[] = {
    {16, "quint4x2"}, {17, "quint2x4"}, {18, "bits1x8"}, {19, "bits2x4"}, {20, "bits4x2"},
    {21, "bits8"}, {22, "bits16"}, {30, "uint1"}, {31, "uint2"}, {32, "uint3"}, {33, "uint4"},
    {34, "uint5"}, {35, "uint6"}, {36, "uint7"}, {37, "int1"}, {38, "int2"}, {39, "int3"},
    {40, "int4"}, {41, "int5"}, {42, "int6"}, {43, "int7"},
    {45, "float4_e2m1fn_x2"}};

const char* name_of(DType d) {
  for (auto& n : kNameOnly)
    if (n.code == int(d)) return n.name;
  return dtype_name(d);
}
constexpr int kLayouts = 8;
LayoutObject layouts[kLayouts];
constexpr int kFormats = 4;
MemoryFormatObject formats[kFormats];
constexpr const char* kFormatNames[kFormats] = {"contiguous_format", "preserve_format",
                                                "channels_last", "channels_last_3d"};
constexpr const char* kLayoutNames[kLayouts] = {"strided",    "sparse_coo", "sparse_csr",
                                                "_mkldnn",    "sparse_csc", "sparse_bsr",
                                                "sparse_bsc", "jagged"};

PyObject* dtype_repr(PyObject* o) {
  return PyUnicode_FromFormat("torch.%s", name_of(dtype_of_object(o)));
}
PyObject* dtype_reduce(PyObject* o, PyObject*) {
  return PyUnicode_FromString(name_of(dtype_of_object(o)));
}
template <bool (*F)(DType)>
PyObject* dtype_flag(PyObject* o, void*) {
  return PyBool_FromLong(F(dtype_of_object(o)));
}
bool floating(DType d) { return is_floating(d) || int(d) > 44; }
bool complex_type(DType d) { return is_complex(d); }
bool is_signed(DType d) {
  return !is_unsigned_int(d) && d != DType::Bool && d != DType::QUInt8 &&
         d != DType::Float8_e8m0fnu && !(int(d) >= 30 && int(d) <= 36);
}
PyObject* dtype_itemsize(PyObject* o, void*) {
  DType d = dtype_of_object(o);
  return PyLong_FromLongLong(itemsize(d) ? itemsize(d) : d == DType(22) ? 2 : 1);
}
PyObject* torch_module_name(PyObject*, void*) { return PyUnicode_FromString("torch"); }
PyObject* dtype_to_complex(PyObject* o, PyObject*) {
  return guarded([&] { return wrap(to_complex(dtype_of_object(o))); });
}
PyObject* dtype_to_real(PyObject* o, PyObject*) {
  return guarded([&] { return wrap(to_real(dtype_of_object(o))); });
}

PyGetSetDef dtype_properties[] = {
    {"is_floating_point", dtype_flag<floating>, nullptr, nullptr, nullptr},
    {"is_complex", dtype_flag<complex_type>, nullptr, nullptr, nullptr},
    {"is_signed", dtype_flag<is_signed>, nullptr, nullptr, nullptr},
    {"itemsize", dtype_itemsize, nullptr, nullptr, nullptr},
    {"__module__", torch_module_name, nullptr, nullptr, nullptr},
    {}};
PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
                               {"to_complex", dtype_to_complex, METH_NOARGS, nullptr},
                               {"to_real", dtype_to_real, METH_NOARGS, nullptr},
                               {}};

PyObject* layout_repr(PyObject* o) {
  return PyUnicode_FromFormat("torch.%s",
                              kLayoutNames[int(reinterpret_cast<LayoutObject*>(o)->value)]);
}
PyObject* layout_reduce(PyObject* o, PyObject*) {
  PyObject* module = PyImport_ImportModule("torch.serialization");
  if (!module) return nullptr;
  PyObject* function = PyObject_GetAttrString(module, "_get_layout");
  Py_DECREF(module);
  return function ? Py_BuildValue("(N(N))", function, layout_repr(o)) : nullptr;
}
PyMethodDef layout_methods[] = {{"__reduce__", layout_reduce, METH_NOARGS, nullptr}, {}};

PyObject* format_repr(PyObject* o) {
  return PyUnicode_FromFormat(
      "torch.%s", kFormatNames[int(reinterpret_cast<MemoryFormatObject*>(o)->value)]);
}
PyObject* format_reduce(PyObject* o, PyObject*) {
  return PyUnicode_FromString(
      kFormatNames[int(reinterpret_cast<MemoryFormatObject*>(o)->value)]);
}
PyMethodDef format_methods[] = {{"__reduce__", format_reduce, METH_NOARGS, nullptr}, {}};
PyGetSetDef module_property[] = {{"__module__", torch_module_name, nullptr, nullptr, nullptr}, {}};

void describe(PyTypeObject& t, const char* name, size_t size, reprfunc repr, PyMethodDef* methods,
              PyGetSetDef* properties) {
  t.tp_name = name;
  t.tp_basicsize = Py_ssize_t(size);
  t.tp_flags = Py_TPFLAGS_DEFAULT;
  t.tp_repr = repr;
  t.tp_methods = methods;
  t.tp_getset = properties;
}

// Other names under which a dtype stands in the torch namespace.
struct DTypeAlias {
  const char* name;
  DType d;
};
constexpr DTypeAlias kAliases[] = {
    {"float", DType::Float}, {"double", DType::Double}, {"half", DType::Half},
    {"short", DType::Int16}, {"int", DType::Int32}, {"long", DType::Int64},
    {"cfloat", DType::ComplexFloat}, {"cdouble", DType::ComplexDouble},
    {"chalf", DType::ComplexHalf}};

// Into torch._C and, for the torch namespace to take all at once, into torch._C._constants.
PyObject* constants = nullptr;
bool put(PyObject* module, const char* name, void* o) {
  auto* object = static_cast<PyObject*>(o);
  return PyModule_AddObjectRef(module, name, object) == 0 &&
         PyModule_AddObjectRef(constants, name, object) == 0;
}

}  // namespace

PyTypeObject dtype_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject layout_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject memory_format_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* wrap(DType d) { return new_ref(reinterpret_cast<PyObject*>(&dtypes[int(d)])); }
PyObject* wrap(Layout v) { return new_ref(reinterpret_cast<PyObject*>(&layouts[int(v)])); }
PyObject* wrap(MemoryFormat v) { return new_ref(reinterpret_cast<PyObject*>(&formats[int(v)])); }

DType dtype_of_python_type(PyObject* o) {
  if (!PyType_Check(o)) return DType::Undefined;
  auto* t = reinterpret_cast<PyTypeObject*>(o);
  if (t == &PyFloat_Type) return DType::Double;
  if (t == &PyBool_Type) return DType::Bool;
  if (t == &PyLong_Type) return DType::Int64;
  if (t == &PyComplex_Type) return DType::ComplexDouble;
  return DType::Undefined;
}

const char* dtype_object_name(DType d) { return name_of(d); }

bool is_name_only(DType d) {
  for (auto& n : kNameOnly)
    if (n.code == int(d)) return true;
  return false;
}

bool add_dtype_types(PyObject* module) {
  describe(dtype_type, "torch.dtype", sizeof(DTypeObject), dtype_repr, dtype_methods,
           dtype_properties);
  describe(layout_type, "torch.layout", sizeof(LayoutObject), layout_repr, layout_methods,
           module_property);
  describe(memory_format_type, "torch.memory_format", sizeof(MemoryFormatObject), format_repr,
           format_methods, module_property);
  if (PyModule_AddType(module, &dtype_type) < 0 || PyModule_AddType(module, &layout_type) < 0 ||
      PyModule_AddType(module, &memory_format_type) < 0)
    return false;
  constants = PyModule_New("torch._C._constants");
  if (!constants || PyModule_AddObjectRef(module, "_constants", constants) < 0) return false;
  for (int i = 0; i < kAllDTypes; ++i) {
    PyObject_Init(reinterpret_cast<PyObject*>(&dtypes[i]), &dtype_type);
    dtypes[i].value = DType(i);
    const char* name = name_of(DType(i));
    if (std::strcmp(name, "undefined") && !put(module, name, &dtypes[i])) return false;
  }
  for (auto& a : kAliases)
    if (!put(module, a.name, &dtypes[int(a.d)])) return false;
  for (int i = 0; i < kLayouts; ++i) {
    PyObject_Init(reinterpret_cast<PyObject*>(&layouts[i]), &layout_type);
    layouts[i].value = Layout(i);
    if (!put(module, kLayoutNames[i], &layouts[i])) return false;
  }
  for (int i = 0; i < kFormats; ++i) {
    PyObject_Init(reinterpret_cast<PyObject*>(&formats[i]), &memory_format_type);
    formats[i].value = MemoryFormat(i);
    if (!put(module, kFormatNames[i], &formats[i])) return false;
  }
  return true;
}

}  // namespace rl::py
