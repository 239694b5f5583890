// MyFunction.apply(*args): runs forward without recording, then makes its tensors the outputs of a
// node. Returned inputs become views of themselves; inputs marked dirty get a new history.
#include "python/autograd_function.h"

#include <unordered_set>

#include "autograd/forward_mode.h"

namespace rl::py {

namespace {

struct Call {
  Ref ctx;
  Ref args;                                // tuple: forward's arguments
  std::vector<Tensor> inputs;              // those that are tensors
  intrusive_ptr<PyFunctionNode> node;      // null: nothing to record
  std::unordered_set<const TensorImpl*> dirty, non_differentiable;
  bool any_tangent = false;
};

Ref attribute(PyObject* o, PyObject* name) { return owned(PyObject_GetAttr(o, name)); }

// Keyword arguments take their positions in forward's signature.
Ref bind_keywords(PyObject* cls, PyObject* args, PyObject* kwargs) {
  Ref module = owned(PyImport_ImportModule("torch.autograd.function"));
  return owned(PyObject_CallMethod(module.get(), "_bind_keywords", "OOO", cls, args,
                                   kwargs ? kwargs : Py_None));
}

bool lacks_defaults(PyObject* cls, PyObject* args) {
  static PyObject* flag_name = interned("_has_setup_context");
  static PyObject* arity_name = interned("_setup_arity");
  if (attribute(cls, flag_name).get() != Py_True) return false;
  return PyTuple_GET_SIZE(args) < PyLong_AsSsize_t(attribute(cls, arity_name).get());
}

void scan_inputs(Call& c) {
  Py_ssize_t n = PyTuple_GET_SIZE(c.args.get());
  Ref needs = owned(PyTuple_New(n));
  bool any = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* x = PyTuple_GET_ITEM(c.args.get(), i);
    bool need = false;
    if (is_tensor(x)) {
      const Tensor& t = tensor_of(x);
      need = t->requires_grad;
      c.any_tangent |= t->has_forward_grad;
      c.inputs.push_back(t);
    }
    any |= need;
    PyTuple_SET_ITEM(needs.get(), i, PyBool_FromLong(need));
  }
  FunctionObject* ctx = function_cast(c.ctx.get());
  ctx->needs_input_grad = needs.release();
  if (!any || !tls.grad_mode) return;
  c.node = make_intrusive<PyFunctionNode>(c.ctx.get());
  c.node->edges.reserve(c.inputs.size());
  for (const Tensor& t : c.inputs) add_edges(*c.node, t);
  for (Py_ssize_t i = 0; i < n; ++i)
    c.node->tensor_input.push_back(is_tensor(PyTuple_GET_ITEM(c.args.get(), i)));
}

// forward(ctx, *args); or forward(*args) and setup_context(ctx, args, output).
Ref run_forward(PyObject* cls, Call& c) {
  static PyObject* forward_name = interned("forward");
  static PyObject* setup_name = interned("setup_context");
  static PyObject* flag_name = interned("_has_setup_context");
  NoGrad no_grad;
  ForwardGradOff no_tangents;
  Ref forward = attribute(cls, forward_name);
  Ref flag = attribute(cls, flag_name);
  Py_ssize_t n = PyTuple_GET_SIZE(c.args.get());
  if (flag.get() == Py_True) {
    Ref out = owned(PyObject_Call(forward.get(), c.args.get(), nullptr));
    Ref setup = attribute(cls, setup_name);
    owned(PyObject_CallFunctionObjArgs(setup.get(), c.ctx.get(), c.args.get(), out.get(), nullptr));
    return out;
  }
  std::vector<PyObject*> argv;
  argv.reserve(size_t(n) + 2);
  argv.push_back(nullptr);
  argv.push_back(c.ctx.get());
  for (Py_ssize_t i = 0; i < n; ++i) argv.push_back(PyTuple_GET_ITEM(c.args.get(), i));
  return owned(PyObject_Vectorcall(forward.get(), argv.data() + 1,
                                   size_t(n + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

void collect(PyObject* tuple, const char* what, std::unordered_set<const TensorImpl*>& out) {
  if (!tuple) return;
  check(PyTuple_Check(tuple), "autograd internal error: ", what,
        " attribute is expected to be a tuple but is ", Py_TYPE(tuple)->tp_name);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject* x = PyTuple_GET_ITEM(tuple, i);
    check_type(is_tensor(x), what, " can only accept variables, but argument ", i, " is of type ",
               Py_TYPE(x)->tp_name);
    out.insert(tensor_of(x).impl());
  }
}

bool is_input(const Call& c, const Tensor& t) {
  for (const Tensor& x : c.inputs)
    if (x.is_same(t)) return true;
  return false;
}

// A dirty input: its history is rewritten.
void rewrite(Call& c, const Tensor& t, size_t tensors_out) {
  if (!c.node) return;
  check(!(t->requires_grad && is_leaf(t)),
        "a leaf Variable that requires grad has been used in an in-place operation.");
  if (is_view(t)) {
    check(
        tensors_out <= 1,
        "If your Function modifies inplace an input that is a view of another Tensor, your "
        "Function "
        "cannot return more than one Tensor. This is not supported by the current autograd engine. "
        "You should either make sure the input is not a view (using .clone() for example) or make "
        "your Function only return one Tensor (potentially splitting it into two Functions: one "
        "doing the inplace that returns a single Tensor and a second one that does the other "
        "operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do "
        "this change.");
    check_inplace(t, true);
  }
  rebase_history(t, c.node);
}

Tensor process_output(Call& c, const Tensor& t, size_t tensors_out) {
  bool dirty = c.dirty.count(t.impl()) > 0;
  bool differentiable = !c.non_differentiable.count(t.impl()) && is_differentiable(t.dtype());
  bool input = is_input(c, t);
  if (dirty && differentiable) {
    rewrite(c, t, tensors_out);
    return t;
  }
  if (!differentiable && c.node) c.node->outputs.emplace_back();
  if ((!differentiable || !c.node) && t->requires_grad && !dirty) return detached(t);
  Tensor out = t;
  if (input && !dirty) {
    NoGrad no_grad;
    out = alias_as_view(t);
  }
  if (!differentiable || !c.node) return out;
  set_history(out, c.node);
  if (AutogradMeta* m = meta_or_null(out); m && m->view) {
    m->view->custom_function = true;
    m->view->made_in_no_grad = false;
    m->view->multi_output = tensors_out > 1;
    m->view->attr_version = out.version();
  }
  return out;
}

Ref process_outputs(Call& c, PyObject* raw) {
  FunctionObject* ctx = function_cast(c.ctx.get());
  collect(ctx->dirty, "mark_dirty", c.dirty);
  collect(ctx->non_differentiable, "mark_non_differentiable", c.non_differentiable);
  bool single = !PyTuple_Check(raw);
  Ref tuple = single ? owned(PyTuple_Pack(1, raw)) : Ref::borrow(raw);
  Py_ssize_t n = PyTuple_GET_SIZE(tuple.get());
  size_t tensors_out = 0, dirty_found = 0;
  std::unordered_set<const TensorImpl*> seen;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* x = PyTuple_GET_ITEM(tuple.get(), i);
    if (!is_tensor(x)) continue;
    const TensorImpl* p = tensor_of(x).impl();
    tensors_out += !c.non_differentiable.count(p) && is_differentiable(p->dtype);
    if (c.dirty.count(p) && seen.insert(p).second) ++dirty_found;
  }
  check(dirty_found == c.dirty.size(),
        "Some elements marked as dirty during the forward method were not returned as output. The "
        "inputs that are modified inplace must all be outputs of the Function.");
  Ref out = owned(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* x = PyTuple_GET_ITEM(tuple.get(), i);
    if (!is_tensor(x)) {
      if (c.node) {
        c.node->results.emplace_back();
        c.node->outputs.emplace_back();
      }
      PyTuple_SET_ITEM(out.get(), i, new_ref(x));
      continue;
    }
    Tensor t = tensor_of(x);
    if (c.node) c.node->results.push_back({true, t->sizes, t.dtype(), t.device()});
    PyTuple_SET_ITEM(out.get(), i, owned(wrap(process_output(c, t, tensors_out))).release());
  }
  if (single) return Ref::borrow(PyTuple_GET_ITEM(out.get(), 0));
  return out;
}

// ctx.set_output_grad_dtype(...): what dtype backward is to get each gradient in.
void declare_grad_dtypes(Call& c) {
  PyObject* list = function_cast(c.ctx.get())->output_grad_dtypes;
  if (!list || !c.node) return;
  size_t n = c.node->results.size(), got = size_t(PyTuple_GET_SIZE(list));
  check(n == got,
        "set_output_grad_dtype expected the number of declarations to match the number of "
        "outputs: the Function returned ",
        n, " values but ", got, " declarations were provided");
  for (size_t i = 0; i < n; ++i) {
    PyObject* d = PyTuple_GET_ITEM(list, Py_ssize_t(i));
    DType dtype = d == Py_None ? DType::Undefined : to_dtype(d);
    if (c.node->results[i].tensor) c.node->outputs[i].dtype = dtype;
    if (dtype != DType::Undefined) c.node->results[i].dtype = dtype;
  }
}

void save_tensors(Call& c) {
  FunctionObject* ctx = function_cast(c.ctx.get());
  PyObject* list = ctx->to_save;
  if (!list) return;
  check(PyTuple_Check(list), "autograd internal error: to_save attribute is expected to be a tuple "
        "but is ", Py_TYPE(list)->tp_name);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); ++i) {
    PyObject* x = PyTuple_GET_ITEM(list, i);
    check_type(x == Py_None || is_tensor(x),
               "save_for_backward can only save variables, but argument ", i, " is of type ",
               Py_TYPE(x)->tp_name);
    if (!c.node) continue;
    if (x == Py_None) {
      c.node->saved.emplace_back();
      continue;
    }
    const Tensor& t = tensor_of(x);
    const AutogradMeta* m = meta_or_null(t);
    c.node->saved.emplace_back(t, m && m->grad_fn.get() == c.node.get());
  }
  Py_CLEAR(ctx->to_save);
}

// Forward mode: the tangents of the outputs come from the Function's own jvp.
void run_jvp(PyObject* cls, Call& c, PyObject* outputs) {
  static PyObject* jvp_name = interned("jvp");
  Py_ssize_t n = PyTuple_GET_SIZE(c.args.get());
  std::vector<Ref> owners;
  std::vector<PyObject*> argv{c.ctx.get()};
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* x = PyTuple_GET_ITEM(c.args.get(), i);
    Tensor tangent = is_tensor(x) ? forward_grad(tensor_of(x)) : Tensor();
    owners.push_back(owned(wrap(tangent)));
    argv.push_back(owners.back().get());
  }
  FunctionObject* ctx = function_cast(c.ctx.get());
  struct InJvp {
    FunctionObject* o;
    explicit InJvp(FunctionObject* o) : o(o) { o->in_jvp = true; }
    ~InJvp() { o->in_jvp = false; }
  } in_jvp(ctx);
  Ref f = attribute(cls, jvp_name);
  Ref result = owned(PyObject_Vectorcall(f.get(), argv.data(), argv.size(), nullptr));
  Ref tangents =
      PyTuple_Check(result.get()) ? result : owned(PyTuple_Pack(1, result.get()));
  Ref outs = PyTuple_Check(outputs) ? Ref::borrow(outputs) : owned(PyTuple_Pack(1, outputs));
  Py_ssize_t want = PyTuple_GET_SIZE(outs.get()), got = PyTuple_GET_SIZE(tangents.get());
  check(got == want, "Function's jvp returned an invalid number of forward gradients (expected ",
        want, " but got ", got, ")");
  for (Py_ssize_t i = 0; i < want; ++i) {
    PyObject* t = PyTuple_GET_ITEM(tangents.get(), i);
    PyObject* o = PyTuple_GET_ITEM(outs.get(), i);
    check(t == Py_None || is_tensor(t), "expected Variable or None (got ", Py_TYPE(t)->tp_name,
          ") for grad output ", i, ".");
    if (t != Py_None && is_tensor(o)) set_forward_grad(tensor_of(o), tensor_of(t));
  }
}

}  // namespace

PyObject* function_apply(PyObject* cls, PyObject* args, PyObject* kwargs) {
  static PyObject* backward_name = interned("_backward_cls");
  return guarded([&]() -> PyObject* {
    Call c;
    Ref backward_cls = attribute(cls, backward_name);
    auto* type = reinterpret_cast<PyTypeObject*>(backward_cls.get());
    check_type(PyType_Check(backward_cls.get()) && PyType_IsSubtype(type, &function_base_type),
               "_backward_cls must be a subclass of torch._C._FunctionBase");
    c.ctx = owned(type->tp_new(type, args, nullptr));
    bool keywords = kwargs && PyDict_GET_SIZE(kwargs);
    c.args = keywords || lacks_defaults(cls, args) ? bind_keywords(cls, args, kwargs)
                                                   : Ref::borrow(args);
    scan_inputs(c);
    Ref raw = run_forward(cls, c);
    Ref out = process_outputs(c, raw.get());
    declare_grad_dtypes(c);
    save_tensors(c);
    if (c.any_tangent) run_jvp(cls, c, out.get());
    return out.release();
  });
}

}  // namespace rl::py
