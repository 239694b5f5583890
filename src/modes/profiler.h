// The profiler's recorder: what ran on a thread, when, and what memory it took. Tables, traces and
// schedules are made of it in Python (torch/profiler, torch/autograd/profiler*.py).
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/op.h"

namespace rl {

struct ProfilerOptions {
  bool shapes = false, memory = false, stacks = false, flops = false;
};

enum class EventKind : uint8_t { Operator, Backward, User };

// What is recorded of an argument.
struct ProfiledInput {
  std::vector<int64_t> sizes, strides;
  std::vector<std::vector<int64_t>> list;  // sizes of the tensors of a list
  std::string type;                        // "float", "Scalar", "TensorList", "" for None
  IValue value;                            // of what is no tensor
};

struct ProfiledEvent {
  std::string name;
  EventKind kind = EventKind::Operator;
  int64_t start = 0, end = 0;              // ns since the epoch; end 0: it did not end
  uint64_t thread = 0, forward_thread = 0;
  int64_t sequence_nr = -1;
  int64_t parent = -1;                     // index of the event around it on its thread
  std::vector<ProfiledInput> inputs;
  std::vector<std::string> stack;          // innermost first
};

struct MemoryEvent {
  int64_t time = 0, bytes = 0, total = 0;  // negative: freed
  uint64_t address = 0, thread = 0;
  int64_t parent = -1;
};

class Recorder : public RefCounted {
 public:
  explicit Recorder(ProfilerOptions o) : options(o) {}
  ProfilerOptions options;
  int64_t start = 0, end = 0;
  std::mutex mutex;
  std::vector<ProfiledEvent> events;       // in the order in which they began
  std::vector<MemoryEvent> memory;
};

void start_profiler(ProfilerOptions options);  // this thread, and backward passes from it
intrusive_ptr<Recorder> stop_profiler();       // null if none was on
bool profiler_on();
void pause_profiler(bool off);

// A region of the user's. Returns a number for leave_region, or -1 when nothing is recorded.
int64_t enter_region(const std::string& name, EventKind kind, int64_t sequence_nr = -1);
void leave_region(int64_t event);

uint64_t profiler_thread_id();
int64_t profiler_now();
extern std::vector<std::string> (*capture_stack)();  // set by the binding

}  // namespace rl
