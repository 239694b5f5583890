// Python hooks of tensors and nodes. The hooks of one place stand in one OrderedDict, called in the
// order of registration; RemovableHandle (torch.utils.hooks) takes them out.
#include "python/autograd.h"

namespace rl::py {

HookDict::~HookDict() {
  if (!Py_IsInitialized()) return;
  GilAcquire gil;
  Py_DECREF(dict);
}

Ref HookDict::snapshot() const { return owned(PyMapping_Values(dict)); }

namespace {

std::string hook_name(PyObject* hook) {
  Ref name(PyObject_GetAttrString(hook, "__name__"));
  if (!name) PyErr_Clear();
  const char* s = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  return s ? s : "<unknown>";
}

std::string type_text(const Tensor& t) {
  std::string dtype = scalar_type_name(t.dtype());
  return "torch." + dtype + "Tensor";
}

// What a hook returned in place of `old`.
Tensor replacement(PyObject* hook, const Tensor& old, PyObject* result) {
  if (result == Py_None) {
    check(!old.defined(), "can't replace a ", "Tensor with None");
    return {};
  }
  check_type(is_tensor(result), "expected Variable, but hook returned '", Py_TYPE(result)->tp_name,
             "'");
  const Tensor& now = tensor_of(result);
  if (!old.defined()) return now;
  check(old.dtype() == now.dtype(), "hook '", hook_name(hook),
        "' has changed the type of value (was ", type_text(old), " got ", type_text(now), ")");
  check(old.device() == now.device(), "hook '", hook_name(hook), "' has changed the type of value");
  check(old.sizes() == now.sizes(), "hook '", hook_name(hook), "' has changed the size of value");
  return now;
}

void replace_all(PyObject* hook, Grads& grads, PyObject* result) {
  if (result == Py_None) return;
  check_type(PyTuple_Check(result), "expected tuple, but hook returned '",
             Py_TYPE(result)->tp_name, "'");
  size_t n = size_t(PyTuple_GET_SIZE(result));
  check(n == grads.size(), "hook '", hook_name(hook),
        "' has returned an incorrect number of values "
        "(got ",
        n, ", but expected ", grads.size(), ")");
  for (size_t i = 0; i < n; ++i)
    grads[i] = replacement(hook, grads[i], PyTuple_GET_ITEM(result, Py_ssize_t(i)));
}

struct PyGradHook final : GradHook, HookDict {
  using HookDict::HookDict;
  void* owner() const override { return dict; }
  void call(Grads& grads) override {
    GilAcquire gil;
    Ref hooks = snapshot();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(hooks.get()); ++i) {
      PyObject* hook = PyList_GET_ITEM(hooks.get(), i);
      Ref value = owned(wrap(grads[0]));
      Ref result = owned(PyObject_CallOneArg(hook, value.get()));
      if (result.get() == Py_None) continue;
      grads[0] = replacement(hook, grads[0], result.get());
    }
  }
};

struct PyPreHook final : GradHook, HookDict {
  using HookDict::HookDict;
  void* owner() const override { return dict; }
  void call(Grads& grads) override {
    GilAcquire gil;
    Ref hooks = snapshot();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(hooks.get()); ++i) {
      PyObject* hook = PyList_GET_ITEM(hooks.get(), i);
      Ref value = owned(wrap(grads));
      Ref result = owned(PyObject_CallOneArg(hook, value.get()));
      replace_all(hook, grads, result.get());
    }
  }
};

struct PyPostHook final : NodeHook, HookDict {
  using HookDict::HookDict;
  void* owner() const override { return dict; }
  void call(Grads& outputs, const Grads& inputs) override {
    GilAcquire gil;
    Ref hooks = snapshot();
    Ref in = owned(wrap(inputs));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(hooks.get()); ++i) {
      PyObject* hook = PyList_GET_ITEM(hooks.get(), i);
      Ref out = owned(wrap(outputs));
      Ref result = owned(PyObject_CallFunctionObjArgs(hook, out.get(), in.get(), nullptr));
      replace_all(hook, outputs, result.get());
    }
  }
};

struct PyAccumulateHook final : AccumulateHook, HookDict {
  using HookDict::HookDict;
  void* owner() const override { return dict; }
  void call(const Tensor& leaf) override {
    GilAcquire gil;
    Ref hooks = snapshot();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(hooks.get()); ++i) {
      Ref value = owned(wrap(leaf));
      Ref result = owned(PyObject_CallOneArg(PyList_GET_ITEM(hooks.get(), i), value.get()));
      if (result.get() == Py_None) continue;
      check_type(is_tensor(result.get()), "expected Variable, but hook returned '",
                 Py_TYPE(result.get())->tp_name, "'");
      fail("Tensor post accumulate grad hooks should return None.");
    }
  }
};

PyObject* held(const intrusive_ptr<Opaque>& p) {  // borrowed
  auto* h = dynamic_cast<PyHolder*>(p.get());
  return h ? h->object : nullptr;
}

// Is the dictionary that the tensor shows also the one its current node calls?
bool attached(const Tensor& t, PyObject* dict) {
  AutogradMeta& m = meta(t);
  if (NodePtr fn = grad_fn(t)) {
    for (auto& [nr, h] : fn->tensor_hooks)
      if (nr == m.output_nr && h->owner() == dict) return true;
    return false;
  }
  for (auto& h : m.hooks)
    if (h->owner() == dict) return true;
  return false;
}

}  // namespace

PyObject* new_hook_dict() {
  static PyObject* type = [] {
    Ref module = owned(PyImport_ImportModule("collections"));
    return owned(PyObject_GetAttrString(module.get(), "OrderedDict")).release();
  }();
  return owned(PyObject_CallNoArgs(type)).release();
}

PyObject* add_hook(PyObject* dict, PyObject* hook) {
  static PyObject* type = [] {
    Ref module = owned(PyImport_ImportModule("torch.utils.hooks"));
    return owned(PyObject_GetAttrString(module.get(), "RemovableHandle")).release();
  }();
  Ref handle = owned(PyObject_CallOneArg(type, dict));
  Ref id = owned(PyObject_GetAttrString(handle.get(), "id"));
  check_python(PyObject_SetItem(dict, id.get(), hook) == 0);
  return handle.release();
}

PyObject* tensor_register_hook(PyObject* self, PyObject* hook) {
  const Tensor& t = tensor_of(self);
  check(t->requires_grad, "cannot register a hook on a tensor that doesn't require gradient");
  AutogradMeta& m = meta(t);
  PyObject* dict = held(m.python_backward_hooks);
  if (!dict || !attached(t, dict)) {
    Ref fresh;
    if (!dict || PyObject_Size(dict) > 0) {
      fresh = owned(new_hook_dict());  // the old one belongs to what t was before it was written
      dict = fresh.get();
      m.python_backward_hooks = hold_object(dict);
    }
    register_tensor_hook(t, make_intrusive<PyGradHook>(dict));
  }
  return add_hook(dict, hook);
}

PyObject* tensor_register_accumulate_hook(PyObject* self, PyObject* hook) {
  const Tensor& t = tensor_of(self);
  check(t->requires_grad, "cannot register a hook on a tensor that doesn't require gradient");
  check(is_leaf(t), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  AutogradMeta& m = meta(t);
  PyObject* dict = held(m.python_accumulate_hooks);
  bool there = false;
  for (auto& h : m.accumulate_hooks) there |= h->owner() == dict;
  if (!dict || !there) {
    Ref fresh;
    if (!dict) {
      fresh = owned(new_hook_dict());
      dict = fresh.get();
      m.python_accumulate_hooks = hold_object(dict);
    }
    register_accumulate_hook(t, make_intrusive<PyAccumulateHook>(dict));
  }
  return add_hook(dict, hook);
}

PyObject* node_register_hook(const NodePtr& n, PyObject* hook) {
  for (auto& h : n->post_hooks)
    if (void* dict = h->owner()) return add_hook(static_cast<PyObject*>(dict), hook);
  Ref dict = owned(new_hook_dict());
  n->post_hooks.push_back(make_intrusive<PyPostHook>(dict.get()));
  return add_hook(dict.get(), hook);
}

PyObject* node_register_prehook(const NodePtr& n, PyObject* hook) {
  for (auto& h : n->pre_hooks)
    if (void* dict = h->owner()) return add_hook(static_cast<PyObject*>(dict), hook);
  Ref dict = owned(new_hook_dict());
  n->pre_hooks.push_back(make_intrusive<PyPreHook>(dict.get()));
  return add_hook(dict.get(), hook);
}

// ---- garbage collection: a tensor that only Python holds owns its hooks and, alone with it, the
// node that made it.
int visit_hooks(TensorImpl* t, visitproc visit, void* arg) {
  AutogradMeta* m = t->autograd.get();
  if (!m) return 0;
  auto visit_owner = [&](auto& h) {
    if (h->use_count() == 1 && h->owner()) Py_VISIT(static_cast<PyObject*>(h->owner()));
    return 0;
  };
  for (auto& h : m->hooks)
    if (int r = visit_owner(h)) return r;
  for (auto& h : m->accumulate_hooks)
    if (int r = visit_owner(h)) return r;
  for (auto* p : {&m->python_backward_hooks, &m->python_accumulate_hooks})
    if (*p && (*p)->use_count() == 1) Py_VISIT(held(*p));
  if (!m->grad_fn || m->grad_fn->use_count() != 1) return 0;
  for (auto& [nr, h] : m->grad_fn->tensor_hooks)
    if (int r = visit_owner(h)) return r;
  return visit_function_node(*m->grad_fn, visit, arg);
}

void clear_hooks(TensorImpl* t) {
  AutogradMeta* m = t->autograd.get();
  if (!m) return;
  auto hooks = std::move(m->hooks);
  auto accumulate = std::move(m->accumulate_hooks);
  auto a = std::move(m->python_backward_hooks), b = std::move(m->python_accumulate_hooks);
  if (m->grad_fn && m->grad_fn->use_count() == 1) {
    auto node_hooks = std::move(m->grad_fn->tensor_hooks);
    NodePtr fn = std::move(m->grad_fn);
    t->requires_grad = false;
  }
}

}  // namespace rl::py
