// Functions of torch._C that torch/autograd is written with: running backward, grad mode, anomaly
// mode, forward-mode levels; and Tensor.backward, register_hook.
#include "python/autograd.h"

#include "autograd/engine_ops.h"
#include "autograd/forward_mode.h"
#include "python/overrides.h"
#include "python/types.h"

namespace rl::py {

namespace {

// ---- running backward
const Tensor& expect_tensor(PyObject* o, const char* what) {
  check_type(is_tensor(o), what, " must be a Tensor, but got ", Py_TYPE(o)->tp_name);
  return tensor_of(o);
}

// A Tensor, or a GradientEdge (node, output_nr, ...).
bool is_gradient_edge(PyObject* o) {
  return PyTuple_Check(o) && PyTuple_GET_SIZE(o) >= 2 && is_node(PyTuple_GET_ITEM(o, 0));
}

Edge edge_from(PyObject* o) {
  long nr = PyLong_AsLong(PyTuple_GET_ITEM(o, 1));
  check_python(!(nr == -1 && PyErr_Occurred()));
  return {node_of(PyTuple_GET_ITEM(o, 0)), uint32_t(nr)};
}

struct Request {
  std::vector<Edge> roots, targets;
  Grads grads;
  std::vector<Tensor> target_tensors;
  BackwardOptions options;
};

void add_root(Request& r, PyObject* output, PyObject* grad, size_t i) {
  check_type(!grad || grad == Py_None || is_tensor(grad),
             "gradients can be either Tensors or None, but got ",
             Py_TYPE(grad ? grad : Py_None)->tp_name);
  bool given = grad && grad != Py_None;
  if (is_gradient_edge(output)) {
    Edge e = edge_from(output);
    check(e.input_nr < e.node->outputs.size(), "GradientEdge: no such output");
    const OutputInfo& info = e.node->outputs[e.input_nr];
    if (given) {
      r.grads.push_back(tensor_of(grad));
    } else {
      check(numel_of(info.sizes) == 1, "grad can be implicitly created only for scalar outputs");
      NoGrad no_grad;
      r.grads.push_back(
          engine_ops::ones_like(empty_tensor(info.sizes, info.dtype, info.device)));
    }
    r.roots.push_back(std::move(e));
    return;
  }
  const Tensor& t = expect_tensor(output, "element of tensors");
  r.grads.push_back(make_root_grad(t, given ? tensor_of(grad) : Tensor(), i));
  Edge e = gradient_edge(t);
  check(bool(e.node), "element ", i,
        " of tensors does not require grad and does not have a grad_fn");
  r.roots.push_back(std::move(e));
}

void add_target(Request& r, PyObject* input) {
  if (is_gradient_edge(input)) {
    r.targets.push_back(edge_from(input));
    r.target_tensors.emplace_back();
    return;
  }
  const Tensor& t = expect_tensor(input, "element of inputs");
  check(t->requires_grad, "One of the differentiated Tensors does not require grad");
  r.targets.push_back(gradient_edge(t));
  r.target_tensors.push_back(r.options.accumulate && !is_leaf(t) ? t : Tensor());
}

std::vector<Tensor> run(Request& r) {
  GilRelease release;
  auto out =
      run_backward_edges(r.roots, std::move(r.grads), r.targets, r.target_tensors, r.options);
  r.roots.clear();  // frees the graph before the lock is taken again
  r.targets.clear();
  return out;
}

void warn_create_graph() {
  static bool warned = false;
  if (warned) return;
  warned = true;
  check_python(PyErr_WarnEx(PyExc_UserWarning,
      "Using backward() with create_graph=True will create a reference cycle between the parameter "
      "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
      "creating the graph to avoid this. If you have to use this function, make sure to reset the "
      ".grad fields of your parameters to None after use to break the cycle and avoid the leak.",
      1) == 0);
}

bool truth(PyObject* o, bool when_none) {
  if (!o || o == Py_None) return when_none;
  int v = PyObject_IsTrue(o);
  check_python(v >= 0);
  return v;
}

// _run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unused, accumulate)
PyObject* py_run_backward(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 7 && PyTuple_Check(a[0]) && PyTuple_Check(a[1]) && PyTuple_Check(a[4]),
               "_run_backward(tuple, tuple, bool, bool, tuple, bool, bool)");
    Request r;
    r.options = {truth(a[2], false), truth(a[3], false), truth(a[6], true), truth(a[5], true)};
    if (r.options.accumulate && r.options.create_graph) warn_create_graph();
    check(PyTuple_GET_SIZE(a[0]) == PyTuple_GET_SIZE(a[1]), "got ", PyTuple_GET_SIZE(a[0]),
          " tensors and ", PyTuple_GET_SIZE(a[1]), " gradients");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[0]); ++i)
      add_root(r, PyTuple_GET_ITEM(a[0], i), PyTuple_GET_ITEM(a[1], i), size_t(i));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[4]); ++i)
      add_target(r, PyTuple_GET_ITEM(a[4], i));
    auto out = run(r);
    if (r.options.accumulate) return none();
    return wrap(out);
  });
}

// ---- Tensor.backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)
void add_inputs(Request& r, PyObject* inputs) {
  if (!inputs || inputs == Py_None) return;
  if (is_tensor(inputs) || is_gradient_edge(inputs)) {
    add_target(r, inputs);
    return;
  }
  Ref list = owned(PySequence_Tuple(inputs));
  check(PyTuple_GET_SIZE(list.get()) > 0, "`inputs` argument to `backward()` cannot be empty.");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i)
    add_target(r, PyTuple_GET_ITEM(list.get(), i));
}

PyObject* tensor_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  PyObject* overridden = nullptr;
  if (!is_exact_tensor(self) || function_state.modes_on) [[unlikely]]
    if (method_overridden(self, "backward", args, nargs, kwnames, &overridden)) return overridden;
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"gradient", "retain_graph", "create_graph", "inputs"};
    PyObject* v[4] = {};
    check_type(nargs <= 4, "backward() takes from 1 to 5 positional arguments but ", nargs + 1,
               " were given");
    for (Py_ssize_t i = 0; i < nargs; ++i) v[i] = args[i];
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k) {
      PyObject* name = PyTuple_GET_ITEM(kwnames, k);
      int at = 0;
      while (at < 4 && PyUnicode_CompareWithASCIIString(name, names[at]) != 0) ++at;
      check_type(at < 4, "Tensor.backward() got an unexpected keyword argument '",
                 PyUnicode_AsUTF8(name), "'");
      check_type(!v[at], "Tensor.backward() got multiple values for argument '", names[at], "'");
      v[at] = args[nargs + k];
    }
    Request r;
    bool create = truth(v[2], false);
    r.options = {truth(v[1], create), create, true, true};
    if (create) warn_create_graph();
    add_root(r, self, v[0], 0);
    add_inputs(r, v[3]);
    run(r);
    return none();
  });
}

PyObject* py_register_hook(PyObject* self, PyObject* hook) {
  PyObject* r = nullptr;
  if (!is_exact_tensor(self) || function_state.modes_on) [[unlikely]]
    if (method_overridden(self, "register_hook", &hook, 1, nullptr, &r)) return r;
  return guarded([&] { return tensor_register_hook(self, hook); });
}
PyObject* py_register_accumulate_hook(PyObject* self, PyObject* hook) {
  PyObject* r = nullptr;
  if (!is_exact_tensor(self) || function_state.modes_on) [[unlikely]]
    if (method_overridden(self, "register_post_accumulate_grad_hook", &hook, 1, nullptr, &r))
      return r;
  return guarded([&] { return tensor_register_accumulate_hook(self, hook); });
}

// ---- grad mode, inference mode
PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(tls.grad_mode); }
PyObject* is_inference(PyObject*, PyObject*) { return PyBool_FromLong(tls.inference_mode); }
PyObject* set_grad_enabled(PyObject*, PyObject* on) {
  if (!PyBool_Check(on)) {
    PyErr_Format(PyExc_TypeError,
                 "set_grad_enabled(): argument 'enabled' (position 1) must be bool, "
                 "not %s",
                 Py_TYPE(on)->tp_name);
    return nullptr;
  }
  tls.grad_mode = on == Py_True;
  return none();
}
// Sets (grad, inference) and returns what they were.
PyObject* enter_inference(PyObject*, PyObject* on) {
  int v = PyObject_IsTrue(on);
  if (v < 0) return nullptr;
  long before = long(tls.grad_mode) | long(tls.inference_mode) << 1;
  tls.inference_mode = v;
  tls.grad_mode = !v;
  return PyLong_FromLong(before);
}
PyObject* exit_inference(PyObject*, PyObject* before) {
  long v = PyLong_AsLong(before);
  if (v == -1 && PyErr_Occurred()) return nullptr;
  tls.grad_mode = v & 1;
  tls.inference_mode = v & 2;
  return none();
}

PyObject* set_layout_policy(PyObject*, PyObject* on) {
  int v = PyObject_IsTrue(on);
  return v < 0 ? nullptr : PyBool_FromLong(set_enforce_grad_layout(v));
}

PyObject* get_grad_dtype(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    DType d = grad_dtype(tensor_of(self));
    return d == DType::Undefined ? none() : wrap(d);
  });
}
int set_grad_dtype_property(PyObject* self, PyObject* v, void*) {
  try {
    check(v && (v == Py_None || is_dtype(v)), "grad_dtype must be a torch.dtype or None, but got ",
          v ? Py_TYPE(v)->tp_name : "nothing");
    set_grad_dtype(tensor_of(self), v == Py_None ? std::nullopt : std::optional(to_dtype(v)));
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}
PyGetSetDef tensor_properties_here[] = {
    {"grad_dtype", get_grad_dtype, set_grad_dtype_property, nullptr, nullptr}, {}};

// ---- anomaly mode
PyObject* set_anomaly(PyObject*, PyObject* args) {
  int on, check_nan = 1;
  if (!PyArg_ParseTuple(args, "p|p", &on, &check_nan)) return nullptr;
  anomaly_mode.enabled = on;
  anomaly_mode.check_nan = check_nan;
  return none();
}
PyObject* is_anomaly(PyObject*, PyObject*) { return PyBool_FromLong(anomaly_mode.enabled); }
PyObject* is_anomaly_check_nan(PyObject*, PyObject*) {
  return PyBool_FromLong(anomaly_mode.check_nan);
}

PyObject* anomaly_module() {  // borrowed
  static PyObject* m = owned(PyImport_ImportModule("torch.autograd.anomaly_mode")).release();
  return m;
}

intrusive_ptr<Opaque> python_traceback() {
  GilAcquire gil;
  Ref parent = owned(wrap_node(NodePtr(current_node())));
  Ref d = owned(PyObject_CallMethod(anomaly_module(), "_capture", "O", parent.get()));
  return hold_object(d.get());
}

void print_anomaly(const Node& n) {
  GilAcquire gil;
  Ref metadata = n.metadata ? Ref(object_in(n.metadata)) : owned(PyDict_New());
  Ref r(PyObject_CallMethod(anomaly_module(), "_report", "sO", n.name().c_str(), metadata.get()));
  if (!r) PyErr_WriteUnraisable(nullptr);
}

// ---- the running backward
PyObject* py_queue_callback(PyObject*, PyObject* f) {
  return guarded([&] {
    auto held = hold_object(f);
    queue_callback([held] {
      GilAcquire gil;
      Ref f(object_in(held));
      owned(PyObject_CallNoArgs(f.get()));
    });
    return none();
  });
}
PyObject* py_current_node(PyObject*, PyObject*) {
  return guarded([&] { return wrap_node(NodePtr(current_node())); });
}
PyObject* py_task_id(PyObject*, PyObject*) { return PyLong_FromLongLong(current_task_id()); }
PyObject* is_checkpoint_valid(PyObject*, PyObject*) {
  return PyBool_FromLong(reaches_all_leaves());
}
PyObject* py_will_run(PyObject*, PyObject* node) {
  return guarded([&] { return PyBool_FromLong(node_will_run(*node_of(node))); });
}
PyObject* py_gradient_edge(PyObject*, PyObject* t) {
  return guarded([&]() -> PyObject* {
    Edge e = gradient_edge(expect_tensor(t, "argument of get_gradient_edge()"));
    Ref node = owned(wrap_node(e.node));
    return Py_BuildValue("(Oi)", node.get(), int(e.input_nr));
  });
}
PyObject* py_reaches_other_leaves(PyObject*, PyObject* args) {
  PyObject *t, *own;
  if (!PyArg_ParseTuple(args, "OO", &t, &own)) return nullptr;
  return guarded([&] {
    return PyBool_FromLong(reaches_other_leaves(expect_tensor(t, "tensor"), to_tensor_list(own)));
  });
}
PyObject* py_increment_version(PyObject*, PyObject* list) {
  return guarded([&] {
    Ref items = is_tensor(list) ? owned(PyTuple_Pack(1, list)) : owned(PySequence_Tuple(list));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
      const Tensor& t = expect_tensor(PyTuple_GET_ITEM(items.get(), i), "increment_version");
      check(!t->inference, "Inference tensors do not track version counter.");
      bump_version(t);
    }
    return none();
  });
}

// @once_differentiable: results whose own backward is an error.
struct DelayedError final : Node {
  explicit DelayedError(std::string m) : message(std::move(m)) {}
  std::string name() const override { return "Error"; }
  Grads apply(Grads&&) override { fail(message); }
  std::string message;
};
PyObject* delayed_error(PyObject*, PyObject* args) {
  const char* message;
  PyObject* list;
  if (!PyArg_ParseTuple(args, "sO!", &message, &PyTuple_Type, &list)) return nullptr;
  return guarded([&]() -> PyObject* {
    auto node = make_intrusive<DelayedError>(message);
    Ref out = owned(PyTuple_New(PyTuple_GET_SIZE(list)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); ++i) {
      PyObject* x = PyTuple_GET_ITEM(list, i);
      if (!is_tensor(x)) {
        PyTuple_SET_ITEM(out.get(), i, new_ref(x));
        continue;
      }
      Tensor t = detached(tensor_of(x));
      set_history(t, node);
      PyTuple_SET_ITEM(out.get(), i, owned(wrap(std::move(t))).release());
    }
    return out.release();
  });
}

// An identity whose backward passes nothing on (gradcheck).
struct UndefinedGrad final : Node {
  std::string name() const override { return "UndefinedGradBackward"; }
  Grads apply(Grads&&) override { return Grads(edges.size()); }
};
PyObject* undefined_grad(PyObject*, PyObject* o) {
  return guarded([&] {
    const Tensor& t = expect_tensor(o, "argument of _undefined_grad()");
    Tensor out = detached(t);
    if (t->requires_grad) {
      auto node = make_intrusive<UndefinedGrad>();
      add_edges(*node, t);
      set_history(out, node);
    }
    return wrap(std::move(out));
  });
}

// ---- forward mode
PyObject* enter_dual(PyObject*, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(enter_dual_level()); });
}
PyObject* exit_dual(PyObject*, PyObject* args) {
  long long level = 0;
  if (!PyArg_ParseTuple(args, "|L", &level)) return nullptr;
  return guarded([&] {
    exit_dual_level(level);
    return none();
  });
}
PyObject* py_make_dual(PyObject*, PyObject* args) {
  PyObject *primal, *tangent;
  long long level = 0;
  if (!PyArg_ParseTuple(args, "OO|L", &primal, &tangent, &level)) return nullptr;
  return guarded([&] {
    return wrap(
        make_dual(expect_tensor(primal, "primal"), expect_tensor(tangent, "tangent"), level));
  });
}
PyObject* py_unpack_dual(PyObject*, PyObject* args) {
  PyObject* t;
  long long level = 0;
  if (!PyArg_ParseTuple(args, "O|L", &t, &level)) return nullptr;
  return guarded([&]() -> PyObject* {
    auto [primal, tangent] = unpack_dual(expect_tensor(t, "tensor"), level);
    Ref p = owned(wrap(primal)), v = owned(wrap(tangent));
    return PyTuple_Pack(2, p.get(), v.get());
  });
}
PyObject* py_forward_grad(PyObject*, PyObject* t) {
  return guarded([&] { return wrap(forward_grad(expect_tensor(t, "tensor"))); });
}

PyObject* forward_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(forward_grad_enabled());
}
PyObject* py_set_forward_enabled(PyObject*, PyObject* on) {
  int v = PyObject_IsTrue(on);
  if (v < 0) return nullptr;
  set_forward_grad_enabled(v);
  return none();
}
// _set_versions(tensors, versions): undoes the count of writes.
PyObject* set_versions(PyObject*, PyObject* args) {
  PyObject *list, *versions;
  if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &list, &PyTuple_Type, &versions))
    return nullptr;
  return guarded([&] {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); ++i) {
      int64_t v = to_int(PyTuple_GET_ITEM(versions, i));
      check(v >= 0, "a version cannot be negative");
      version_counter(expect_tensor(PyTuple_GET_ITEM(list, i), "tensors")).value = uint32_t(v);
    }
    return none();
  });
}

template <class F>
PyCFunction fast(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

PyMethodDef functions[] = {
    {"_run_backward", fast(py_run_backward), METH_FASTCALL, nullptr},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, nullptr},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_inference_mode_enabled", is_inference, METH_NOARGS, nullptr},
    {"_enter_inference_mode", enter_inference, METH_O, nullptr},
    {"_exit_inference_mode", exit_inference, METH_O, nullptr},
    {"_set_enforce_grad_layout", set_layout_policy, METH_O, nullptr},
    {"set_anomaly_enabled", set_anomaly, METH_VARARGS, nullptr},
    {"is_anomaly_enabled", is_anomaly, METH_NOARGS, nullptr},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan, METH_NOARGS, nullptr},
    {"_queue_callback", py_queue_callback, METH_O, nullptr},
    {"_current_autograd_node", py_current_node, METH_NOARGS, nullptr},
    {"_current_graph_task_id", py_task_id, METH_NOARGS, nullptr},
    {"_is_checkpoint_valid", is_checkpoint_valid, METH_NOARGS, nullptr},
    {"_will_engine_execute_node", py_will_run, METH_O, nullptr},
    {"_gradient_edge", py_gradient_edge, METH_O, nullptr},
    {"_reaches_other_leaves", py_reaches_other_leaves, METH_VARARGS, nullptr},
    {"_increment_version", py_increment_version, METH_O, nullptr},
    {"_delayed_error", delayed_error, METH_VARARGS, nullptr},
    {"_undefined_grad", undefined_grad, METH_O, nullptr},
    {"_enter_dual_level", enter_dual, METH_NOARGS, nullptr},
    {"_exit_dual_level", exit_dual, METH_VARARGS, nullptr},
    {"_make_dual", py_make_dual, METH_VARARGS, nullptr},
    {"_unpack_dual", py_unpack_dual, METH_VARARGS, nullptr},
    {"_forward_grad", py_forward_grad, METH_O, nullptr},
    {"_is_forward_grad_enabled", forward_enabled, METH_NOARGS, nullptr},
    {"_set_forward_grad_enabled", py_set_forward_enabled, METH_O, nullptr},
    {"_set_versions", set_versions, METH_VARARGS, nullptr},
    {}};

PyMethodDef tensor_methods_here[] = {
    {"backward", fast(tensor_backward), METH_FASTCALL | METH_KEYWORDS,
     "backward($self, gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\n"
     "Add the gradients of this tensor with respect to the leaves to their ``.grad``.\n\n"
     "Args:\n"
     "    gradient (Tensor): the gradient of this tensor, of its shape; may be left out for a "
     "scalar.\n"
     "    retain_graph (bool): keep what was saved, so that backward can run again.\n"
     "    create_graph (bool): record backward itself, for higher derivatives.\n"
     "    inputs (sequence of Tensor): accumulate into these only. Default: all leaves.\n"},
    {"register_hook", py_register_hook, METH_O,
     "register_hook($self, hook, /)\n--\n\n"
     "Call ``hook(grad)`` whenever a gradient of this tensor is computed. It may return another\n"
     "gradient to use, and must not change its argument. Returns a handle with ``remove()``."},
    {"register_post_accumulate_grad_hook", py_register_accumulate_hook, METH_O,
     "register_post_accumulate_grad_hook($self, hook, /)\n--\n\n"
     "Call ``hook(param)`` after a gradient was added to ``.grad`` of this leaf. Returns a handle\n"
     "with ``remove()``."},
    {}};

}  // namespace

bool add_autograd_functions(PyObject* module) {
  capture_traceback = python_traceback;
  report_anomaly = print_anomaly;
  for (PyMethodDef* m = tensor_methods_here; m->ml_name; ++m) {
    Ref d(PyDescr_NewMethod(&tensor_base_type, m));
    if (!d || PyDict_SetItemString(tensor_base_type.tp_dict, m->ml_name, d.get()) < 0) return false;
  }
  for (PyGetSetDef* g = tensor_properties_here; g->name; ++g) {
    Ref d(PyDescr_NewGetSet(&tensor_base_type, g));
    if (!d || PyDict_SetItemString(tensor_base_type.tp_dict, g->name, d.get()) < 0) return false;
  }
  PyType_Modified(&tensor_base_type);
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace rl::py
