// OpInfo: what the registry knows of an operator at run time. One constant per operator, generated.
// Mode: something that sees boxed calls before they run.
#pragma once
#include <string_view>
#include <tuple>

#include "core/ivalue.h"

namespace rl {

enum class AutocastRule : uint8_t { None, Low, Fp32, Promote, Fp32SetDtype, Banned };

struct OpInfo {
  const char* name;      // "add"
  const char* overload;  // "Tensor", or "" for the default overload
  const char* schema;    // "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  void (*boxed)(Stack&); // consumes arguments, leaves results
  uint8_t num_args, num_returns;
  bool composite;        // made of other operators: a mode may decline and see the parts
  bool view, inplace, random, pointwise;
  AutocastRule autocast;
};

class Mode : public RefCounted {
 public:
  // Handle the call: stack holds the arguments in schema order (defaults filled in); leave the
  // results. Runs with this mode popped, so calls inside reach the modes below it.
  virtual void call(const OpInfo& op, Stack& stack) = 0;
  // false: a composite is to run its body under this mode, so that the mode sees its parts.
  virtual bool wants(const OpInfo& op) const { return !op.composite; }
  // true: takes the place of kernels; what it returns is recorded by autograd. It never sees
  // composites, and nothing that it does is recorded.
  virtual bool below_autograd() const { return false; }
};

void push_mode(intrusive_ptr<Mode> m);  // to this thread's stack above or below autograd
intrusive_ptr<Mode> pop_mode();         // the last one above autograd
intrusive_ptr<Mode> pop_mode_below();
size_t mode_depth();                    // above autograd
Mode* mode_at(size_t i);                // 0 is the outermost
size_t mode_depth_below();
Mode* mode_at_below(size_t i);
void call_mode_boxed(const OpInfo& op, Stack& stack);
void call_below_boxed(const OpInfo& op, Stack& stack);
bool mode_declines(const OpInfo& op);   // top mode wants a composite's parts
struct ModesOff {                       // RAII: no modes inside
  ModesOff();
  ~ModesOff();
  std::vector<intrusive_ptr<Mode>> saved, saved_below;
  uint8_t bits;
};
// Arguments with `dispatches`: set by the binding.
extern void (*dispatch_wrappers)(const OpInfo& op, Stack& stack);

template <class R>
struct FromStack {
  static R take(Stack& s, size_t i) { return R(Unboxer<R>(s[i]).get()); }
};
template <>
struct FromStack<std::vector<Tensor>> {
  static std::vector<Tensor> take(Stack& s, size_t i) { return Unboxer<TensorList>(s[i]).value; }
};
template <class... T>
struct FromStack<std::tuple<T...>> {
  template <size_t... I>
  static std::tuple<T...> all(Stack& s, std::index_sequence<I...>) {
    return {FromStack<T>::take(s, I)...};
  }
  static std::tuple<T...> take(Stack& s, size_t) { return all(s, std::index_sequence_for<T...>{}); }
};

template <class R, class... A>
R call_mode(const OpInfo& op, const A&... args) {
  Stack stack;
  stack.reserve(sizeof...(A));
  (stack.push_back(box(args)), ...);
  call_mode_boxed(op, stack);
  if constexpr (!std::is_void_v<R>) return FromStack<R>::take(stack, 0);
}

// The boxed trampoline of a function: a template per signature.
template <auto F>
struct Boxed;
template <class R, class... A, R (*F)(A...)>
struct Boxed<F> {
  template <size_t... I>
  static R invoke(Stack& s, std::index_sequence<I...>) {
    return F(Unboxer<std::remove_cv_t<std::remove_reference_t<A>>>(s[I]).get()...);
  }
  template <class T>
  static void push(Stack& s, T&& r) { s.push_back(box(r)); }
  template <class... T>
  static void push(Stack& s, std::tuple<T...>&& r) {
    std::apply([&](auto&... x) { (s.push_back(box(x)), ...); }, r);
  }
  static void call(Stack& s) {
    if constexpr (std::is_void_v<R>) {
      invoke(s, std::index_sequence_for<A...>{});
      s.clear();
    } else {
      R r = invoke(s, std::index_sequence_for<A...>{});
      s.clear();
      push(s, std::move(r));
    }
  }
};

// ---- the registry: every generated OpInfo, and those added at run time (torch.library)
void register_ops(const OpInfo* const* ops, size_t n);  // called once by generated code
const OpInfo* find_op(std::string_view name, std::string_view overload);
std::vector<const OpInfo*> find_overloads(std::string_view name);
std::vector<const OpInfo*> all_ops();

}  // namespace rl
