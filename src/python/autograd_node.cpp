// grad_fn objects. A node of C++ gets a Python object when it is asked for; the object keeps the
// node, the node points back weakly, so that identity holds while anybody has the object. The type
// is named as the node is: <AddBackward0 object at 0x...>.
#include <string>
#include <unordered_map>

#include "python/autograd.h"

#include <structmember.h>

namespace rl::py {

namespace {

struct NodeObject {
  PyObject_HEAD
  NodePtr node;
  PyObject* weakrefs;
};

PyTypeObject* node_base = nullptr;  // torch._C._autograd.Node, base of the named types

NodeObject* cast(PyObject* o) { return reinterpret_cast<NodeObject*>(o); }

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  NodeObject* o = cast(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  if (o->node && o->node->python == self) o->node->python = nullptr;
  o->node.~NodePtr();
  type->tp_free(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Node* n = cast(self)->node.get();
  if (!n || n->use_count() != 1) return 0;
  for (auto& h : n->post_hooks)
    if (h->use_count() == 1) Py_VISIT(static_cast<PyObject*>(h->owner()));
  for (auto& h : n->pre_hooks)
    if (h->use_count() == 1) Py_VISIT(static_cast<PyObject*>(h->owner()));
  for (auto& [nr, h] : n->tensor_hooks)
    if (h->use_count() == 1) Py_VISIT(static_cast<PyObject*>(h->owner()));
  return 0;
}

int clear(PyObject* self) {
  Node* n = cast(self)->node.get();
  if (!n || n->use_count() != 1) return 0;
  auto post = std::move(n->post_hooks);
  auto pre = std::move(n->pre_hooks);
  auto tensor = std::move(n->tensor_hooks);
  return 0;
}

PyObject* from_saved(const IValue& v) { return from_ivalue(v); }

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<%s object at %p>", cast(self)->node->name().c_str(), self);
}

// _saved_<name> of any node, and what the type defines.
PyObject* getattro(PyObject* self, PyObject* name) {
  const char* s = PyUnicode_AsUTF8(name);
  if (!s) return nullptr;
  constexpr std::string_view prefix = "_saved_";
  std::string_view text(s);
  if (text.substr(0, prefix.size()) != prefix) return PyObject_GenericGetAttr(self, name);
  return guarded([&]() -> PyObject* {
    auto value = cast(self)->node->saved(text.substr(prefix.size()));
    if (value) return from_saved(*value);
    return PyObject_GenericGetAttr(self, name);
  });
}

PyObject* dir(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref names = owned(
        PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__", "O", self));
    for (auto& n : cast(self)->node->saved_names()) {
      Ref text = owned(PyUnicode_FromString(("_saved_" + n).c_str()));
      check_python(PyList_Append(names.get(), text.get()) == 0);
    }
    return names.release();
  });
}

PyObject* get_next(PyObject* self, void*) {
  return guarded([&] { return node_next_functions(cast(self)->node); });
}
PyObject* get_metadata(PyObject* self, void*) {
  return guarded([&] { return node_metadata(cast(self)->node); });
}
PyObject* get_input_metadata(PyObject* self, void*) {
  return guarded([&] { return node_input_metadata(cast(self)->node); });
}
PyObject* get_variable(PyObject* self, void*) {
  return guarded([&] { return wrap(static_cast<AccumulateGrad&>(*cast(self)->node).variable); });
}
PyObject* get_true(PyObject*, void*) { return new_ref(Py_True); }

PyObject* name(PyObject* self, PyObject*) {
  return PyUnicode_FromString(qualified_name(*cast(self)->node).c_str());
}
PyObject* register_hook(PyObject* self, PyObject* hook) {
  return guarded([&] { return node_register_hook(cast(self)->node, hook); });
}
PyObject* register_prehook(PyObject* self, PyObject* hook) {
  return guarded([&] { return node_register_prehook(cast(self)->node, hook); });
}
PyObject* sequence_nr(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(cast(self)->node->sequence_nr);
}
PyObject* set_sequence_nr(PyObject* self, PyObject* v) {
  uint64_t n = PyLong_AsUnsignedLongLong(v);
  if (PyErr_Occurred()) return nullptr;
  cast(self)->node->sequence_nr = n;
  return none();
}

// node(*gradients): applies it by hand.
PyObject* call(PyObject* self, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    Grads in;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
      in.push_back(to_tensor_opt(PyTuple_GET_ITEM(args, i)));
    NodePtr n = cast(self)->node;
    if (in.size() < n->outputs.size()) in.resize(n->outputs.size());
    Grads out;
    {
      GilRelease release;
      out = n->apply(std::move(in));
    }
    if (out.size() == 1) return wrap(out[0]);
    return wrap(out);
  });
}

PyMethodDef methods[] = {{"name", name, METH_NOARGS, nullptr},
                         {"register_hook", register_hook, METH_O, nullptr},
                         {"register_prehook", register_prehook, METH_O, nullptr},
                         {"_sequence_nr", sequence_nr, METH_NOARGS, nullptr},
                         {"_set_sequence_nr", set_sequence_nr, METH_O, nullptr},
                         {"__dir__", dir, METH_NOARGS, nullptr},
                         {}};
PyGetSetDef properties[] = {{"next_functions", get_next, nullptr, nullptr, nullptr},
                            {"metadata", get_metadata, nullptr, nullptr, nullptr},
                            {"_input_metadata", get_input_metadata, nullptr, nullptr, nullptr},
                            {"requires_grad", get_true, nullptr, nullptr, nullptr},
                            {}};
PyGetSetDef leaf_properties[] = {{"variable", get_variable, nullptr, nullptr, nullptr}, {}};


PyTypeObject* make_base() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_getattro, reinterpret_cast<void*>(getattro)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_call, reinterpret_cast<void*>(call)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, properties},
                         {Py_tp_members, nullptr},
                         {0, nullptr}};
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(NodeObject, weakrefs), READONLY, nullptr}, {}};
  slots[8].pfunc = members;
  PyType_Spec spec = {"torch._C._autograd.Node", sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

// The type of nodes of this name, made at the first of them.
PyTypeObject* type_of(const Node& n) {
  static auto& types = *new std::unordered_map<std::string, PyTypeObject*>;
  std::string name = n.name();
  auto it = types.find(name);
  if (it != types.end()) return it->second;
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {0, nullptr},
                         {0, nullptr}};
  if (n.accumulates) slots[3] = {Py_tp_getset, leaf_properties};
  auto* kept = new std::string("builtins." + name);
  PyType_Spec spec = {kept->c_str(), sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  Ref bases = owned(PyTuple_Pack(1, node_base));
  Ref type = owned(PyType_FromSpecWithBases(&spec, bases.get()));
  auto* t = reinterpret_cast<PyTypeObject*>(type.release());
  types.emplace(std::move(name), t);
  return t;
}

}  // namespace

PyObject* wrap_node(const NodePtr& n) {
  if (!n) return none();
  if (PyObject* f = function_object_of(*n)) return new_ref(f);
  if (n->python) return new_ref(static_cast<PyObject*>(n->python));
  PyTypeObject* type = type_of(*n);
  auto* o = reinterpret_cast<NodeObject*>(type->tp_alloc(type, 0));
  if (!o) throw_python_error();
  new (&o->node) NodePtr(n);
  o->weakrefs = nullptr;
  n->python = o;
  return reinterpret_cast<PyObject*>(o);
}

bool is_node(PyObject* o) {
  return PyObject_TypeCheck(o, node_base) || PyObject_TypeCheck(o, &function_base_type);
}

NodePtr node_of_function(PyObject* o);  // autograd_function.cpp

NodePtr node_of(PyObject* o) {
  if (PyObject_TypeCheck(o, node_base)) return cast(o)->node;
  check_type(PyObject_TypeCheck(o, &function_base_type), "expected a node of the graph, but got ",
             Py_TYPE(o)->tp_name);
  return node_of_function(o);
}

PyObject* node_next_functions(const NodePtr& n) {
  Ref out = owned(PyTuple_New(Py_ssize_t(n->edges.size())));
  for (size_t i = 0; i < n->edges.size(); ++i) {
    Ref fn = owned(wrap_node(n->edges[i].node));
    Ref pair = owned(Py_BuildValue("(Oi)", fn.get(), int(n->edges[i].input_nr)));
    PyTuple_SET_ITEM(out.get(), Py_ssize_t(i), pair.release());
  }
  return out.release();
}

PyObject* node_metadata(const NodePtr& n) {
  if (!n->metadata) n->metadata = hold_object(owned(PyDict_New()).get());
  return object_in(n->metadata);
}

PyObject* node_input_metadata(const NodePtr& n) {
  static PyTypeObject* type = [] {
    static PyStructSequence_Field fields[] = {
        {"shape", ""}, {"dtype", ""}, {"device", ""}, {nullptr, nullptr}};
    static PyStructSequence_Desc desc = {"torch._C._autograd._InputMetadata", "", fields, 3};
    PyTypeObject* t = PyStructSequence_NewType(&desc);
    if (!t) throw_python_error();
    return t;
  }();
  Ref out = owned(PyTuple_New(Py_ssize_t(n->outputs.size())));
  for (size_t i = 0; i < n->outputs.size(); ++i) {
    const OutputInfo& info = n->outputs[i];
    Ref item = owned(PyStructSequence_New(type));
    bool known = info.dtype != DType::Undefined;
    PyStructSequence_SetItem(item.get(), 0, wrap_sizes(info.sizes));
    PyStructSequence_SetItem(item.get(), 1, known ? wrap(info.dtype) : none());
    PyStructSequence_SetItem(item.get(), 2, wrap(info.device));
    PyTuple_SET_ITEM(out.get(), Py_ssize_t(i), item.release());
  }
  return out.release();
}

bool add_node_types(PyObject* module) {
  node_base = make_base();
  if (!node_base) return false;
  wrap_grad_fn = [](const Tensor& t) { return wrap_node(grad_fn(t)); };
  traverse_autograd = visit_hooks;
  clear_autograd = clear_hooks;
  return PyModule_AddObjectRef(module, "_NodeBase", reinterpret_cast<PyObject*>(node_base)) == 0;
}

}  // namespace rl::py
