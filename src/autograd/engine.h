// One backward pass: its table of nodes and its queue. Only the engine's own files include this.
#pragma once
#include <unordered_map>

#include "autograd/node.h"

namespace rl {

struct Slot {
  Node* node = nullptr;    // alive while the roots are
  Grads inputs;            // gradients that have arrived
  uint32_t waiting = 0;    // how many are still to come
  int32_t capture = -1;    // first of its captures
  bool needed = true;      // to be applied
};

struct Capture {
  uint32_t input_nr, target;
  int32_t next;            // another capture of the same node
};

struct Task {
  explicit Task(BackwardOptions options);
  ~Task();
  Task(const Task&) = delete;

  Slot* find(const Node* n);
  uint32_t number(Node* n, bool& fresh);
  void discover(const std::vector<Edge>& roots, uint64_t floor);
  void restrict_to(const std::vector<Edge>& targets, TensorList target_tensors);
  void execute(const std::vector<Edge>& roots, Grads&& grads);
  void run_node(uint32_t index);
  void deliver(Slot& s, uint32_t nr, Tensor&& g);
  void take_captures(const Slot& s, const Grads& inputs);

  BackwardOptions options;
  int64_t id;
  bool all_leaves = true;  // nor do the passes around it have targets
  std::vector<Slot> slots;
  std::vector<Capture> captures;
  std::vector<Tensor> captured;
  std::vector<std::pair<uint64_t, uint32_t>> ready;       // heap: (sequence number, slot)
  std::unordered_map<const Node*, uint32_t> shared;       // nodes that another pass has as well
  std::vector<std::function<void()>> callbacks;
};

// Count, shape, dtype and device of what a node returned (engine_checks.cpp); sums broadcast
// dimensions and converts where that is all it takes.
void check_gradients(const Node& n, Grads& out);
void check_gradients_of_roots(const std::vector<Edge>& roots, Grads& grads);

}  // namespace rl
