// The graph: Node (a backward function), Edge (node, input number), SavedTensor, AutogradMeta.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/op.h"
#include "core/tensor.h"

namespace rl {

struct Node;
using NodePtr = intrusive_ptr<Node>;
using Grads = std::vector<Tensor>;  // undefined tensor = zero

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
struct GradHook : RefCounted {      // tensor hooks, node pre-hooks: may replace gradients
  virtual void call(Grads& grads) = 0;
};
struct NodeHook : RefCounted {      // node post-hooks: may replace the gradients leaving the node
  virtual void call(Grads& outputs, const Grads& inputs) = 0;
};
struct AccumulateHook : RefCounted {  // after .grad was accumulated
  virtual void call(const Tensor& leaf) = 0;
};
struct SavedHook : RefCounted {     // saved_tensors_hooks: holds what pack returned
  virtual Tensor unpack() = 0;
};
struct SavedHookFactory : RefCounted {
  virtual intrusive_ptr<SavedHook> pack(const Tensor& t) = 0;
};

struct Node : RefCounted {
  Node();
  ~Node() override;               // releases long chains without recursion (engine.cpp)
  virtual Grads apply(Grads&& grads) = 0;  // gradients of outputs -> gradients of inputs (edges)
  virtual std::string name() const = 0;    // "AddBackward0"
  virtual void release_saved() {}          // after backward without retain_graph
  bool should_compute(size_t i) const { return i < edges.size() && edges[i].node; }

  std::vector<Edge> edges;           // one per differentiable input, in order
  std::vector<OutputInfo> outputs;   // one per output of the forward function
  uint64_t sequence_nr;              // later forward operations run earlier in backward
  uint64_t topological_nr = 0;       // longest path to a leaf below: prunes the search
  std::vector<std::pair<uint32_t, intrusive_ptr<GradHook>>> tensor_hooks;  // (output number, hook)
  std::vector<std::pair<uint32_t, intrusive_ptr<GradHook>>> retain_hooks;  // retain_grad; run last
  std::vector<intrusive_ptr<GradHook>> pre_hooks;
  std::vector<intrusive_ptr<NodeHook>> post_hooks;
  intrusive_ptr<Opaque> anomaly;     // traceback of the forward call, in anomaly mode
  void* python = nullptr;            // the Python object wrapping it
};

// Adds to .grad of a leaf. Holds the leaf; the leaf holds it weakly.
struct AccumulateGrad : Node {
  explicit AccumulateGrad(Tensor leaf);
  ~AccumulateGrad() override;
  Grads apply(Grads&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }
  Tensor variable;
};

// How a view was made: enough to make it again from another base.
struct ViewInfo {
  Tensor base;                                       // the root, never itself a view
  std::function<Tensor(const Tensor&)> replay;       // null: as_strided with this view's geometry
  uint32_t attr_version = 0;                         // version at which grad_fn was made
  bool multi_output = false;                         // split, unbind: in-place is forbidden
  bool made_in_no_grad = false, made_in_inference = false;
};

struct AutogradMeta {
  Tensor grad;
  NodePtr grad_fn;
  Node* accumulator = nullptr;      // weak: AccumulateGrad clears it when it dies
  uint32_t output_nr = 0;
  bool retains_grad = false;
  std::unique_ptr<ViewInfo> view;
  std::vector<intrusive_ptr<GradHook>> hooks;             // on a leaf, or before a grad_fn exists
  std::vector<intrusive_ptr<AccumulateHook>> accumulate_hooks;
  Tensor forward_grad;              // tangent (forward-mode AD)
  intrusive_ptr<Opaque> python_backward_hooks;            // Tensor._backward_hooks, kept alive
  std::string name;
};

AutogradMeta& meta(const Tensor& t);             // made on demand
inline AutogradMeta* meta_or_null(const Tensor& t) { return t->autograd.get(); }

// What a node remembers of a tensor. Inputs are held as they are; an output is held without its
// grad_fn (no cycle), which the node supplies when it is unpacked.
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(const Tensor& t, bool is_output = false);
  // Checks the version; throws PyTorch's error if the memory was written since, or if it was
  // released ("Trying to backward through the graph a second time ...").
  Tensor unpack(const NodePtr& owner = nullptr) const;
  void release();
  bool was_defined() const { return defined_; }
  intrusive_ptr<SavedHook> hook() const { return hook_; }
  void register_hook(intrusive_ptr<SavedHook> h);

 private:
  Tensor tensor_;
  intrusive_ptr<SavedHook> hook_;
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
void mark_view(const Tensor& base, const Tensor& result,
               std::function<Tensor(const Tensor&)> replay, bool multi_output = false);

NodePtr grad_fn(const Tensor& t);                // rebuilt lazily for a view changed in place
bool is_view(const Tensor& t);
bool is_leaf(const Tensor& t);
void set_requires_grad(const Tensor& t, bool on);  // with PyTorch's checks
Tensor detach(const Tensor& t);

// ---- front end services
struct BackwardOptions {
  bool keep_graph = false, create_graph = false, accumulate = true, allow_unused = false;
};
// accumulate: into leaves (inputs empty: all leaves; else only these). Otherwise returns gradients
// with respect to inputs.
std::vector<Tensor> run_backward(TensorList outputs, TensorList grad_outputs, TensorList inputs,
                                 BackwardOptions options);
// torch.autograd.graph edges as targets (GradientEdge)
std::vector<Tensor> run_backward_edges(const std::vector<Edge>& roots, Grads root_grads,
                                       const std::vector<Edge>& targets, TensorList target_leaves,
                                       BackwardOptions options);
intrusive_ptr<SavedHookFactory> saved_hooks_top();      // of this thread; null if none
void push_saved_hooks(intrusive_ptr<SavedHookFactory> f);
void pop_saved_hooks();
extern intrusive_ptr<Opaque> (*capture_traceback)();    // anomaly mode; set by the binding
extern void (*report_anomaly)(const Node&);             // prints the forward traceback
void queue_callback(std::function<void()> f);           // run when the current backward ends

}  // namespace rl
