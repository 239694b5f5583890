// SavedTensor: what a node keeps for its backward, with the version check and the hooks of
// torch.autograd.graph.saved_tensors_hooks.
#include "autograd/forward_mode.h"
#include "autograd/node.h"

namespace rl {

namespace {
struct HookStack {
  std::vector<intrusive_ptr<SavedHookFactory>> items;
  std::optional<std::string> disabled;
};
thread_local HookStack hook_stack;
thread_local constinit bool any_hooks = false;  // spares the stack's own thread-local access

const char* const kReleased =
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward.";
}  // namespace

intrusive_ptr<SavedHookFactory> saved_hooks_top() {
  if (!any_hooks) return nullptr;
  return hook_stack.items.back();
}

void push_saved_hooks(intrusive_ptr<SavedHookFactory> f) {
  if (hook_stack.disabled) fail(*hook_stack.disabled);
  hook_stack.items.push_back(std::move(f));
  any_hooks = true;
}

void pop_saved_hooks() {
  check(!hook_stack.items.empty(), "no saved tensor hooks are active on this thread");
  hook_stack.items.pop_back();
  any_hooks = !hook_stack.items.empty();
}

void disable_saved_hooks(std::optional<std::string> message) {
  if (message && any_hooks) fail(*message);
  hook_stack.disabled = std::move(message);
}

std::optional<std::string> saved_hooks_disabled() { return hook_stack.disabled; }

SavedTensor::SavedTensor(const Tensor& t, bool is_output) {
  if (!t.defined()) return;
  check(!t->inference,
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around this, you can make a "
        "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
        "`torch.inference_mode()`.");
  defined_ = true;
  version_ = t.version();
  requires_grad_ = t->requires_grad;
  is_leaf_ = is_leaf(t);
  const AutogradMeta* m = meta_or_null(t);
  output_nr_ = m ? m->output_nr : 0;
  is_output_ = is_output && !is_leaf_;
  if (any_hooks) [[unlikely]] {
    if (!is_output_ && requires_grad_) grad_fn_ = gradient_edge(t).node;
    NoGrad no_grad;
    hook_ = saved_hooks_top()->pack(t);
    check(t.version() == version_,
          "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
          "pack hook can not be modified by in-place operations as this can lead to unexpected "
          "side-effects. Please open an issue if you need to perform in-place operations on the "
          "input to a pack hook.");
    return;
  }
  // An output that owned its node would be a cycle.
  tensor_ = is_output_ ? detached(t) : t;
}

void SavedTensor::register_hook(intrusive_ptr<SavedHook> h) {
  check(defined_, "None is forbidden");
  check(!hook_, "Hooks have already been registered on this saved tensor");
  if (released_) fail(kReleased);
  if (!is_output_ && requires_grad_) grad_fn_ = gradient_edge(tensor_).node;
  hook_ = std::move(h);
  tensor_.reset();
}

void SavedTensor::release() {
  Tensor t;
  intrusive_ptr<SavedHook> hook;
  NodePtr fn;
  {
    std::lock_guard guard(lock_);
    if (!defined_) return;
    released_ = true;
    t = std::move(tensor_);
    hook.swap(hook_);
    fn.swap(grad_fn_);
  }
}

void SavedTensor::check_version(const Tensor& t, const NodePtr& owner) const {
  uint32_t now = t.version();
  if (now == version_) [[likely]] return;
  std::string dtype = scalar_type_name(t.dtype());
  std::string s = str(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [torch.", dtype, "Tensor ", t.sizes(), "]");
  NodePtr fn = is_output_ ? owner : grad_fn(t);
  if (fn) append(s, str(", which is output ", output_nr_, " of ", short_name(*fn), ","));
  append(s, str(" is at version ", now, "; expected version ", version_, " instead. Hint: "));
  if (anomaly_mode.enabled)
    append(s, "the backtrace further above shows the operation that failed to compute its "
              "gradient. The variable in question was changed in there or anywhere later. Good "
              "luck!");
  else
    append(s, "enable anomaly detection to find the operation that failed to compute its "
              "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).");
  fail(s);
}

namespace {
// Stands between a leaf that went through pack hooks and its accumulator.
struct UnpackedLeaf final : Node {
  std::string name() const override { return "UnpackedLeafBackward"; }
  Grads apply(Grads&& grads) override { return std::move(grads); }
};

// `data` as the tensor that was saved: linked to output `output_nr` of fn.
Tensor relink(const Tensor& data, const NodePtr& fn, uint32_t output_nr) {
  Tensor t = detached(data);
  AutogradMeta& m = meta(t);
  m.grad_fn = fn;
  m.output_nr = output_nr;
  t->requires_grad = true;
  return t;
}
}  // namespace

Tensor SavedTensor::unpack_hook(const intrusive_ptr<SavedHook>& hook, const NodePtr& owner) const {
  Tensor data;
  {
    NoGrad no_grad;
    struct Tracked {  // the hook may record (checkpointing does): see UntrackedViews in engine.cpp
      bool saved = std::exchange(tls.view_replay, false);
      ~Tracked() { tls.view_replay = saved; }
    } tracked;
    data = hook->unpack();
  }
  if (!data.defined() || !requires_grad_) return data;
  const NodePtr& fn = is_output_ ? owner : grad_fn_;
  if (!fn) return data;
  if (data->requires_grad && gradient_edge(data).node == fn) return data;  // what was packed
  if (!is_leaf_) return relink(data, fn, output_nr_);
  Tensor t = detached(data);
  auto node = make_intrusive<UnpackedLeaf>();
  node->edges.push_back({fn, 0});
  node->topological_nr = fn->topological_nr + 1;
  set_history(t, node);
  return t;
}

Tensor SavedTensor::unpack(const NodePtr& owner, bool link) const {
  Tensor t;
  intrusive_ptr<SavedHook> hook;
  {
    std::lock_guard guard(lock_);
    if (!defined_) return {};
    if (released_) [[unlikely]] fail(kReleased);
    t = tensor_;
    if (hook_) [[unlikely]] hook = hook_;
  }
  if (hook) [[unlikely]] return unpack_hook(hook, owner);
  check_version(t, owner);
  if (!is_output_ || !owner) return t;
  if (link) t = relink(t, owner, output_nr_);
  if (forward_mode_active()) [[unlikely]] t = with_node_tangent(t, *owner, output_nr_);
  return t;
}

SavedList::SavedList(TensorList l) {
  items.reserve(l.size());
  for (const Tensor& t : l) items.emplace_back(t);
}

std::vector<Tensor> SavedList::unpack() const {
  std::vector<Tensor> out;
  out.reserve(items.size());
  for (auto& s : items) out.push_back(s.unpack());
  return out;
}

void SavedList::release() {
  for (auto& s : items) s.release();
}

}  // namespace rl
