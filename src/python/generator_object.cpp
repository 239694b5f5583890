// torch.Generator.
#include "python/accepts.h"
#include "python/errors.h"
#include "python/types.h"

namespace rl::py {
namespace {

Generator* value(PyObject* o) { return reinterpret_cast<GeneratorObject*>(o)->value; }

PyObject* make(PyTypeObject* type, Generator* counted) {
  auto* o = reinterpret_cast<GeneratorObject*>(type->tp_alloc(type, 0));
  if (!o) {
    counted->release();
    return nullptr;
  }
  o->value = counted;
  return reinterpret_cast<PyObject*>(o);
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names),
                                   &device))
    return nullptr;
  return guarded([&]() -> PyObject* {
    Device d = device ? to_device(device) : Device{};
    check(d.is_cpu(), "Device type ", device_type_name(d.type),
          " is not supported for torch.Generator() api.");
    return make(type, make_intrusive<Generator>().detach());
  });
}

void generator_dealloc(PyObject* o) {
  auto* g = reinterpret_cast<GeneratorObject*>(o);
  if (g->weakrefs) PyObject_ClearWeakRefs(o);
  if (g->value) g->value->release();
  Py_TYPE(o)->tp_free(o);  // of a subclass, its own deallocator drops the type
}

// Seeds may be negative: they stand for their two's complement, as in PyTorch.
uint64_t seed_of(PyObject* o) {
  check(is_int_like(o), "manual_seed expected a long, but got ", Py_TYPE(o)->tp_name);
  Ref i = owned(PyNumber_Index(o));
  uint64_t u = PyLong_AsUnsignedLongLong(i.get());
  if (!PyErr_Occurred()) return u;
  PyErr_Clear();
  int64_t s = PyLong_AsLongLong(i.get());
  if (s == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    fail_as(ErrorKind::Value, "Overflow when unpacking long long");
  }
  return uint64_t(s);
}

PyObject* manual_seed(PyObject* o, PyObject* seed) {
  return guarded([&]() -> PyObject* {
    value(o)->manual_seed(seed_of(seed));
    return new_ref(o);
  });
}
PyObject* seed(PyObject* o, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(value(o)->seed()); });
}
PyObject* initial_seed(PyObject* o, PyObject*) {
  return PyLong_FromUnsignedLongLong(value(o)->initial_seed());
}

PyObject* get_state(PyObject* o, PyObject*) {
  return guarded([&] {
    std::vector<uint8_t> bytes = value(o)->get_state();
    Tensor t = empty_tensor(Dims{int64_t(bytes.size())}, DType::UInt8);
    std::copy(bytes.begin(), bytes.end(), t.data<uint8_t>());
    return wrap(std::move(t));
  });
}

PyObject* set_state(PyObject* o, PyObject* state) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = to_tensor(state);
    check_type(t.dtype() == DType::UInt8 && t.device().is_cpu() && t.is_contiguous(),
               "RNG state must be a torch.ByteTensor");
    value(o)->set_state(t.data<uint8_t>(), t.numel());
    return new_ref(o);
  });
}

PyObject* clone_state(PyObject* o, PyObject*) {
  return guarded([&] { return wrap(value(o)->clone().get()); });
}

PyObject* get_device(PyObject*, void*) { return wrap(Device{}); }

PyObject* reduce(PyObject* o, PyObject*) {
  Ref device(wrap(Device{})), state(get_state(o, nullptr));
  if (!device || !state) return nullptr;
  // (seed, offset, state): a CPU generator has no offset.
  return Py_BuildValue("(O(O)(KOO))", &generator_type, device.get(), value(o)->initial_seed(),
                       Py_None, state.get());
}

PyObject* set_pickled(PyObject* o, PyObject* state) {
  PyObject *seed_value, *offset, *bytes;
  if (!PyArg_ParseTuple(state, "OOO", &seed_value, &offset, &bytes)) return nullptr;
  Ref seeded(manual_seed(o, seed_value));
  if (!seeded) return nullptr;
  Ref r(set_state(o, bytes));
  return r ? none() : nullptr;
}

PyMethodDef methods[] = {{"manual_seed", manual_seed, METH_O, nullptr},
                         {"seed", seed, METH_NOARGS, nullptr},
                         {"initial_seed", initial_seed, METH_NOARGS, nullptr},
                         {"get_state", get_state, METH_NOARGS, nullptr},
                         {"set_state", set_state, METH_O, nullptr},
                         {"clone_state", clone_state, METH_NOARGS, nullptr},
                         {"__reduce__", reduce, METH_NOARGS, nullptr},
                         {"__setstate__", set_pickled, METH_O, nullptr},
                         {}};
PyGetSetDef properties[] = {{"device", get_device, nullptr, nullptr, nullptr}, {}};

}  // namespace

PyTypeObject generator_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* wrap(Generator* g) {
  if (!g) return none();
  g->retain();
  return make(&generator_type, g);
}

bool add_generator_type(PyObject* module) {
  PyTypeObject& t = generator_type;
  t.tp_name = "torch._C.Generator";
  t.tp_basicsize = sizeof(GeneratorObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  t.tp_new = generator_new;
  t.tp_dealloc = generator_dealloc;
  t.tp_weaklistoffset = offsetof(GeneratorObject, weakrefs);
  t.tp_methods = methods;
  t.tp_getset = properties;
  if (PyModule_AddType(module, &t) < 0) return false;
  default_generator().retain();  // the global one lives as long as the process
  Ref g(wrap(&default_generator()));
  return g && PyModule_AddObjectRef(module, "default_generator", g.get()) == 0;
}

}  // namespace rl::py
