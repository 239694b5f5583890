// Recording of operators, backward nodes, regions and memory. The list of events is shared by the
// threads of one recording; the stack of open events is each thread's own.
#include "modes/profiler.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "autograd/node.h"
#include "core/mode_call.h"

namespace rl {

std::vector<std::string> (*capture_stack)() = nullptr;

namespace {

thread_local intrusive_ptr<Recorder> recorder;
thread_local std::vector<int64_t> open_events;
std::atomic<int64_t> profiled_bytes{0};

const char* type_name(DType d) {
  switch (d) {
    case DType::UInt8: return "unsigned char";
    case DType::Int8: return "signed char";
    case DType::Int16: return "short int";
    case DType::Int32: return "int";
    case DType::Int64: return "long int";
    case DType::Half: return "c10::Half";
    case DType::Float: return "float";
    case DType::Double: return "double";
    case DType::ComplexFloat: return "c10::complex<float>";
    case DType::ComplexDouble: return "c10::complex<double>";
    case DType::Bool: return "bool";
    case DType::BFloat16: return "c10::BFloat16";
    default: return dtype_name(d);
  }
}

ProfiledInput describe(const IValue& v) {
  ProfiledInput in;
  if (v.is_none()) return in;
  if (v.is_tensor()) {
    const Tensor& t = v.tensor();
    if (t.is_wrapped_number() && !t.is_meta()) {
      in.type = "Scalar";
      in.value = IValue(item(t));
      return in;
    }
    in.sizes = t.sizes().vec();
    if (t->kind == ImplKind::Strided) in.strides = t.strides().vec();
    in.type = type_name(t.dtype());
  } else if (v.is_tensor_list()) {
    in.type = "TensorList";
    for (const Tensor& t : std::get<std::vector<Tensor>>(v.v))
      in.list.push_back(t.defined() ? t.sizes().vec() : std::vector<int64_t>());
  } else {
    using Tag = IValue::Tag;
    bool list = v.tag() == Tag::IntList || v.tag() == Tag::FloatList || v.tag() == Tag::BoolList ||
                v.tag() == Tag::ScalarList;
    in.type = list ? "ScalarList" : "Scalar";
    if (v.tag() != Tag::Generator && v.tag() != Tag::Opaque && v.tag() != Tag::Str) in.value = v;
    else in.type = "";
  }
  return in;
}

int64_t begin(std::string name, EventKind kind, int64_t sequence_nr) {
  ProfiledEvent e;
  e.name = std::move(name);
  e.kind = kind;
  e.sequence_nr = sequence_nr;
  e.thread = profiler_thread_id();
  if (!open_events.empty()) e.parent = open_events.back();
  if (recorder->options.stacks && capture_stack) e.stack = capture_stack();
  std::lock_guard lock(recorder->mutex);
  int64_t at = int64_t(recorder->events.size());
  e.start = profiler_now();
  recorder->events.push_back(std::move(e));
  open_events.push_back(at);
  return at;
}

void finish(int64_t at) noexcept {
  int64_t now = profiler_now();
  while (!open_events.empty() && open_events.back() > at) open_events.pop_back();
  if (!open_events.empty() && open_events.back() == at) open_events.pop_back();
  if (!recorder) return;
  std::lock_guard lock(recorder->mutex);
  if (at < int64_t(recorder->events.size())) recorder->events[size_t(at)].end = now;
}

void set_bit(bool on) {
  tls.profiling = on;
  tls.modes = uint8_t(on ? tls.modes | kProfiling : tls.modes & ~kProfiling);
}

void observe_memory(void* p, int64_t bytes) {
  int64_t total = profiled_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (!recorder || !recorder->options.memory) return;
  MemoryEvent e{profiler_now(), bytes, total, uint64_t(p), profiler_thread_id(), -1};
  if (!open_events.empty()) e.parent = open_events.back();
  std::lock_guard lock(recorder->mutex);
  recorder->memory.push_back(e);
}

}  // namespace

uint64_t profiler_thread_id() {
  static thread_local const uint64_t id = uint64_t(syscall(SYS_gettid));
  return id;
}

int64_t profiler_now() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

void start_profiler(ProfilerOptions options) {
  check(!recorder, "Profiler is already enabled on this thread");
  recorder = make_intrusive<Recorder>(options);
  open_events.clear();
  memory_observer = &observe_memory;
  recorder->start = profiler_now();
  set_bit(true);
}

intrusive_ptr<Recorder> stop_profiler() {
  set_bit(false);
  if (recorder) recorder->end = profiler_now();
  open_events.clear();
  return std::move(recorder);
}

bool profiler_on() { return bool(recorder); }
void pause_profiler(bool off) {
  if (recorder) set_bit(!off);
}

int64_t enter_region(const std::string& name, EventKind kind, int64_t sequence_nr) {
  return recorder && tls.profiling ? begin(name, kind, sequence_nr) : -1;
}
void leave_region(int64_t event) {
  if (event >= 0) finish(event);
}

// ---- what wrappers and the engine use (core/mode_call.h)
void ProfiledCall::enter(const OpInfo& op) {
  if (!recorder) {
    set_bit(false);
    return;
  }
  int64_t sequence = tls.grad_mode ? int64_t(peek_sequence_nr()) : -1;
  event_ = begin(std::string("aten::") + op.name, EventKind::Operator, sequence);
  inputs_ = recorder->options.shapes || recorder->options.flops;
}

void ProfiledCall::inputs(const Stack& stack) {
  std::vector<ProfiledInput> described;
  for (const IValue& v : stack) described.push_back(describe(v));
  std::lock_guard lock(recorder->mutex);
  recorder->events[size_t(event_)].inputs = std::move(described);
}

void ProfiledCall::leave() noexcept { finish(event_); }

ProfiledNode::ProfiledNode(const Node& n) {
  if (!recorder) return;
  std::string name = qualified_name(n);
  const int64_t sequence = int64_t(n.sequence_nr);
  outer_ = begin("autograd::engine::evaluate_function: " + name, EventKind::Operator, sequence);
  inner_ = begin(std::move(name), EventKind::Backward, sequence);
  std::lock_guard lock(recorder->mutex);
  for (int64_t at : {outer_, inner_})
    recorder->events[size_t(at)].forward_thread = profiler_thread_id();
}
void ProfiledNode::applied() {
  if (inner_ >= 0) finish(std::exchange(inner_, -1));
}
ProfiledNode::~ProfiledNode() {
  applied();
  if (outer_ >= 0) finish(outer_);
}

}  // namespace rl
