// Custom Functions: the context type, and the node that calls their backward.
#include "python/autograd_function.h"

#include <structmember.h>

namespace rl::py {

// ---- the node
PyFunctionNode::PyFunctionNode(PyObject* c) : ctx(new_ref(c)) {
  front_end = true;
  function_cast(c)->node = this;
}

PyFunctionNode::~PyFunctionNode() {
  if (!Py_IsInitialized()) return;
  GilAcquire gil;
  function_cast(ctx)->node = nullptr;
  Py_DECREF(ctx);
}

void PyFunctionNode::release_saved() {
  GilAcquire gil;
  saved.clear();
  freed = true;
}

namespace {

Ref attribute(PyObject* o, PyObject* name) {
  PyObject* v = PyObject_GetAttr(o, name);
  if (!v) throw_python_error();
  return Ref(v);
}

// backward or vjp of the Function whose context this is.
Ref user_backward(PyObject* ctx) {
  static PyObject* apply = interned("_apply_function");
  return attribute(ctx, apply);
}

Ref gradient_argument(const FunctionOutput& out, Tensor&& g, bool materialize) {
  if (!out.tensor) return Ref(none());
  if (g.defined()) return owned(wrap(std::move(g)));
  if (!materialize) return Ref(none());
  Tensor zeros = empty_tensor(out.sizes, out.dtype, out.device);
  if (zeros->storage && zeros->storage->data())
    std::memset(zeros.data(), 0, size_t(zeros.nbytes()));
  return owned(wrap(std::move(zeros)));
}

Grads unpack_result(PyFunctionNode& n, PyObject* result) {
  const size_t want = n.tensor_input.size();
  Ref tuple = PyTuple_Check(result) ? Ref::borrow(result) : owned(PyTuple_Pack(1, result));
  size_t got = size_t(PyTuple_GET_SIZE(tuple.get()));
  bool rest_none = true;
  for (size_t i = want; i < got; ++i)
    rest_none &= PyTuple_GET_ITEM(tuple.get(), Py_ssize_t(i)) == Py_None;
  check(got >= want && rest_none, "function ", n.name(),
        " returned an incorrect number of gradients (expected ", want, ", got ", got, ")");
  Grads out;
  out.reserve(n.edges.size());
  for (size_t i = 0; i < want; ++i) {
    PyObject* g = PyTuple_GET_ITEM(tuple.get(), Py_ssize_t(i));
    if (!n.tensor_input[i]) {
      check(g == Py_None, "function ", n.name(), " returned a gradient different than None at "
            "position ", i + 1, ", but the corresponding forward input was not a Variable");
      continue;
    }
    check(g == Py_None || is_tensor(g), "expected Variable or None (got ", Py_TYPE(g)->tp_name,
          ")");
    out.push_back(g == Py_None ? Tensor() : tensor_of(g));
  }
  return out;
}

}  // namespace

Grads PyFunctionNode::apply(Grads&& grads) {
  GilAcquire gil;
  FunctionObject* c = function_cast(ctx);
  std::vector<Ref> owners;
  std::vector<PyObject*> argv{nullptr};
  owners.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor g = i < grads.size() ? std::move(grads[i]) : Tensor();
    owners.push_back(gradient_argument(results[i], std::move(g), c->materialize_grads));
    argv.push_back(owners.back().get());
  }
  grads.clear();
  Ref f = user_backward(ctx);
  Ref result(PyObject_Vectorcall(f.get(), argv.data() + 1,
                                 results.size() | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (!result) throw_python_error();
  owners.clear();
  return unpack_result(*this, result.get());
}

PyObject* function_object_of(const Node& n) {
  auto* f = dynamic_cast<const PyFunctionNode*>(&n);
  return f ? f->ctx : nullptr;
}

int visit_function_node(Node& n, visitproc visit, void* arg) {
  if (auto* f = dynamic_cast<PyFunctionNode*>(&n)) Py_VISIT(f->ctx);
  return 0;
}

static PyFunctionNode& node_behind(PyObject* self, const char* what) {
  PyFunctionNode* n = function_cast(self)->node;
  check(n, "Attribute '", what,
        "' is invalid for this instance of _C._FunctionBase. Accessing this "
        "attribute directly on an instance of autograd.Function is a legacy access pattern that is "
        "no longer supported. For examples on how to use new-style autograd functions, see "
        "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ");
  return *n;
}

NodePtr node_of_function(PyObject* o) { return NodePtr(&node_behind(o, "node")); }

// ---- the context object
namespace {

PyObject* function_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (o) function_cast(o)->materialize_grads = function_cast(o)->materialize_non_diff = true;
  return o;
}

int function_traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* o = function_cast(self);
  Py_VISIT(o->to_save);
  Py_VISIT(o->saved_for_forward);
  Py_VISIT(o->dirty);
  Py_VISIT(o->non_differentiable);
  Py_VISIT(o->needs_input_grad);
  Py_VISIT(o->output_grad_dtypes);
  return 0;
}

int function_clear(PyObject* self) {
  FunctionObject* o = function_cast(self);
  Py_CLEAR(o->to_save);
  Py_CLEAR(o->saved_for_forward);
  Py_CLEAR(o->dirty);
  Py_CLEAR(o->non_differentiable);
  Py_CLEAR(o->needs_input_grad);
  Py_CLEAR(o->output_grad_dtypes);
  return 0;
}

void function_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  function_clear(self);
  Py_TYPE(self)->tp_free(self);
}

void set_slot(PyObject*& slot, PyObject* value) {
  PyObject* old = slot;
  slot = new_ref(value);
  Py_XDECREF(old);
}

PyObject* save_for_backward(PyObject* self, PyObject* args) {
  set_slot(function_cast(self)->to_save, args);
  return none();
}
PyObject* save_for_forward(PyObject* self, PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* x = PyTuple_GET_ITEM(args, i);
    if (x == Py_None || is_tensor(x)) continue;
    PyErr_Format(PyExc_TypeError, "save_for_forward can only save tensors, but argument %zd is of "
                 "type %s", i, Py_TYPE(x)->tp_name);
    return nullptr;
  }
  set_slot(function_cast(self)->saved_for_forward, args);
  return none();
}
PyObject* mark_dirty(PyObject* self, PyObject* args) {
  set_slot(function_cast(self)->dirty, args);
  return none();
}
PyObject* mark_non_differentiable(PyObject* self, PyObject* args) {
  set_slot(function_cast(self)->non_differentiable, args);
  return none();
}
PyObject* set_materialize_grads(PyObject* self, PyObject* v) {
  int on = PyObject_IsTrue(v);
  if (on < 0) return nullptr;
  function_cast(self)->materialize_grads = on;
  return none();
}

PyObject* get_saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    FunctionObject* o = function_cast(self);
    if (o->in_jvp) return o->saved_for_forward ? new_ref(o->saved_for_forward) : PyTuple_New(0);
    PyFunctionNode* n = o->node;
    if (!n) return PyTuple_New(0);
    check(!n->freed, "Trying to backward through the graph a second time (or directly access saved "
          "tensors after they have already been freed). Saved intermediate values of the graph are "
          "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you "
          "need to backward through the graph a second time or if you need to access saved tensors "
          "after calling backward.");
    NodePtr owner(n);
    std::vector<Tensor> all;
    all.reserve(n->saved.size());
    for (auto& s : n->saved) all.push_back(s.unpack(owner, true));
    return wrap(all);
  });
}

PyObject* get_input_buffers(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    PyFunctionNode& n = node_behind(self, "input_grad_buffers");
    Ref out = owned(PyTuple_New(Py_ssize_t(n.tensor_input.size())));
    size_t edge = 0;
    for (size_t i = 0; i < n.tensor_input.size(); ++i) {
      Tensor t = n.tensor_input[i] ? input_grad_buffer(n, edge++) : Tensor();
      PyTuple_SET_ITEM(out.get(), Py_ssize_t(i), owned(wrap(std::move(t))).release());
    }
    return out.release();
  });
}

PyObject* maybe_clear_saved(PyObject* self, PyObject*) {
  if (PyFunctionNode* n = function_cast(self)->node) n->release_saved();
  return none();
}

PyObject* get_next(PyObject* self, void*) {
  return guarded(
      [&] { return node_next_functions(NodePtr(&node_behind(self, "next_functions"))); });
}
PyObject* get_metadata(PyObject* self, void*) {
  return guarded([&] { return node_metadata(NodePtr(&node_behind(self, "metadata"))); });
}
PyObject* get_input_metadata(PyObject* self, void*) {
  return guarded(
      [&] { return node_input_metadata(NodePtr(&node_behind(self, "_input_metadata"))); });
}
PyObject* get_true(PyObject*, void*) { return new_ref(Py_True); }
PyObject* register_hook(PyObject* self, PyObject* hook) {
  return guarded(
      [&] { return node_register_hook(NodePtr(&node_behind(self, "register_hook")), hook); });
}
PyObject* register_prehook(PyObject* self, PyObject* hook) {
  return guarded(
      [&] { return node_register_prehook(NodePtr(&node_behind(self, "register_prehook")), hook); });
}
PyObject* function_name(PyObject* self, PyObject*) {
  return PyUnicode_FromString(Py_TYPE(self)->tp_name);
}
PyObject* sequence_nr(PyObject* self, PyObject*) {
  return guarded([&] {
    return PyLong_FromUnsignedLongLong(node_behind(self, "_sequence_nr").sequence_nr);
  });
}
PyObject* set_sequence_nr(PyObject* self, PyObject* v) {
  uint64_t n = PyLong_AsUnsignedLongLong(v);
  if (PyErr_Occurred()) return nullptr;
  return guarded([&] {
    node_behind(self, "_set_sequence_nr").sequence_nr = n;
    return none();
  });
}

// An attribute that holds an object; `None` where nothing was stored.
template <PyObject* FunctionObject::*Field>
PyObject* get_object(PyObject* self, void*) {
  PyObject* v = function_cast(self)->*Field;
  return new_ref(v ? v : Py_None);
}
template <PyObject* FunctionObject::*Field>
int set_object(PyObject* self, PyObject* v, void*) {
  PyObject*& slot = function_cast(self)->*Field;
  if (v == Py_None) v = nullptr;
  PyObject* old = slot;
  slot = v ? new_ref(v) : nullptr;
  Py_XDECREF(old);
  return 0;
}
template <bool FunctionObject::*Field>
PyObject* get_flag(PyObject* self, void*) {
  return PyBool_FromLong(function_cast(self)->*Field);
}
template <bool FunctionObject::*Field>
int set_flag(PyObject* self, PyObject* v, void*) {
  int on = v ? PyObject_IsTrue(v) : 0;
  if (on < 0) return -1;
  function_cast(self)->*Field = on;
  return 0;
}

#define RL_OBJECT(name, field) \
  {name, get_object<&FunctionObject::field>, set_object<&FunctionObject::field>, nullptr, nullptr}
#define RL_FLAG(name, field) \
  {name, get_flag<&FunctionObject::field>, set_flag<&FunctionObject::field>, nullptr, nullptr}

PyGetSetDef properties[] = {{"saved_tensors", get_saved_tensors, nullptr, nullptr, nullptr},
                            {"next_functions", get_next, nullptr, nullptr, nullptr},
                            {"metadata", get_metadata, nullptr, nullptr, nullptr},
                            {"_input_metadata", get_input_metadata, nullptr, nullptr, nullptr},
                            {"requires_grad", get_true, nullptr, nullptr, nullptr},
                            {"input_grad_buffers", get_input_buffers, nullptr, nullptr, nullptr},
                            RL_OBJECT("output_grad_dtypes", output_grad_dtypes),
                            RL_OBJECT("to_save", to_save),
                            RL_OBJECT("saved_for_forward", saved_for_forward),
                            RL_OBJECT("dirty_tensors", dirty),
                            RL_OBJECT("non_differentiable", non_differentiable),
                            RL_OBJECT("needs_input_grad", needs_input_grad),
                            RL_FLAG("materialize_grads", materialize_grads),
                            RL_FLAG("_materialize_non_diff_grads", materialize_non_diff),
                            RL_FLAG("_is_pure_view", pure_view),
                            {}};

PyCFunction with_keywords(PyCFunctionWithKeywords f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

PyMethodDef methods[] = {
    {"apply", with_keywords(function_apply), METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {"save_for_backward", save_for_backward, METH_VARARGS, nullptr},
    {"save_for_forward", save_for_forward, METH_VARARGS, nullptr},
    {"mark_dirty", mark_dirty, METH_VARARGS, nullptr},
    {"mark_non_differentiable", mark_non_differentiable, METH_VARARGS, nullptr},
    {"set_materialize_grads", set_materialize_grads, METH_O, nullptr},
    {"maybe_clear_saved_tensors", maybe_clear_saved, METH_NOARGS, nullptr},
    {"register_hook", register_hook, METH_O, nullptr},
    {"register_prehook", register_prehook, METH_O, nullptr},
    {"name", function_name, METH_NOARGS, nullptr},
    {"_sequence_nr", sequence_nr, METH_NOARGS, nullptr},
    {"_set_sequence_nr", set_sequence_nr, METH_O, nullptr},
    {}};

}  // namespace

PyTypeObject function_base_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool add_function_type(PyObject* module) {
  PyTypeObject& t = function_base_type;
  t.tp_name = "torch._C._FunctionBase";
  t.tp_basicsize = sizeof(FunctionObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  t.tp_new = function_new;
  t.tp_dealloc = function_dealloc;
  t.tp_traverse = function_traverse;
  t.tp_clear = function_clear;
  t.tp_methods = methods;
  t.tp_getset = properties;
  if (PyType_Ready(&t) < 0) return false;
  return PyModule_AddObjectRef(module, "_FunctionBase", reinterpret_cast<PyObject*>(&t)) == 0;
}

}  // namespace rl::py
