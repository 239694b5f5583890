// The graph: Node (a backward function), Edge (node, input number), SavedTensor, AutogradMeta.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/op.h"
#include "core/tensor.h"
#include "core/tensor_info.h"

namespace rl {

struct Node;
using NodePtr = intrusive_ptr<Node>;
using Replay = std::function<Tensor(const Tensor&)>;

// One byte; for sections of a few instructions. Copying what contains it makes a fresh one.
struct SpinLock {
  SpinLock() = default;
  SpinLock(const SpinLock&) {}
  SpinLock& operator=(const SpinLock&) { return *this; }
  void lock() {
    while (taken.exchange(true, std::memory_order_acquire)) {
    }
  }
  void unlock() { taken.store(false, std::memory_order_release); }
  std::atomic<bool> taken{false};
};

struct Edge {
  NodePtr node;          // null: nothing flows here
  uint32_t input_nr = 0;
};

// Shape, dtype and device that a gradient arriving at one output of a node must have.
struct OutputInfo {
  Dims sizes;
  DType dtype = DType::Float;
  Device device;
};

// Hooks of the front end (Python callables) implement these; the core never sees Python.
// A tensor hook sees one gradient (a list of one), a node's pre-hook all that arrive.
struct GradHook : RefCounted {      // tensor hooks, node pre-hooks: may replace gradients
  virtual void call(Grads& grads) = 0;
  virtual void* owner() const { return nullptr; }  // the front end's object, for bookkeeping
};
struct NodeHook : RefCounted {      // node post-hooks: may replace the gradients leaving the node
  virtual void call(Grads& outputs, const Grads& inputs) = 0;
  virtual void* owner() const { return nullptr; }
};
struct AccumulateHook : RefCounted {  // after .grad was accumulated
  virtual void call(const Tensor& leaf) = 0;
  virtual void* owner() const { return nullptr; }
};
struct SavedHook : RefCounted {     // saved_tensors_hooks: holds what pack returned
  virtual Tensor unpack() = 0;
};
struct AutogradMeta;
// Stores the gradient that arrives at a non-leaf output into its .grad (retain_grad).
struct RetainHook : GradHook {
  explicit RetainHook(AutogradMeta* m) : target(m) {}
  void call(Grads& grads) override;
  SpinLock lock;
  AutogradMeta* target;  // cleared when the tensor goes
};
struct SavedHookFactory : RefCounted {
  virtual intrusive_ptr<SavedHook> pack(const Tensor& t) = 0;
};

struct Node : RefCounted {
  Node();
  ~Node() override;
  virtual Grads apply(Grads&& grads) = 0;  // gradients of outputs -> gradients of inputs (edges)
  virtual std::string name() const = 0;    // "AddBackward0"
  virtual void release_saved() {}          // after backward without retain_graph
  // grad_fn._saved_<key>; nullopt: there is no such attribute.
  virtual std::optional<IValue> saved(std::string_view) const { return std::nullopt; }
  virtual std::vector<std::string> saved_names() const { return {}; }
  virtual const char* view_name() const { return nullptr; }
  bool should_compute(size_t i) const { return i < edges.size() && edges[i].node; }

  std::vector<Edge> edges;           // one per differentiable input, in order (use add_edges)
  std::vector<OutputInfo> outputs;   // one per output of the forward function
  uint64_t sequence_nr;              // later forward operations run earlier in backward
  uint64_t topological_nr = 0;       // longest path to a leaf below: prunes the search
  std::vector<std::pair<uint32_t, intrusive_ptr<GradHook>>> tensor_hooks;  // (output number, hook)
  std::vector<std::pair<uint32_t, intrusive_ptr<RetainHook>>> retain_hooks;  // run last
  std::vector<intrusive_ptr<GradHook>> pre_hooks;
  std::vector<intrusive_ptr<NodeHook>> post_hooks;
  intrusive_ptr<Opaque> metadata;    // the front end's dictionary; in anomaly mode the traceback
  void* python = nullptr;            // the Python object wrapping it
  std::unique_ptr<Grads> tangents;   // forward mode: of the outputs, for those saved by the node

  // The backward pass that is using this node, and the node's place in it (engine.cpp).
  std::atomic<void*> engine_task{nullptr};
  uint32_t engine_slot = 0;
  bool accumulates = false;          // it is an AccumulateGrad
  bool front_end = false;            // apply() runs code of the front end
  Node* next_dead = nullptr;

 protected:
  void last_release() override;      // frees long chains without recursion (node.cpp)
};

// Adds to .grad of a leaf. Holds the leaf; the leaf holds it weakly.
struct AccumulateGrad : Node {
  explicit AccumulateGrad(Tensor leaf);
  Grads apply(Grads&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }
  Tensor variable;

 protected:
  void last_release() override;

 private:
  void accumulate(Tensor&& grad);
  std::mutex mutex_;                 // two backward passes may meet here
};

// How a view was made: enough to make it again from another base.
struct ViewInfo {
  ~ViewInfo();
  Tensor base;                       // the root, never itself a view
  Replay replay;                     // null: as_strided with this view's geometry
  TensorImpl* self = nullptr;
  ViewInfo *next = nullptr, **link = nullptr;  // list of the base's views, while it needs no grad
  uint32_t attr_version = 0;         // version at which grad_fn was made
  bool multi_output = false;         // split, unbind: in-place is forbidden
  bool made_in_no_grad = false, made_in_inference = false;
  bool custom_function = false;      // returned by a custom Function: in-place is forbidden
  bool own_flag = false;             // requires_grad_() was called on the view itself
};

struct AutogradMeta {
  ~AutogradMeta();
  Tensor grad;
  NodePtr grad_fn;
  Node* accumulator = nullptr;      // weak: AccumulateGrad clears it when it dies
  uint32_t output_nr = 0;
  bool retains_grad = false;
  bool any_grad_dtype = false;      // grad_dtype = None was set
  DType grad_dtype = DType::Undefined;  // Undefined: the tensor's own
  SpinLock lock;
  std::unique_ptr<ViewInfo> view;
  ViewInfo* views = nullptr;        // views of this tensor that do not require grad yet
  intrusive_ptr<RetainHook> retain;
  std::vector<intrusive_ptr<GradHook>> hooks;             // on a leaf
  std::vector<intrusive_ptr<AccumulateHook>> accumulate_hooks;
  Tensor forward_grad;              // tangent (forward_mode.h)
  uint64_t forward_epoch = 0;       // the dual level it belongs to
  intrusive_ptr<Opaque> python_backward_hooks;            // Tensor._backward_hooks, kept alive
  intrusive_ptr<Opaque> python_accumulate_hooks;          // ... _post_accumulate_grad_hooks
  std::string name;
};

uint64_t peek_sequence_nr();         // what this thread's next node will be numbered
AutogradMeta& meta(const Tensor& t);             // made on demand
inline AutogradMeta* meta_or_null(const Tensor& t) { return t->autograd.get(); }

// What a node remembers of a tensor. Inputs are held as they are; an output is held without its
// grad_fn (no cycle), which the node supplies when it is unpacked.
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(const Tensor& t, bool is_output = false);
  // Checks the version; throws PyTorch's error if the memory was written since, or if it was
  // released ("Trying to backward through the graph a second time ..."). An output comes back as
  // the owner's; without `link` (nothing is recorded) as plain memory.
  Tensor unpack(const NodePtr& owner = nullptr, bool link = tls.grad_mode) const;
  void release();
  bool was_defined() const { return defined_; }
  intrusive_ptr<SavedHook> hook() const { return hook_; }
  void register_hook(intrusive_ptr<SavedHook> h);

 private:
  Tensor unpack_hook(const intrusive_ptr<SavedHook>& hook, const NodePtr& owner) const;
  void check_version(const Tensor& t, const NodePtr& owner) const;

  Tensor tensor_;
  intrusive_ptr<SavedHook> hook_;
  NodePtr grad_fn_;                 // hooked inputs: grad_fn or accumulator of the original
  mutable SpinLock lock_;           // unpack and release may race in two backward passes
  uint32_t version_ = 0, output_nr_ = 0;
  bool defined_ = false, is_output_ = false, is_leaf_ = false, released_ = false;
  bool requires_grad_ = false;
};
struct SavedList {
  SavedList() = default;
  explicit SavedList(TensorList l);
  std::vector<Tensor> unpack() const;
  void release();
  std::vector<SavedTensor> items;
};

// ---- used by generated wrappers
template <class... T>
inline bool any_requires_grad(const T&... t) {
  auto one = [](const auto& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Tensor>) {
      return x.defined() && x->requires_grad;
    } else {
      for (const Tensor& y : x)
        if (y.defined() && y->requires_grad) return true;
      return false;
    }
  };
  return (one(t) || ...);
}
template <class... T>
inline bool needs_grad(const T&... t) {
  return tls.grad_mode && any_requires_grad(t...);
}

Edge gradient_edge(const Tensor& t);             // grad_fn or accumulator; empty if it needs none
void add_edges(Node& n, const Tensor& t);        // appends one edge (empty for undefined)
void add_edges(Node& n, TensorList l);           // one edge each
// Make `result` the output of `node`: appends OutputInfo, sets grad_fn unless not differentiable.
void set_history(const Tensor& result, const NodePtr& node);
void set_history(TensorList results, const NodePtr& node);
// The same for an in-place operation; a view gets CopySlices on its base.
void rebase_history(const Tensor& self, const NodePtr& node);
void check_inplace(const Tensor& self, bool needs_grad);  // leaf, view-of-leaf, multi-view: errors
// `result` was made by a view operator from `base` (autograd bookkeeping only).
void mark_view(const Tensor& base, const Tensor& result, Replay replay,
               bool multi_output = false);
void mark_views(const Tensor& base, TensorList results);  // split, unbind, ...
Tensor alias_as_view(const Tensor& t);                    // all of t, marked as a view of it

NodePtr grad_fn(const Tensor& t);                // rebuilt lazily for a view changed in place
bool is_view(const Tensor& t);
bool is_leaf(const Tensor& t);
void set_requires_grad(const Tensor& t, bool on);  // with PyTorch's checks
Tensor detached(const Tensor& t);                // shares memory and version; no autograd
void detach_inplace(const Tensor& t);            // x.detach_()
void register_tensor_hook(const Tensor& t, intrusive_ptr<GradHook> hook);
void retain_grad(const Tensor& t);
void register_accumulate_hook(const Tensor& t, intrusive_ptr<AccumulateHook> hook);
void set_grad(const Tensor& t, const Tensor& grad);  // t.grad = grad, with PyTorch's checks
DType grad_dtype(const Tensor& t);               // Undefined: any
void set_grad_dtype(const Tensor& t, std::optional<DType> dtype);
// Whether accumulated gradients get the strides of their leaf even at the price of a copy.
bool enforce_grad_layout();
bool set_enforce_grad_layout(bool on);           // of this thread; returns what it was
std::string qualified_name(const Node& n);       // what grad_fn.name() says
std::string short_name(const Node& n);           // "Add" of AddBackward0, as messages say it

// ---- front end services
struct BackwardOptions {
  bool keep_graph = false, create_graph = false, accumulate = true, allow_unused = false;
};
// Gradients of outputs with respect to inputs. accumulate: they are added to .grad (inputs empty:
// of all leaves; else of these) and nothing is returned. An undefined grad_output is one where the
// output is a real scalar.
std::vector<Tensor> run_backward(TensorList outputs, TensorList grad_outputs, TensorList inputs,
                                 BackwardOptions options);
// The same between edges. target_tensors gives, per target, the tensor whose .grad takes an
// accumulated gradient of a non-leaf (undefined: none).
std::vector<Tensor> run_backward_edges(const std::vector<Edge>& roots, Grads root_grads,
                                       const std::vector<Edge>& targets, TensorList target_tensors,
                                       BackwardOptions options);
// The gradient that backward starts with at `output`: grad, checked, or 1 for a real scalar; none
// for an output that does not require grad.
Tensor make_root_grad(const Tensor& output, const Tensor& grad, size_t index);
intrusive_ptr<SavedHookFactory> saved_hooks_top();      // of this thread; null if none
void push_saved_hooks(intrusive_ptr<SavedHookFactory> f);
void pop_saved_hooks();
void disable_saved_hooks(std::optional<std::string> message);  // nullopt: allowed again
std::optional<std::string> saved_hooks_disabled();
void queue_callback(std::function<void()> f);           // run when the current backward ends
// Does the graph of t end in a leaf that is not one of these?
bool reaches_other_leaves(const Tensor& t, TensorList own);
Node* current_node();                                   // being applied by this thread, or null
int64_t current_task_id();                              // of the backward running here, or -1
bool reaches_all_leaves();                              // no pass running here has targets
bool node_will_run(const Node& n);                      // in the current backward
// What has arrived so far where edge i of n leads, if it may be added to in place.
Tensor input_grad_buffer(const Node& n, size_t i);

// ---- anomaly mode: one switch for the process
struct AnomalyMode {
  std::atomic<bool> enabled{false}, check_nan{true};
};
extern AnomalyMode anomaly_mode;
extern intrusive_ptr<Opaque> (*capture_traceback)();    // set by the binding
extern void (*report_anomaly)(const Node&);             // prints the forward traceback

}  // namespace rl
