// Nodes, edges and what autograd attaches to a tensor. Here: life times, linking results to the
// graph, requires_grad. The engine is in engine.cpp, in-place and view rules in views.cpp.
#include "autograd/node.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/engine_ops.h"

namespace rl {

AnomalyMode anomaly_mode;
intrusive_ptr<Opaque> (*capture_traceback)() = nullptr;
void (*report_anomaly)(const Node&) = nullptr;

namespace {
thread_local constinit uint64_t next_sequence_nr = 0;
// Nodes whose last reference went while another node was being destroyed on this thread.
thread_local constinit Node* dead_nodes = nullptr;
thread_local constinit bool draining = false;
}  // namespace

Node::Node() : sequence_nr(next_sequence_nr++) {
  if (anomaly_mode.enabled.load(std::memory_order_relaxed) && capture_traceback) [[unlikely]]
    metadata = capture_traceback();
}

Node::~Node() = default;
uint64_t peek_sequence_nr() { return next_sequence_nr; }

void Node::last_release() {
  if (draining) {
    next_dead = dead_nodes;
    dead_nodes = this;
    return;
  }
  draining = true;
  delete this;
  while (Node* n = dead_nodes) {
    dead_nodes = n->next_dead;
    delete n;
  }
  draining = false;
}

std::string qualified_name(const Node& n) {
  std::string s = n.name();
  const bool own =
      s == "AccumulateGrad" || s == "CopySlices" || s == "CopyBackwards" || s == "Error";
  return own ? "torch::autograd::" + s : s;
}

std::string short_name(const Node& n) {
  std::string s = qualified_name(n);
  size_t digits = s.size();
  while (digits && s[digits - 1] >= '0' && s[digits - 1] <= '9') --digits;
  constexpr std::string_view suffix = "Backward";
  if (digits <= suffix.size() ||
      std::string_view(s).substr(digits - suffix.size(), suffix.size()) != suffix)
    return s;
  std::string number = s.substr(digits);
  return s.substr(0, digits - suffix.size()) + (number == "0" ? "" : number);
}

// ---- what hangs on a tensor
void destroy(AutogradMeta* m) noexcept { delete m; }

AutogradMeta::~AutogradMeta() {
  if (!retain) return;
  retain->lock.lock();
  retain->target = nullptr;
  retain->lock.unlock();
}

AutogradMeta& meta(const Tensor& t) {
  auto& m = t->autograd;
  if (!m) m.reset(new AutogradMeta);
  return *m;
}

void RetainHook::call(Grads& grads) {
  const Tensor& g = grads[0];
  if (!g.defined()) return;
  Tensor old;
  {
    std::lock_guard guard(lock);
    if (!target) return;
    old = target->grad;
  }
  Tensor next = old.defined() ? engine_ops::add(old, g) : engine_ops::clone_contiguous(g);
  std::lock_guard guard(lock);
  if (target) std::swap(target->grad, next);
}

// ---- edges
namespace {
// Its count may already be 0 on another thread that is about to clear the pointer.
NodePtr living(const AutogradMeta& m) {
  return m.accumulator && m.accumulator->use_count() > 0 ? NodePtr(m.accumulator) : NodePtr();
}

NodePtr accumulator_of(const Tensor& leaf) {
  AutogradMeta& m = meta(leaf);
  {
    std::lock_guard guard(m.lock);
    if (NodePtr n = living(m)) return n;
  }
  NodePtr fresh = make_intrusive<AccumulateGrad>(leaf);  // may call the front end: no lock held
  std::lock_guard guard(m.lock);
  if (NodePtr n = living(m)) return n;
  m.accumulator = fresh.get();
  return fresh;
}
}  // namespace

Edge gradient_edge(const Tensor& t) {
  if (!t->requires_grad) return {};
  if (NodePtr fn = grad_fn(t)) return {std::move(fn), t->autograd->output_nr};
  // The flag of a view can be its base's only: no gradient arrives at such a view.
  if (const AutogradMeta* m = meta_or_null(t); m && m->view && !m->view->own_flag) return {};
  return {accumulator_of(t), 0};
}

void add_edges(Node& n, const Tensor& t) {
  if (!t.defined() || !t->requires_grad) {
    n.edges.emplace_back();
    return;
  }
  Edge e = gradient_edge(t);
  if (e.node) n.topological_nr = std::max(n.topological_nr, e.node->topological_nr + 1);
  n.edges.push_back(std::move(e));
}

void add_edges(Node& n, TensorList l) {
  for (const Tensor& t : l) add_edges(n, t);
}

bool reaches_other_leaves(const Tensor& t, TensorList own) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  Edge root = gradient_edge(t);
  if (root.node) stack.push_back(root.node.get());
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    if (!seen.insert(n).second) continue;
    if (n->accumulates) {
      const Tensor& leaf = static_cast<const AccumulateGrad*>(n)->variable;
      if (std::none_of(own.begin(), own.end(), [&](auto& o) { return o.is_same(leaf); }))
        return true;
    }
    for (const Edge& e : n->edges)
      if (e.node) stack.push_back(e.node.get());
  }
  return false;
}

// ---- linking results
namespace {
uint32_t add_output(Node& n, const Tensor& t) {
  n.outputs.push_back({t->sizes, t.dtype(), t.device()});
  return uint32_t(n.outputs.size() - 1);
}
}  // namespace

void set_edge(const Tensor& t, NodePtr node, uint32_t output_nr);  // views.cpp

void set_history(const Tensor& result, const NodePtr& node) {
  if (!result.defined() || !is_differentiable(result.dtype())) {
    node->outputs.emplace_back();  // keeps the numbers of the outputs after it
    return;
  }
  uint32_t nr = add_output(*node, result);
  AutogradMeta& m = meta(result);
  m.grad_fn = node;
  m.output_nr = nr;
  result->requires_grad = true;
}

void set_history(TensorList results, const NodePtr& node) {
  for (const Tensor& t : results) set_history(t, node);
}

void rebase_history(const Tensor& self, const NodePtr& node) {
  if (!is_differentiable(self.dtype())) return;
  uint32_t nr = add_output(*node, self);
  set_edge(self, node, nr);
}

bool is_leaf(const Tensor& t) {
  const AutogradMeta* m = meta_or_null(t);
  return !m || !(m->view ? grad_fn(t) : m->grad_fn);
}

bool is_view(const Tensor& t) {
  const AutogradMeta* m = meta_or_null(t);
  return m && m->view;
}

void flag_views(const Tensor& base);  // views.cpp

void set_requires_grad(const Tensor& t, bool on) {
  check(!(on && t->inference && !tls.inference_mode),
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  check(!on || is_differentiable(t.dtype()),
        "only Tensors of floating point and complex dtype can require gradients");
  if (!is_leaf(t)) {
    check(
        on,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use var_no_grad = "
        "var.detach().");
    return;
  }
  if (AutogradMeta* m = meta_or_null(t); m && m->view) m->view->own_flag = on;
  if (t->requires_grad == on) return;
  meta(t);  // so that threads which share a leaf never race to make it
  t->requires_grad = on;
  if (on) flag_views(t);
}

Tensor detached(const Tensor& t) {
  if (t->dispatches) [[unlikely]] return engine_ops::detach(t);  // its class makes the alias
  return alias(t);
}

void detach_inplace(const Tensor& t) {
  AutogradMeta* m = meta_or_null(t);
  if (!m) {
    t->requires_grad = false;
    return;
  }
  check(!m->view,
        "Can't detach views in-place. Use detach() instead. If you are using "
        "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
        "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
        "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
        "torch/optim/optimizer.py as the solution.");
  m->grad_fn.reset();
  m->output_nr = 0;
  m->retain.reset();
  m->retains_grad = false;
  m->forward_grad.reset();
  t->has_forward_grad = false;
  t->requires_grad = false;
}

// ---- hooks
void register_tensor_hook(const Tensor& t, intrusive_ptr<GradHook> hook) {
  check(t->requires_grad, "cannot register a hook on a tensor that doesn't require gradient");
  if (NodePtr fn = grad_fn(t))
    fn->tensor_hooks.emplace_back(t->autograd->output_nr, std::move(hook));
  else
    meta(t).hooks.push_back(std::move(hook));
}

void register_accumulate_hook(const Tensor& t, intrusive_ptr<AccumulateHook> hook) {
  check(t->requires_grad, "cannot register a hook on a tensor that doesn't require gradient");
  check(is_leaf(t), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  meta(t).accumulate_hooks.push_back(std::move(hook));
}

void retain_grad(const Tensor& t) {
  check(t->requires_grad, "can't retain_grad on Tensor that has requires_grad=False");
  AutogradMeta& m = meta(t);
  if (!m.grad_fn || m.retains_grad) return;
  NodePtr fn = grad_fn(t);
  m.retain = make_intrusive<RetainHook>(&m);
  m.retains_grad = true;
  fn->retain_hooks.emplace_back(m.output_nr, m.retain);
}

static std::string lower_first(DType d) {
  std::string s = scalar_type_name(d);
  if (!s.empty() && s[0] >= 'A' && s[0] <= 'Z') s[0] = char(s[0] + 'a' - 'A');
  return s;
}

DType grad_dtype(const Tensor& t) {
  const AutogradMeta* m = meta_or_null(t);
  if (m && m->grad_fn) return m->grad_fn->outputs[m->output_nr].dtype;
  if (!m || (!m->any_grad_dtype && m->grad_dtype == DType::Undefined)) return t.dtype();
  return m->grad_dtype;
}

void set_grad_dtype(const Tensor& t, std::optional<DType> dtype) {
  check(is_leaf(t), "grad_dtype can only be set on leaf tensors.");
  AutogradMeta& m = meta(t);
  if (dtype && m.grad.defined() && m.grad.dtype() != *dtype)
    fail(
        "Cannot set grad_dtype to '", *dtype, "' because there is already a gradient with dtype '",
        lower_first(m.grad.dtype()),
        "'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new "
        "grad_dtype matches the existing gradient's dtype.");
  m.any_grad_dtype = !dtype;
  m.grad_dtype = dtype.value_or(DType::Undefined);
  std::lock_guard guard(m.lock);
  if (m.accumulator) m.accumulator->outputs[0].dtype = m.grad_dtype;
}

void set_grad(const Tensor& t, const Tensor& grad) {
  if (!grad.defined()) {
    if (AutogradMeta* m = meta_or_null(t)) m->grad.reset();
    return;
  }
  check(!grad.is_same(t), "can't assign Variable as its own grad");
  AutogradMeta& m = meta(t);
  DType want = m.grad_dtype == DType::Undefined ? t.dtype() : m.grad_dtype;
  if (!m.any_grad_dtype && grad.dtype() != want) {
    fail("attempting to assign a gradient with dtype '", lower_first(grad.dtype()),
         "' to a tensor with grad_dtype '", want,
         "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You "
         "can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any "
         "dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient "
         "may break downstream systems that assume they match.");
  }
  check(grad.device().type == t.device().type, "attempting to assign a gradient with device type '",
        device_type_name(grad.device().type), "' to a tensor with device type '",
        device_type_name(t.device().type),
        "'. Please ensure that the gradient and the tensor are on the same device");
  check(grad.sizes() == t.sizes(), "attempting to assign a gradient of size '", grad.sizes(),
        "' to a tensor of size '", t.sizes(),
        "'. Please ensure that the gradient and the tensor are the same size");
  m.grad = grad;
}

}  // namespace rl
