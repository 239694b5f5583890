// Forward mode from the gradient formulas. An operator's vector-Jacobian product vjp(u) is linear
// in the cotangent u, so the derivative of <vjp(u), v> by u is the Jacobian applied to v, whatever
// u is. That is two reverse passes over one node, and holds for every operator with a formula.
#include "autograd/forward_mode.h"

#include <string>

#include "autograd/engine_ops.h"

namespace rl {

namespace {

struct DualLevel {
  bool active = false, enabled = true;
  uint64_t epoch = 0;
  std::vector<NodePtr> nodes;  // those that keep tangents, until the level ends
};
thread_local DualLevel dual;
std::atomic<uint64_t> next_epoch{1};

// ---- tensors among boxed arguments
template <class F>
void each_tensor(Stack& stack, F&& f) {
  for (IValue& v : stack) {
    if (v.is_tensor()) f(v.tensor());
    else if (v.is_tensor_list())
      for (Tensor& t : std::get<std::vector<Tensor>>(v.v)) f(t);
    else if (auto* list = std::get_if<std::vector<IValue>>(&v.v))
      for (IValue& x : *list)
        if (x.is_tensor()) f(x.tensor());
  }
}

bool any_tangent(Stack& stack) {
  bool found = false;
  each_tensor(stack, [&](Tensor& t) {
    found |= t.defined() && t->has_forward_grad && forward_grad(t).defined();
  });
  return found;
}

// Where an argument enters the inner graph. With an edge the outer graph goes on below it.
struct DualInput final : Node {
  std::string name() const override { return "DualInputBackward"; }
  Grads apply(Grads&& grads) override {
    grads.resize(edges.size());
    return std::move(grads);
  }
};

void attach(const Tensor& t, const Tensor& tangent) {
  AutogradMeta& m = meta(t);
  m.forward_grad = tangent;
  m.forward_epoch = dual.epoch;
  t->has_forward_grad = true;
}

Tensor enter(const Tensor& t, bool outer) {
  Tensor x = detached(t);
  auto node = make_intrusive<DualInput>();
  if (outer) add_edges(*node, t);
  else node->edges.emplace_back();
  set_history(x, node);
  return x;
}

// ---- one operator
struct Jvp {
  bool outer;                        // the results stay part of a reverse graph
  std::vector<Tensor> inputs, originals, tangents;

  explicit Jvp(Stack& stack) {
    outer = false;
    each_tensor(stack, [&](Tensor& t) {
      if (t.defined()) outer |= tls.grad_mode && t->requires_grad;
    });
  }

  void replace_inputs(Stack& stack) {
    each_tensor(stack, [&](Tensor& t) {
      if (!t.defined()) return;
      Tensor v = t->has_forward_grad ? forward_grad(t) : Tensor();
      if (!v.defined()) {
        if (!outer && t->requires_grad) t = detached(t);
        return;
      }
      Tensor x = enter(t, outer);
      if (outer) attach(x, v);  // backward under this level finds it in what nodes saved
      inputs.push_back(x);
      originals.push_back(t);
      tangents.push_back(std::move(v));
      t = std::move(x);
    });
  }

  std::vector<Tensor> push_forward(const std::vector<Tensor>& ys) const {
    std::vector<Tensor> roots, us;
    std::vector<size_t> at;
    for (size_t i = 0; i < ys.size(); ++i) {
      if (!ys[i].defined() || !ys[i]->requires_grad) continue;
      Tensor u = engine_ops::zeros_like(ys[i]);
      set_requires_grad(u, true);
      roots.push_back(ys[i]);
      us.push_back(u);
      at.push_back(i);
    }
    std::vector<Tensor> out(ys.size());
    if (roots.empty()) return out;
    auto gs = run_backward(roots, us, inputs, {true, true, false, true});
    std::vector<Tensor> with_u, vs;
    for (size_t j = 0; j < gs.size(); ++j) {
      if (!gs[j].defined() || !gs[j]->requires_grad) continue;
      with_u.push_back(gs[j]);
      vs.push_back(engine_ops::to_dtype(tangents[j], gs[j].dtype()));
    }
    std::vector<Tensor> jv(us.size());
    if (!with_u.empty()) jv = run_backward(with_u, vs, us, {outer, outer, false, true});
    for (size_t i = 0; i < jv.size(); ++i) {
      if (!jv[i].defined()) jv[i] = engine_ops::zeros_like(ys[at[i]]);  // a constant result
      out[at[i]] = outer ? jv[i] : detached(jv[i]);
      // An in-place operator writes the tangent of what it writes: it must not be that of an input.
      for (const Tensor& v : tangents)
        if (v.storage() == jv[i].storage()) {
          out[at[i]] = engine_ops::zeros_like(jv[i]);
          engine_ops::copy_into(out[at[i]], jv[i]);
          break;
        }
    }
    return out;
  }

  Tensor leave(const Tensor& y) const {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (y.is_same(inputs[i])) return originals[i];
    return outer || !y.defined() || !y->requires_grad ? y : detached(y);
  }
};

void call_general(const OpInfo& op, Stack& stack) {
  Jvp jvp(stack);
  jvp.replace_inputs(stack);
  std::vector<Tensor> ys, jv;
  {
    GradMode grad(true);
    op.boxed(stack);
    each_tensor(stack, [&](Tensor& t) { ys.push_back(t); });
    jv = jvp.push_forward(ys);
  }
  size_t i = 0;
  each_tensor(stack, [&](Tensor& t) {
    t = jvp.leave(t);
    if (jv[i].defined()) set_forward_grad(t, jv[i]);
    ++i;
  });
}

// The same view of the tangent: tangents have the geometry of their primals.
void call_view(const OpInfo& op, Stack& stack) {
  Stack of_tangent = stack;
  Tensor v = forward_grad(stack[0].tensor());
  op.boxed(stack);
  if (!v.defined() || std::string_view(op.name) == "detach") return;
  of_tangent[0] = IValue(v);
  op.boxed(of_tangent);
  std::vector<Tensor> tangents;
  each_tensor(of_tangent, [&](Tensor& t) { tangents.push_back(t); });
  size_t i = 0;
  each_tensor(stack, [&](Tensor& t) {
    if (i < tangents.size()) set_forward_grad(t, tangents[i++]);
  });
}

// ---- in place
// Memory of the tangent of self, which is part of the tangent of what self is a view of.
Tensor tangent_storage(const Tensor& self) {
  Tensor have = forward_grad(self);
  if (have.defined()) return have;
  AutogradMeta* m = meta_or_null(self);
  if (!m || !m->view || m->view->replay) return {};
  const Tensor& base = m->view->base;
  Tensor whole = forward_grad(base);
  if (!whole.defined()) {
    whole = engine_ops::zeros_strided(base);
    set_forward_grad(base, whole);
  }
  Tensor part = engine_ops::as_strided(whole, self.sizes(), self.strides(),
                                       whole.offset() + self.offset() - base.offset());
  set_forward_grad(self, part);
  return part;
}

const OpInfo& functional_of(const OpInfo& op) {
  std::string name(op.name);
  if (!name.empty() && name.back() == '_') name.pop_back();
  if (name == "_index_put_impl") name = "index_put";
  const OpInfo* f = find_op(name, op.overload);
  if (!f)
    for (const OpInfo* o : find_overloads(name))
      if (o->num_args == op.num_args) f = o;
  check_implemented(f, "Trying to use forward AD with ", op.name,
                    " that does not support it because it has not been implemented yet.");
  return *f;
}

bool overwrites(const OpInfo& op) {  // with something that has no tangent
  const std::string_view name(op.name);
  return name == "zero_" || (name == "fill_" && std::string_view(op.overload) == "Scalar");
}

void call_inplace(const OpInfo& op, Stack& stack) {
  Tensor self = stack[0].tensor();
  Tensor next;
  if (std::string_view(op.name) == "detach_") {
    op.boxed(stack);
    return;
  }
  if (std::string_view(op.name) == "copy_") {
    next = stack[1].is_tensor() ? forward_grad(stack[1].tensor()) : Tensor();
  } else if (!overwrites(op) && !op.random) {
    const OpInfo& f = functional_of(op);
    Stack copy(stack.begin(), stack.begin() + std::min<size_t>(stack.size(), f.num_args));
    Jvp jvp(copy);
    jvp.replace_inputs(copy);
    GradMode grad(true);
    f.boxed(copy);
    next = jvp.push_forward({copy[0].tensor()})[0];
  }
  op.boxed(stack);
  Tensor storage = tangent_storage(self);
  if (!storage.defined()) {
    if (!next.defined()) return;
    storage = engine_ops::zeros_strided(self);
    set_forward_grad(self, storage);
  }
  if (next.defined()) engine_ops::copy_into(storage, next);
  else engine_ops::zero_into(storage);
}

class ForwardMode final : public Mode {
 public:
  void call(const OpInfo& op, Stack& stack) override {
    if (!dual.enabled || !any_tangent(stack)) {
      op.boxed(stack);
      return;
    }
    std::string_view overload(op.overload), name(op.name);
    bool out = overload == "out" || name.ends_with("_out") || overload.ends_with("_out");
    check_implemented(!out, "Trying to use forward AD with ", op.name, name.ends_with("out") ? "" :
                      "_out", " that does not support it because it is an out= function");
    if (op.inplace) call_inplace(op, stack);
    else if (op.view && stack[0].is_tensor()) call_view(op, stack);
    else call_general(op, stack);
  }
};

}  // namespace

// ---- levels
bool forward_mode_active() { return dual.active && dual.enabled; }
bool forward_grad_enabled() { return dual.enabled; }
void set_forward_grad_enabled(bool on) { dual.enabled = on; }

int64_t enter_dual_level() {
  check(!dual.active, "Nested forward mode AD is not supported at the moment");
  dual.active = true;
  dual.epoch = next_epoch++;
  push_mode(make_intrusive<ForwardMode>());
  return 0;
}

void exit_dual_level(int64_t level) {
  check(dual.active && level == 0,
        "Trying to exit a forward AD level that was not the last one that was created.");
  std::vector<intrusive_ptr<Mode>> above;  // modes entered since stay
  while (mode_depth()) {
    auto m = pop_mode();
    if (dynamic_cast<ForwardMode*>(m.get())) break;
    above.push_back(std::move(m));
  }
  while (!above.empty()) {
    push_mode(std::move(above.back()));
    above.pop_back();
  }
  dual.active = false;
  for (auto& n : dual.nodes) n->tangents.reset();
  dual.nodes.clear();
}

ForwardGradOff::ForwardGradOff() : saved_(std::exchange(dual.enabled, false)) {}
ForwardGradOff::~ForwardGradOff() { dual.enabled = saved_; }

// ---- tangents of tensors
Tensor forward_grad(const Tensor& t) {
  if (!t->has_forward_grad) return {};
  const AutogradMeta* m = meta_or_null(t);
  return m && dual.active && m->forward_epoch == dual.epoch ? m->forward_grad : Tensor();
}

static Tensor in_geometry_of(const Tensor& t, const Tensor& tangent) {
  if (tangent->strides == t->strides || t->kind != ImplKind::Strided) return tangent;
  if (!is_non_overlapping_and_dense(t->sizes, t->strides)) return tangent;
  Tensor copy = engine_ops::zeros_strided(t);
  if (tangent.dtype() != t.dtype()) copy = engine_ops::to_dtype(copy, tangent.dtype());
  engine_ops::copy_into(copy, tangent);
  return copy;
}

void set_forward_grad(const Tensor& t, const Tensor& tangent) {
  check(tangent.sizes() == t.sizes(),
        "Trying to set a forward gradient that has a different size than that of the original "
        "Tensor, this is not supported. Tensor is of size ", t.sizes(),
        " while the given forward gradient is of size ", tangent.sizes(), ".");
  attach(t, in_geometry_of(t, tangent));
  AutogradMeta& m = meta(t);
  if (!m.grad_fn) return;
  Node& n = *m.grad_fn;
  if (!n.tangents) {
    n.tangents = std::make_unique<Grads>();
    dual.nodes.push_back(m.grad_fn);
  }
  if (n.tangents->size() <= m.output_nr) n.tangents->resize(m.output_nr + 1);
  (*n.tangents)[m.output_nr] = m.forward_grad;
}

Tensor with_node_tangent(const Tensor& t, const Node& owner, uint32_t output_nr) {
  if (!owner.tangents || owner.tangents->size() <= output_nr) return t;
  const Tensor& v = (*owner.tangents)[output_nr];
  if (!v.defined()) return t;
  Tensor out = t->requires_grad ? t : detached(t);
  attach(out, v);
  return out;
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t level) {
  check(dual.active, "Trying to create a dual Tensor for forward AD but no level exists, make sure "
        "to enter_dual_level() first.");
  check(!forward_grad(primal).defined(),
        "Making a dual Tensor based on a Tensor that already has a "
        "forward gradient at the same level ",
        level, " is not supported.");
  Tensor t = engine_ops::view_as_self(primal);
  set_forward_grad(t, tangent);
  return t;
}

std::pair<Tensor, Tensor> unpack_dual(const Tensor& t, int64_t) {
  Tensor v = forward_grad(t);
  ForwardGradOff off;
  return {engine_ops::view_as_self(t), v};
}

}  // namespace rl
