// The backward pass. Discovery numbers the nodes that can be reached and counts, for each, how many
// gradients will arrive; execution takes ready nodes, the latest forward operation first, and hands
// their gradients on. Everything runs on the calling thread. Bookkeeping is a flat array; a node
// knows its place in it, unless another pass has it at the same time (then a map helps).
#include "autograd/engine.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "autograd/engine_ops.h"
#include "core/mode_call.h"

namespace rl {

namespace {

constexpr int kMaxDepth = 60;  // nested passes on one thread before a fresh stack is taken

thread_local constinit Task* running = nullptr;
thread_local constinit Node* applying = nullptr;
thread_local constinit int depth = 0;
std::atomic<int64_t> next_task_id{0};

// Space for slots is kept for the next pass of the thread.
thread_local std::vector<Slot> spare_slots;

}  // namespace

Node* current_node() { return applying; }
int64_t current_task_id() { return running ? running->id : -1; }

bool reaches_all_leaves() { return !running || running->all_leaves; }

bool node_will_run(const Node& n) {
  check(running, "_get_graph_exec_group: no backward pass is running on this thread");
  Slot* s = running->find(&n);
  return s && (s->needed || s->capture >= 0);
}

void queue_callback(std::function<void()> f) {
  check(running, "Final callbacks can only be installed during backward pass.");
  running->callbacks.push_back(std::move(f));
}

// ---- Task: discovery
Task::Task(BackwardOptions options) : options(options), id(next_task_id++) {
  slots.swap(spare_slots);
}

Task::~Task() {
  for (Slot& s : slots)
    if (s.node->engine_task.load(std::memory_order_relaxed) == this)
      s.node->engine_task.store(nullptr, std::memory_order_release);
  slots.clear();
  if (slots.capacity() <= 4096) slots.swap(spare_slots);
}

Slot* Task::find(const Node* n) {
  void* owner = n->engine_task.load(std::memory_order_acquire);
  if (owner == this) return &slots[n->engine_slot];
  if (shared.empty()) return nullptr;
  auto it = shared.find(n);
  return it == shared.end() ? nullptr : &slots[it->second];
}

uint32_t Task::number(Node* n, bool& fresh) {
  void* owner = n->engine_task.load(std::memory_order_acquire);
  fresh = false;
  if (owner == this) return n->engine_slot;
  if (!shared.empty())
    if (auto it = shared.find(n); it != shared.end()) return it->second;
  fresh = true;
  uint32_t i = uint32_t(slots.size());
  slots.emplace_back().node = n;
  void* none = nullptr;
  if (owner == nullptr && n->engine_task.compare_exchange_strong(none, this))
    n->engine_slot = i;
  else
    shared.emplace(n, i);
  return i;
}

void Task::discover(const std::vector<Edge>& roots, uint64_t floor) {
  bool fresh;
  for (const Edge& r : roots) {
    uint32_t i = number(r.node.get(), fresh);
    ++slots[i].waiting;
  }
  // Slots are their own worklist: each is looked at once, in the order in which it was found.
  for (uint32_t at = 0; at < slots.size(); ++at) {
    Node* n = slots[at].node;
    for (const Edge& e : n->edges) {
      if (!e.node || e.node->topological_nr < floor) continue;
      uint32_t i = number(e.node.get(), fresh);
      ++slots[i].waiting;
    }
  }
}

// With targets only the nodes on a way to one of them run. A node's topological number is larger
// than those of the nodes below it, so one pass upwards settles it.
void Task::restrict_to(const std::vector<Edge>& targets, TensorList target_tensors) {
  captured.resize(targets.size());
  for (uint32_t i = 0; i < slots.size(); ++i) slots[i].needed = false;
  for (uint32_t t = 0; t < targets.size(); ++t) {
    if (!targets[t].node) continue;
    Slot* s = find(targets[t].node.get());
    if (!s) continue;
    if (options.accumulate && !target_tensors[t].defined()) {
      s->needed = true;  // an accumulator: running it is the result
      continue;
    }
    captures.push_back({targets[t].input_nr, t, s->capture});
    s->capture = int32_t(captures.size() - 1);
  }
  std::vector<uint32_t> order(slots.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return slots[a].node->topological_nr < slots[b].node->topological_nr;
  });
  for (uint32_t i : order) {
    if (slots[i].needed) continue;
    for (const Edge& e : slots[i].node->edges) {
      if (!e.node) continue;
      Slot* below = find(e.node.get());
      if (below && (below->needed || below->capture >= 0)) {
        slots[i].needed = true;
        break;
      }
    }
  }
}

// ---- Task: accumulation
namespace {
// Nobody else can see the memory of t, so it may be added to.
bool exclusive(const Tensor& t) {
  const TensorImpl* p = t.impl();
  return p->use_count() == 1 && p->kind == ImplKind::Strided && !p->python && !p->requires_grad &&
         !p->has_forward_grad && !p->wrapped_number && p->storage &&
         p->storage->use_count() == 1 && !p->storage->python && p->storage->resizable() &&
         (p->contiguous || is_non_overlapping_and_dense(p->sizes, p->strides));
}

void accumulate(Tensor& have, Tensor&& g) {
  if (!tls.grad_mode && !(tls.modes & ~kWrappers) && have.dtype() == g.dtype() &&
      have->sizes == g->sizes) {
    if (exclusive(have)) {
      engine_ops::add_into(have, g);
      return;
    }
    if (exclusive(g)) {
      engine_ops::add_into(g, have);
      have = std::move(g);
      return;
    }
  }
  // Of two sparse gradients, the elements of the later one come first.
  const bool sparse = have.is_sparse() && g.is_sparse();
  have = sparse ? engine_ops::add(g, have) : engine_ops::add(have, g);
}
}  // namespace

Tensor input_grad_buffer(const Node& n, size_t i) {
  if (!running || i >= n.edges.size() || !n.edges[i].node || tls.grad_mode) return {};
  Slot* s = running->find(n.edges[i].node.get());
  uint32_t nr = n.edges[i].input_nr;
  if (!s || nr >= s->inputs.size() || !s->inputs[nr].defined()) return {};
  return exclusive(s->inputs[nr]) ? s->inputs[nr] : Tensor();
}

void Task::deliver(Slot& s, uint32_t nr, Tensor&& g) {
  if (g.defined()) {
    if (s.inputs.size() <= nr) s.inputs.resize(std::max(size_t(nr) + 1, s.node->outputs.size()));
    Tensor& have = s.inputs[nr];
    if (have.defined()) accumulate(have, std::move(g));
    else have = std::move(g);
  }
  if (--s.waiting == 0) {
    ready.push_back({s.node->sequence_nr, uint32_t(&s - slots.data())});
    std::push_heap(ready.begin(), ready.end());
  }
}

// ---- Task: one node
namespace {
void call_hook(GradHook& h, Grads& inputs, uint32_t nr) {
  Grads one(1);
  one[0] = std::move(inputs[nr]);
  h.call(one);
  inputs[nr] = std::move(one[0]);
}

void call_tensor_hooks(Node& n, Grads& inputs) {
  // Copies: a hook may register or remove hooks.
  if (!n.tensor_hooks.empty())
    for (auto [nr, h] : std::vector(n.tensor_hooks)) call_hook(*h, inputs, nr);
  if (n.accumulates) {
    AutogradMeta* m = meta_or_null(static_cast<AccumulateGrad&>(n).variable);
    if (m && !m->hooks.empty())
      for (auto h : std::vector(m->hooks)) call_hook(*h, inputs, 0);
  }
  if (!n.retain_hooks.empty())
    for (auto [nr, h] : std::vector(n.retain_hooks)) call_hook(*h, inputs, nr);
}

struct Applying {
  explicit Applying(Node* n) : saved(std::exchange(applying, n)) {}
  ~Applying() { applying = saved; }
  Node* saved;
};

void check_nan(const Node& n, const Grads& out) {
  if (!anomaly_mode.check_nan) return;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].defined() || !engine_ops::has_nan(out[i])) continue;
    fail("Function '", n.name(), "' returned nan values in its ", i, "th output.");
  }
}

// Formulas make many views; nobody will ever differentiate through them when nothing is recorded,
// and a gradient that is no view can be taken over or added to.
struct UntrackedViews {
  explicit UntrackedViews(bool on) : saved(tls.view_replay) { tls.view_replay |= on; }
  ~UntrackedViews() { tls.view_replay = saved; }
  bool saved;
};

Grads apply_checked(Node& n, Grads&& inputs) {
  UntrackedViews views(!tls.grad_mode && !(tls.modes & ~kWrappers) && !n.front_end);
  if (!anomaly_mode.enabled.load(std::memory_order_relaxed)) [[likely]] {
    Grads out = n.apply(std::move(inputs));
    check_gradients(n, out);
    return out;
  }
  try {
    Grads out = n.apply(std::move(inputs));
    check_gradients(n, out);
    NoGrad no_grad;
    check_nan(n, out);
    return out;
  } catch (...) {
    if (report_anomaly) report_anomaly(n);
    throw;
  }
}
}  // namespace

void Task::take_captures(const Slot& s, const Grads& inputs) {
  for (int32_t c = s.capture; c >= 0; c = captures[c].next) {
    uint32_t nr = captures[c].input_nr;
    captured[captures[c].target] = nr < inputs.size() ? inputs[nr] : Tensor();
  }
}

void Task::run_node(uint32_t index) {
  std::optional<ProfiledNode> profiled;
  Slot& s = slots[index];
  Node& n = *s.node;
  Grads inputs = std::move(s.inputs);
  if (inputs.size() < n.outputs.size()) inputs.resize(n.outputs.size());
  Applying here(&n);
  if (s.needed && s.capture >= 0) take_captures(s, inputs);
  call_tensor_hooks(n, inputs);
  if (!s.needed) {
    take_captures(s, inputs);
    return;
  }
  if (!n.pre_hooks.empty())
    for (auto h : std::vector(n.pre_hooks)) h->call(inputs);
  if (tls.profiling) [[unlikely]] profiled.emplace(n);
  Grads out;
  if (n.post_hooks.empty()) [[likely]] {
    out = apply_checked(n, std::move(inputs));
    if (!options.keep_graph) n.release_saved();
  } else {
    Grads seen = inputs;
    out = apply_checked(n, std::move(inputs));
    if (!options.keep_graph) n.release_saved();
    for (auto h : std::vector(n.post_hooks)) h->call(out, seen);
  }
  if (profiled) [[unlikely]] profiled->applied();
  for (size_t i = 0; i < n.edges.size(); ++i) {
    const Edge& e = n.edges[i];
    if (!e.node) continue;
    if (Slot* below = find(e.node.get()))
      deliver(*below, e.input_nr, i < out.size() ? std::move(out[i]) : Tensor());
  }
}

void Task::execute(const std::vector<Edge>& roots, Grads&& grads) {
  for (size_t i = 0; i < roots.size(); ++i)
    deliver(*find(roots[i].node.get()), roots[i].input_nr, std::move(grads[i]));
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end());
    uint32_t next = ready.back().second;
    ready.pop_back();
    run_node(next);
  }
}

// ---- a whole pass
namespace {
struct Running {
  explicit Running(Task* t) : saved(std::exchange(running, t)) { ++depth; }
  ~Running() {
    running = saved;
    --depth;
  }
  Task* saved;
};

void accumulate_targets(Task& task, TensorList target_tensors) {
  for (size_t i = 0; i < task.captured.size(); ++i) {
    if (!target_tensors[i].defined() || !task.captured[i].defined()) continue;
    AutogradMeta& m = meta(target_tensors[i]);
    if (m.retains_grad) continue;  // the hook has stored it
    m.grad = m.grad.defined() ? engine_ops::add(m.grad, task.captured[i]) : task.captured[i];
  }
}

std::vector<Tensor> run_here(const std::vector<Edge>& roots, Grads&& grads,
                             const std::vector<Edge>& targets, TensorList target_tensors,
                             BackwardOptions options) {
  Task task(options);
  uint64_t floor = 0;
  if (!targets.empty()) {
    floor = UINT64_MAX;
    for (const Edge& t : targets)
      if (t.node) floor = std::min(floor, t.node->topological_nr);
  }
  check_gradients_of_roots(roots, grads);
  task.discover(roots, floor);
  if (!targets.empty()) task.restrict_to(targets, target_tensors);
  task.all_leaves = targets.empty() && reaches_all_leaves();
  Running here(&task);
  GradMode mode(options.create_graph);
  task.execute(roots, std::move(grads));
  for (size_t i = 0; i < task.callbacks.size(); ++i) {
    auto f = std::move(task.callbacks[i]);  // a callback may queue another
    f();
  }
  if (options.accumulate) accumulate_targets(task, target_tensors);
  return std::move(task.captured);
}

// Deeply nested passes (a hook that runs backward that has such a hook ...) continue on a thread of
// their own: its stack is fresh.
std::vector<Tensor> run_on_thread(const std::vector<Edge>& roots, Grads&& grads,
                                  const std::vector<Edge>& targets, TensorList target_tensors,
                                  BackwardOptions options) {
  std::vector<Tensor> out;
  std::exception_ptr error;
  Tls state = tls;
  auto hooks = saved_hooks_top();
  std::vector<intrusive_ptr<Mode>> modes;
  for (size_t i = 0; i < mode_depth(); ++i) modes.emplace_back(mode_at(i));
  for (size_t i = 0; i < mode_depth_below(); ++i) modes.emplace_back(mode_at_below(i));
  std::thread worker([&] {
    try {
      for (auto& m : modes) push_mode(m);
      tls = state;
      if (hooks) push_saved_hooks(hooks);
      out = run_here(roots, std::move(grads), targets, target_tensors, options);
      if (hooks) pop_saved_hooks();
    } catch (...) {
      error = std::current_exception();
    }
    while (mode_depth()) pop_mode();
    while (mode_depth_below()) pop_mode_below();
  });
  worker.join();
  if (error) std::rethrow_exception(error);
  return out;
}
}  // namespace

std::vector<Tensor> run_backward_edges(const std::vector<Edge>& roots, Grads root_grads,
                                       const std::vector<Edge>& targets, TensorList target_tensors,
                                       BackwardOptions options) {
  auto run = depth >= kMaxDepth ? run_on_thread : run_here;
  auto out = run(roots, std::move(root_grads), targets, target_tensors, options);
  if (options.accumulate) return {};
  if (options.allow_unused) return out;
  for (size_t i = 0; i < out.size(); ++i)
    check(out[i].defined(), "The differentiated Tensor at index ", i,
          " appears to not have been used in the graph. Set allow_unused=True if this is the "
          "desired behavior.");
  return out;
}

}  // namespace rl
