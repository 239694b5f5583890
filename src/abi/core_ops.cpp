// Operators of the core under the schemas that PyTorch gives them, for callers by name.
#include <algorithm>
#include <map>
#include <mutex>

#include "abi/schema.h"

namespace rl::abi {
namespace {

using Kind = Type::Kind;

Argument optional_argument(Kind kind, const char* name) {
  Argument a;
  a.type.kind = Kind::Optional;
  a.type.inner.resize(1);
  a.type.inner[0].kind = kind;
  a.name = name;
  a.fallback = IValue();
  a.kwarg_only = true;
  return a;
}

auto find(std::vector<Argument>& arguments, std::string_view name) {
  return std::find_if(arguments.begin(), arguments.end(),
                      [&](const Argument& a) { return a.name == name; });
}

bool is_optional_keyword(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& a : arguments)
    if (a.name == name) return a.kwarg_only && a.type.is(Kind::Optional);
  return false;
}

bool writes_output(const Schema& s) {
  return std::any_of(s.arguments.begin(), s.arguments.end(),
                     [](const Argument& a) { return a.kwarg_only && a.type.writes(); });
}

// dtype and device of a factory become dtype, layout, device, pin_memory; out= forms have none.
void complete_factory(Schema& s) {
  auto& arguments = s.arguments;
  if (!is_optional_keyword(arguments, "dtype") || !is_optional_keyword(arguments, "device") ||
      find(arguments, "layout") != arguments.end())
    return;
  auto generator = find(arguments, "generator");  // overloads of their own have it
  if (generator != arguments.end() && s.overload.find("generator") == std::string::npos)
    arguments.erase(generator);
  if (writes_output(s)) {
    arguments.erase(find(arguments, "dtype"));
    arguments.erase(find(arguments, "device"));
    return;
  }
  arguments.insert(find(arguments, "device"), optional_argument(Kind::Layout, "layout"));
  arguments.insert(find(arguments, "device") + 1, optional_argument(Kind::Bool, "pin_memory"));
}

// Results of in-place and out= forms are the tensors written to.
void annotate_results(Schema& s) {
  if (writes_output(s)) {
    char letter = 'a';
    size_t i = 0;
    for (Argument& a : s.arguments) {
      if (!a.kwarg_only || !a.type.writes() || !a.type.is(Kind::Tensor)) continue;
      a.type.alias = std::string(1, letter++) + "!";
      if (i >= s.returns.size()) continue;
      if (s.returns.size() > 1 && !s.returns[i].name.empty()) a.name = s.returns[i].name;
      s.returns[i++].type.alias = a.type.alias;
    }
  } else if (s.name.ends_with('_') && !s.name.ends_with("__") && !s.arguments.empty() &&
             s.arguments[0].type.is(Kind::Tensor) && s.returns.size() == 1) {
    s.arguments[0].type.alias = s.returns[0].type.alias = "a!";
  }
}

struct Signature {
  Schema schema;
  std::vector<int> order;  // of the core's arguments, in the public schema; -1: left out
  int layout = -1, pin_memory = -1;
};

Signature make_signature(const OpInfo& op) {
  Schema core = parse_schema(op.schema);
  Signature out;
  out.schema = core;
  out.schema.name = std::string("aten::") + op.name;
  out.schema.overload = op.overload;
  annotate_results(out.schema);
  if (out.schema.overload == "Scalar" && out.schema.arguments.back().name == "alpha")
    out.schema.arguments.back().kwarg_only = false;
  std::vector<std::string> names;  // of the core's arguments, as the public schema calls them
  for (const Argument& a : out.schema.arguments) names.push_back(a.name);
  complete_factory(out.schema);
  auto position = [&](const std::string& name) {
    auto it = find(out.schema.arguments, name);
    return it == out.schema.arguments.end() ? -1 : int(it - out.schema.arguments.begin());
  };
  for (const std::string& name : names) out.order.push_back(position(name));
  if (std::find(names.begin(), names.end(), "layout") == names.end())
    out.layout = position("layout");
  if (std::find(names.begin(), names.end(), "pin_memory") == names.end())
    out.pin_memory = position("pin_memory");
  return out;
}

const Signature& signature(const OpInfo& op) {
  static std::mutex mutex;
  static auto& known = *new std::map<const OpInfo*, Signature>();
  std::lock_guard lock(mutex);
  auto it = known.find(&op);
  if (it == known.end()) it = known.emplace(&op, make_signature(op)).first;
  return it->second;
}

}  // namespace

const Schema& public_schema(const OpInfo& op) { return signature(op).schema; }

void to_core_arguments(const OpInfo& op, Stack& stack) {
  const Signature& s = signature(op);
  check(stack.size() == s.schema.arguments.size(), "aten::", op.name, ": expected ",
        int64_t(s.schema.arguments.size()), " arguments, got ", int64_t(stack.size()));
  if (s.layout >= 0)
    if (auto* layout = std::get_if<Layout>(&stack[size_t(s.layout)].v))
      check_implemented(*layout == Layout::Strided, "aten::", op.name, ": layout ",
                        layout_name(*layout), " is not implemented");
  if (s.pin_memory >= 0)
    if (auto* pin = std::get_if<bool>(&stack[size_t(s.pin_memory)].v))
      check(!*pin, "Cannot access accelerator device when none is available.");
  Stack core(s.order.size());
  for (size_t i = 0; i < core.size(); ++i)
    if (s.order[i] >= 0) core[i] = std::move(stack[size_t(s.order[i])]);
  stack = std::move(core);
}

void call_op(const OpInfo& op, Stack& stack) {
  if (tls.modes && !mode_declines(op)) call_mode_boxed(op, stack);
  else op.boxed(stack);
}

}  // namespace rl::abi
