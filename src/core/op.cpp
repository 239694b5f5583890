#include "core/op.h"

#include <mutex>
#include <unordered_map>

namespace rl {

thread_local constinit Tls tls;

void (*dispatch_wrappers)(const OpInfo& op, Stack& stack) = nullptr;

namespace {
using ModeList = std::vector<intrusive_ptr<Mode>>;
thread_local ModeList mode_stack, below_stack;

void refresh_flag() {
  tls.modes = uint8_t((tls.modes & ~(kModeStack | kBelowModes)) |
                      (mode_stack.empty() ? 0 : kModeStack) |
                      (below_stack.empty() ? 0 : kBelowModes));
}

intrusive_ptr<Mode> pop_from(ModeList& stack) {
  check(!stack.empty(), "pop_mode: no mode is active on this thread");
  auto m = std::move(stack.back());
  stack.pop_back();
  refresh_flag();
  return m;
}

// What runs in the place of a kernel: nothing is recorded or cast, no mode above sees it.
struct InsteadOfKernel {
  InsteadOfKernel() : replay(tls.view_replay), bits(tls.modes) {
    above.swap(mode_stack);
    tls.view_replay = true;
    tls.modes = uint8_t((bits & kWrappers) | (tls.profiling ? kProfiling : 0));
    if (!below_stack.empty()) mode = pop_from(below_stack);
    refresh_flag();
  }
  ~InsteadOfKernel() {
    if (mode) below_stack.push_back(std::move(mode));
    above.swap(mode_stack);
    tls.view_replay = replay;
    uint8_t wrappers = tls.modes & kWrappers;
    tls.modes = bits | wrappers;
  }
  NoGrad no_grad;
  bool replay;
  uint8_t bits;
  ModeList above;
  intrusive_ptr<Mode> mode;
};
}  // namespace

void push_mode(intrusive_ptr<Mode> m) {
  (m->below_autograd() ? below_stack : mode_stack).push_back(std::move(m));
  refresh_flag();
}

intrusive_ptr<Mode> pop_mode() { return pop_from(mode_stack); }
intrusive_ptr<Mode> pop_mode_below() { return pop_from(below_stack); }
size_t mode_depth() { return mode_stack.size(); }
Mode* mode_at(size_t i) { return mode_stack[i].get(); }
size_t mode_depth_below() { return below_stack.size(); }
Mode* mode_at_below(size_t i) { return below_stack[i].get(); }
bool mode_declines(const OpInfo& op) {
  return mode_stack.empty() || !mode_stack.back()->wants(op);
}

void call_mode_boxed(const OpInfo& op, Stack& stack) {
  struct Popped {
    intrusive_ptr<Mode> mode = pop_mode();
    ~Popped() { push_mode(std::move(mode)); }
  } top;
  if (top.mode->wants(op)) {
    top.mode->call(op, stack);
  } else {
    op.boxed(stack);
  }
}

void call_below_boxed(const OpInfo& op, Stack& stack) {
  InsteadOfKernel here;
  if (here.mode) {
    here.mode->call(op, stack);
  } else {
    check(dispatch_wrappers, op.name, ": nobody computes for this kind of tensor");
    dispatch_wrappers(op, stack);
  }
}

ModesOff::ModesOff() : bits(tls.modes) {
  saved.swap(mode_stack);
  saved_below.swap(below_stack);
  tls.modes = 0;
}
ModesOff::~ModesOff() {
  mode_stack.swap(saved);
  below_stack.swap(saved_below);
  tls.modes = bits;
}

namespace {
struct Registry {
  std::mutex mutex;
  std::unordered_multimap<std::string_view, const OpInfo*> by_name;
  std::vector<const OpInfo*> all;
};
Registry& registry() {
  static Registry r;
  return r;
}
}  // namespace

void register_ops(const OpInfo* const* ops, size_t n) {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  for (size_t i = 0; i < n; ++i) {
    r.by_name.emplace(ops[i]->name, ops[i]);
    r.all.push_back(ops[i]);
  }
}

const OpInfo* find_op(std::string_view name, std::string_view overload) {
  for (auto* op : find_overloads(name))
    if (overload == op->overload) return op;
  return nullptr;
}

std::vector<const OpInfo*> find_overloads(std::string_view name) {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<const OpInfo*> out;
  auto [b, e] = r.by_name.equal_range(name);
  for (auto it = b; it != e; ++it) out.push_back(it->second);
  return out;
}

std::vector<const OpInfo*> all_ops() {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  return r.all;
}

// ---- unboxing
void unbox_failed(const IValue& v, const char* want) {
  fail_as(ErrorKind::Type, "expected ", want, " in a boxed call, got value of kind ",
          int(v.tag()));
}

Unboxer<Scalar>::Unboxer(const IValue& v) {
  if (auto* s = std::get_if<Scalar>(&v.v)) value = *s;
  else if (auto* i = std::get_if<int64_t>(&v.v)) value = *i;
  else if (auto* d = std::get_if<double>(&v.v)) value = *d;
  else if (auto* b = std::get_if<bool>(&v.v)) value = *b;
  else if (v.is_tensor()) value = item(v.tensor());
  else unbox_failed(v, "Scalar");
}

Unboxer<int64_t>::Unboxer(const IValue& v) {
  if (auto* i = std::get_if<int64_t>(&v.v)) value = *i;
  else if (auto* b = std::get_if<bool>(&v.v)) value = *b;
  else if (auto* s = std::get_if<Scalar>(&v.v)) value = s->to_int();
  else if (auto* d = std::get_if<DType>(&v.v)) value = int64_t(*d);
  else unbox_failed(v, "int");
}

Unboxer<double>::Unboxer(const IValue& v) {
  if (auto* d = std::get_if<double>(&v.v)) value = *d;
  else if (auto* i = std::get_if<int64_t>(&v.v)) value = double(*i);
  else if (auto* s = std::get_if<Scalar>(&v.v)) value = s->to_double();
  else unbox_failed(v, "float");
}

Unboxer<IntRef>::Unboxer(const IValue& v) {
  if (auto* l = std::get_if<std::vector<int64_t>>(&v.v)) value = *l;
  else if (auto* i = std::get_if<int64_t>(&v.v)) value = {*i};
  else if (auto* list = std::get_if<std::vector<IValue>>(&v.v))
    for (auto& x : *list) value.push_back(Unboxer<int64_t>(x).get());
  else unbox_failed(v, "int[]");
}

Unboxer<ArrayRef<double>>::Unboxer(const IValue& v) {
  if (auto* l = std::get_if<std::vector<double>>(&v.v)) value = *l;
  else if (auto* i = std::get_if<std::vector<int64_t>>(&v.v)) value.assign(i->begin(), i->end());
  else if (auto* list = std::get_if<std::vector<IValue>>(&v.v))
    for (auto& x : *list) value.push_back(Unboxer<double>(x).get());
  else unbox_failed(v, "float[]");
}

Unboxer<TensorList>::Unboxer(const IValue& v) {
  if (auto* l = std::get_if<std::vector<Tensor>>(&v.v)) value = *l;
  else if (v.is_tensor()) value = {v.tensor()};
  else if (auto* list = std::get_if<std::vector<IValue>>(&v.v))
    for (auto& x : *list) value.push_back(Unboxer<Tensor>(x).get());
  else if (auto* i = std::get_if<std::vector<int64_t>>(&v.v); !i || !i->empty())
    unbox_failed(v, "Tensor[]");
}

Unboxer<ArrayRef<Scalar>>::Unboxer(const IValue& v) {
  if (auto* l = std::get_if<std::vector<Scalar>>(&v.v)) value = *l;
  else if (auto* list = std::get_if<std::vector<IValue>>(&v.v))
    for (auto& x : *list) value.push_back(Unboxer<Scalar>(x).get());
  else if (auto* d = std::get_if<std::vector<double>>(&v.v)) value.assign(d->begin(), d->end());
  else if (auto* i = std::get_if<std::vector<int64_t>>(&v.v)) value.assign(i->begin(), i->end());
  else unbox_failed(v, "Scalar[]");
}

}  // namespace rl
