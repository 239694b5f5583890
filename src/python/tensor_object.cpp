// The types torch._C._TensorMeta, torch._C.TensorBase and torch.Tensor: life time, identity and
// garbage collection. Properties, methods, operators and indexing are in files of their own.
#include "python/tensor_object.h"

#include "python/errors.h"
#include "python/generated.h"
#include "python/overrides.h"
#include "python/types.h"

namespace rl::py {

PyTypeObject* tensor_type = nullptr;
PyTypeObject tensor_base_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject tensor_meta_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
int (*traverse_autograd)(TensorImpl*, visitproc, void*) = nullptr;
void (*clear_autograd)(TensorImpl*) = nullptr;
PyObject* (*wrap_grad_fn)(const Tensor& t) = nullptr;

namespace {

TensorObject* cast(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }

// Exact torch.Tensor objects are recycled; a recycled one keeps its reference to the type.
struct FreeList {
  static constexpr int kMax = 256;
  PyObject* items[kMax];
  int n = 0;
};
FreeList free_list;

PyObject* allocate_plain() {
  if (free_list.n) {
    PyObject* o = free_list.items[--free_list.n];
    _Py_NewReference(o);
    return o;
  }
  auto* o = PyObject_GC_New(TensorObject, tensor_type);
  return reinterpret_cast<PyObject*>(o);
}

void attach(PyObject* o, Tensor&& t) {
  TensorObject* self = cast(o);
  t->python = o;
  new (&self->tensor) Tensor(std::move(t));
  self->dict = nullptr;
  self->weakrefs = nullptr;
  self->owned_by_impl = false;
}

PyObject* wrap_new(Tensor&& t) {
  PyObject* o = allocate_plain();
  if (!o) throw_python_error();
  attach(o, std::move(t));
  PyObject_GC_Track(o);
  return o;
}

// The existing object of a tensor, as a new reference. When the impl owned it, that reference
// passes to the caller and the object owns the impl again.
PyObject* wrap_existing(TensorImpl* impl) {
  auto* o = static_cast<PyObject*>(impl->python);
  TensorObject* self = cast(o);
  if (self->owned_by_impl) {
    self->owned_by_impl = false;
    impl->retain();
    return o;
  }
  return new_ref(o);
}

// State that would be lost if the object died while C++ keeps the tensor.
bool worth_keeping(TensorObject* o) {
  return Py_TYPE(o) != tensor_type || o->weakrefs || (o->dict && PyDict_GET_SIZE(o->dict));
}

bool revive(PyObject* self) {
  TensorObject* o = cast(self);
  TensorImpl* impl = o->tensor.impl();
  if (!impl || impl->use_count() <= 1 || !worth_keeping(o)) return false;
  Py_SET_REFCNT(self, 1);
  o->owned_by_impl = true;
  impl->release();
  return true;
}

// Runs when C++ lets go of a tensor whose impl owns its object.
bool last_release(TensorImpl* impl) {
#if PY_VERSION_HEX >= 0x030d0000
  if (!Py_IsInitialized() || Py_IsFinalizing()) return false;
#else
  if (!Py_IsInitialized() || _Py_IsFinalizing()) return false;
#endif
  GilAcquire gil;
  auto* o = static_cast<PyObject*>(impl->python);
  if (!o || !cast(o)->owned_by_impl) return false;
  if (impl->use_count() == 0) impl->retain();
  cast(o)->owned_by_impl = false;
  Py_DECREF(o);
  return true;
}

void drop_tensor(TensorObject* o) {
  if (o->tensor.defined()) o->tensor->python = nullptr;
  o->tensor.~Tensor();
}

void dealloc(PyObject* self) {
  if (revive(self)) return;
  TensorObject* o = cast(self);
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_finalize) {
    if (PyObject_CallFinalizerFromDealloc(self) < 0) return;
  }
  PyObject_GC_UnTrack(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(o->dict);
  drop_tensor(o);
  if (type == tensor_type && free_list.n < FreeList::kMax) {
    free_list.items[free_list.n++] = self;
    return;
  }
  type->tp_free(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  TensorObject* o = cast(self);
  Py_VISIT(o->dict);
  TensorImpl* impl = o->tensor.impl();
  if (traverse_autograd && impl && impl->autograd && !o->owned_by_impl && impl->use_count() == 1)
    return traverse_autograd(impl, visit, arg);
  return 0;
}

int clear(PyObject* self) {
  TensorObject* o = cast(self);
  Py_CLEAR(o->dict);
  TensorImpl* impl = o->tensor.impl();
  if (clear_autograd && impl && impl->autograd && !o->owned_by_impl && impl->use_count() == 1)
    clear_autograd(impl);
  return 0;
}

// Subclasses made in Python get subtype_dealloc, which clears attributes before the base sees the
// object; tensors must be able to come back, so the metaclass puts our own there.
int meta_init(PyObject* cls, PyObject* args, PyObject* kwargs) {
  if (PyType_Type.tp_init(cls, args, kwargs) < 0) return -1;
  reinterpret_cast<PyTypeObject*>(cls)->tp_dealloc = dealloc;
  return 0;
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (type == &tensor_base_type) {
    PyErr_SetString(PyExc_TypeError, "Cannot instantiate torch._C.TensorBase; use torch.Tensor");
    return nullptr;
  }
  return guarded([&] { return legacy_tensor_new(type, args, kwargs); });
}

int tensor_init(PyObject*, PyObject*, PyObject*) { return 0; }

// id(x), as programs that use ids as keys expect
Py_hash_t tensor_hash(PyObject* o) { return reinterpret_cast<Py_hash_t>(o); }

PyGetSetDef* all_properties() { return tensor_properties; }

bool ready_base() {
  PyTypeObject& t = tensor_base_type;
  t.tp_name = "torch._C.TensorBase";
  t.tp_basicsize = sizeof(TensorObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  t.tp_new = tensor_new;
  t.tp_init = tensor_init;
  t.tp_dealloc = dealloc;
  t.tp_traverse = traverse;
  t.tp_clear = clear;
  t.tp_hash = tensor_hash;
  t.tp_richcompare = tensor_richcompare;
  t.tp_dictoffset = offsetof(TensorObject, dict);
  t.tp_weaklistoffset = offsetof(TensorObject, weakrefs);
  t.tp_as_number = &tensor_number;
  t.tp_as_mapping = &tensor_mapping;
  t.tp_as_sequence = &tensor_sequence;
  t.tp_methods = tensor_methods;
  t.tp_getset = all_properties();
  Py_SET_TYPE(&t, &tensor_meta_type);
  return PyType_Ready(&t) == 0;
}

// The generated methods join those written by hand, which win where both define a name.
bool add_generated_methods() {
  PyObject* dict = tensor_base_type.tp_dict;
  for (PyMethodDef* const* list = generated_tensor_methods; *list; ++list)
    for (PyMethodDef* m = *list; m->ml_name; ++m) {
      if (PyDict_GetItemString(dict, m->ml_name)) continue;
      Ref d(PyDescr_NewMethod(&tensor_base_type, m));
      if (!d || PyDict_SetItemString(dict, m->ml_name, d.get()) < 0) return false;
    }
  PyType_Modified(&tensor_base_type);
  return true;
}

bool make_tensor_class() {
  Ref r(PyObject_CallFunction(reinterpret_cast<PyObject*>(&tensor_meta_type), "s(O){ss}",
                              "Tensor", &tensor_base_type, "__module__", "torch"));
  if (!r) return false;
  tensor_type = reinterpret_cast<PyTypeObject*>(r.release());
  return true;
}

}  // namespace

PyObject* wrap(Tensor&& t) {
  if (!t.defined()) return none();
  if (t->python) return wrap_existing(t.impl());
  return wrap_new(std::move(t));
}

PyObject* wrap(const Tensor& t) {
  if (!t.defined()) return none();
  if (t->python) return wrap_existing(t.impl());
  return wrap_new(Tensor(t));
}

PyObject* wrap_as(PyTypeObject* type, Tensor t) {
  if (type == tensor_type) return wrap(std::move(t));
  check(!t->python, "Creating a new Tensor subclass ", type->tp_name,
        " but the raw Tensor object is already associated to a python object of type ",
        t->python ? Py_TYPE(object_of(t))->tp_name : "");
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) throw_python_error();
  t->python_subclass = true;
  t->dispatches |= class_dispatches(type);
  if (t->dispatches) [[unlikely]] {
    wrappers_about();
  }
  attach(o, std::move(t));
  return o;
}

namespace {

// _swap_tensor_impl(a, b): the objects exchange their tensors; classes and attributes are swapped
// by torch.utils.swap_tensors.
PyObject* py_swap(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded([&]() -> PyObject* {
    check_type(is_tensor(a) && is_tensor(b), "expected two tensors");
    check(!cast(a)->owned_by_impl && !cast(b)->owned_by_impl, "cannot swap tensors in use");
    check(tensor_of(a).use_count() == 1 && tensor_of(b).use_count() == 1,
          "Expected single reference to a tensor that is to be swapped");
    std::swap(cast(a)->tensor, cast(b)->tensor);
    tensor_of(a)->python = a;
    tensor_of(b)->python = b;
    return none();
  });
}

PyMethodDef functions[] = {{"_swap_tensor_impl", py_swap, METH_VARARGS, nullptr}, {}};

}  // namespace

bool add_tensor_type(PyObject* module) {
  PyTypeObject& meta = tensor_meta_type;
  meta.tp_name = "torch._C._TensorMeta";
  meta.tp_basicsize = PyType_Type.tp_basicsize;
  meta.tp_itemsize = PyType_Type.tp_itemsize;
  meta.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  meta.tp_base = &PyType_Type;
  meta.tp_init = meta_init;
  if (PyType_Ready(&meta) < 0) return false;
  bind_number_slots();
  if (!ready_base() || !add_generated_methods() || !make_tensor_class()) return false;
  python_last_release = last_release;
  if (PyModule_AddFunctions(module, functions) < 0) return false;
  auto put = [&](const char* name, PyTypeObject* t) {
    return PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(t)) == 0;
  };
  return put("_TensorMeta", &meta) && put("TensorBase", &tensor_base_type) &&
         put("Tensor", tensor_type);
}

}  // namespace rl::py
