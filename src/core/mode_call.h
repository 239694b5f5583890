// How a generated wrapper meets the modes, in the order in which they see a call: the profiler,
// autocast, the modes above autograd; then autograd records, and below it something may take the
// place of the kernel. Only generated code includes this; all of it is off the ordinary path.
#pragma once
#include "core/op.h"

namespace rl {

// The time between construction and destruction is the operator's (modes/profiler.cpp).
class ProfiledCall {
 public:
  explicit ProfiledCall(const OpInfo& op) {
    if (tls.modes & kProfiling) enter(op);
  }
  ~ProfiledCall() {
    if (event_ >= 0) leave();
  }
  ProfiledCall(const ProfiledCall&) = delete;
  bool wants_inputs() const { return inputs_; }
  void inputs(const Stack& stack);

 private:
  void enter(const OpInfo& op);
  void leave() noexcept;
  int64_t event_ = -1;
  bool inputs_ = false;
};

// A node of a backward pass: the whole of its turn, and within it the function itself.
struct Node;
class ProfiledNode {
 public:
  explicit ProfiledNode(const Node& n);
  ~ProfiledNode();
  ProfiledNode(const ProfiledNode&) = delete;
  void applied();

 private:
  int64_t outer_ = -1, inner_ = -1;
};

// Casts the tensors among a call's arguments by the operator's rule (modes/autocast.cpp).
class ArgumentCasts {
 public:
  explicit ArgumentCasts(const OpInfo& op);
  ~ArgumentCasts();                     // autocast is off between: a cast call is not cast again
  ArgumentCasts(const ArgumentCasts&) = delete;

  template <class T>
  void see(const T& v) {                // before any cast: a rule may depend on all arguments
    if constexpr (std::is_same_v<T, Tensor>) see_tensor(v);
    else if constexpr (std::is_same_v<T, TensorList>)
      for (const Tensor& t : v) see_tensor(t);
  }
  Tensor cast(const Tensor& t);
  std::vector<Tensor> cast(TensorList l);
  template <class T>
  const T& cast(const T& v) {
    return v;
  }

 private:
  void see_tensor(const Tensor& t);
  const OpInfo& op_;
  DType to_;
  uint8_t bits_;
};

struct BelowModesAbove {                // RAII: inside a call that the modes above have seen
  BelowModesAbove() : bits(tls.modes & kAboveAutograd) { tls.modes &= uint8_t(~kAboveAutograd); }
  ~BelowModesAbove() { tls.modes |= bits; }
  uint8_t bits;
};

// `f` is the wrapper itself, or for a composite its body, whose parts meet the modes themselves.
template <class R, class... P>
R call_after_cast(R (*f)(P...), const OpInfo& op, std::type_identity_t<P>... args) {
  if ((tls.modes & kModeStack) && !mode_declines(op)) return call_mode<R>(op, args...);
  if (op.composite) return f(args...);
  BelowModesAbove entered;
  return f(args...);
}

template <class R, class... P>
[[gnu::noinline, gnu::cold]] R call_above(R (*f)(P...), const OpInfo& op,
                                          std::type_identity_t<P>... args) {
  ProfiledCall profiled(op);
  if (profiled.wants_inputs()) {
    Stack stack;
    (stack.push_back(box(args)), ...);
    profiled.inputs(stack);
  }
  if ((tls.modes & kAutocast) && op.autocast != AutocastRule::None) {
    ArgumentCasts casts(op);
    (casts.see(args), ...);
    return call_after_cast<R, P...>(f, op, casts.cast(args)...);
  }
  return call_after_cast<R, P...>(f, op, args...);
}

// ---- below autograd
inline bool dispatches(const Tensor& t) { return t.defined() && t->dispatches; }
inline bool dispatches(TensorList l) {
  for (const Tensor& t : l)
    if (dispatches(t)) return true;
  return false;
}
template <class T>
bool dispatches(const T&) {
  return false;
}

template <class... A>
[[gnu::always_inline]] inline bool goes_below(const A&... args) {
  if (!(tls.modes & kBelowAutograd)) [[likely]] return false;
  return (tls.modes & kBelowModes) || (dispatches(args) || ...);
}

template <class R, class... P>
[[gnu::noinline, gnu::cold]] R call_below(const OpInfo& op, P... args) {
  Stack stack;
  stack.reserve(sizeof...(P));
  (stack.push_back(box(args)), ...);
  call_below_boxed(op, stack);
  if constexpr (!std::is_void_v<R>) return FromStack<R>::take(stack, 0);
}

}  // namespace rl
