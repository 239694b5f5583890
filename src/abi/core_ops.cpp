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

// Overloads that the core calls otherwise than PyTorch: the core's name and overload, PyTorch's.
struct Renamed {
  const char *name, *overload, *published;
};
constexpr Renamed kRenamed[] = {
    {"all", "out", "all_out"}, {"any", "out", "all_out"}, {"arange", "start_step_out", "start_out"},
    {"bitwise_and", "out", "Tensor_out"}, {"bitwise_left_shift", "Scalar", "Tensor_Scalar"},
    {"bitwise_left_shift", "out", "Tensor_out"},
    {"bitwise_left_shift_", "Scalar", "Tensor_Scalar"}, {"bitwise_or", "out", "Tensor_out"},
    {"bitwise_right_shift", "Scalar", "Tensor_Scalar"},
    {"bitwise_right_shift", "out", "Tensor_out"},
    {"bitwise_right_shift_", "Scalar", "Tensor_Scalar"}, {"bitwise_xor", "out", "Tensor_out"},
    {"div", "Tensor_mode_out", "out_mode"}, {"empty", "", "memory_format"},
    {"eq", "out", "Tensor_out"}, {"float_power", "Tensor", "Tensor_Tensor"},
    {"float_power", "out", "Tensor_Tensor_out"}, {"floor_divide", "Tensor", ""},
    {"fmod", "out", "Tensor_out"}, {"frobenius_norm", "dim_out", "out"},
    {"ge", "out", "Tensor_out"}, {"geqrf", "out", "a"}, {"gt", "out", "Tensor_out"},
    {"kthvalue", "out", "values"},
    {"le", "out", "Tensor_out"}, {"linalg_cholesky_ex", "out", "L"},
    {"linalg_eigh", "out", "eigvals"}, {"linalg_inv_ex", "out", "inverse"},
    {"linalg_matrix_rank", "tol_tensor_out", "out_tol_tensor"},
    {"linalg_pinv", "rcond_tensor_out", "out_rcond_tensor"}, {"linalg_svd", "out", "U"},
    {"lt", "out", "Tensor_out"}, {"max", "dim_out", "dim_max"}, {"max", "other_out", "out"},
    {"max", "out", "unary_out"}, {"mean", "dim_out", "out"}, {"mean", "out", "dtype_out"},
    {"median", "dim_out", "dim_values"}, {"min", "dim_out", "dim_min"},
    {"min", "other_out", "out"}, {"min", "out", "unary_out"}, {"mode", "out", "values"},
    {"nanmedian", "dim_out", "dim_values"}, {"ne", "out", "Tensor_out"},
    {"pow", "Tensor", "Tensor_Tensor"}, {"pow", "out", "Tensor_Tensor_out"},
    {"prod", "dim_int_out", "int_out"}, {"remainder", "out", "Tensor_out"},
    {"sort", "out", "values"}, {"sort", "stable_out", "values_stable"}, {"std", "dim_out", "out"},
    {"sum", "dim_IntList_out", "IntList_out"}, {"svd", "out", "U"}, {"topk", "out", "values"},
    {"transpose", "", "int"}, {"var", "dim_out", "out"}, {"xlogy", "Scalar", "Scalar_Other"},
    {"xlogy", "out", "OutTensor"}, {"xlogy_", "Scalar", "Scalar_Other"}};

// Operators that PyTorch calls special_<name>, and no other way.
constexpr std::string_view kSpecial[] = {
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
    "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "entr", "erfcx",
    "hermite_polynomial_h", "hermite_polynomial_he", "i0e", "i1", "i1e",
    "laguerre_polynomial_l", "legendre_polynomial_p", "log_ndtr", "modified_bessel_i0",
    "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "ndtr", "ndtri",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "spherical_bessel_j0", "xlog1py", "zeta"};

struct Signature {
  Schema schema;
  std::vector<int> order;  // of the core's arguments, in the public schema; -1: left out
  int layout = -1, pin_memory = -1;
};

std::pair<std::string, std::string> published_name(const OpInfo& op) {
  std::string name = op.name, overload = op.overload;
  if (std::find(std::begin(kSpecial), std::end(kSpecial), name) != std::end(kSpecial)) {
    if (overload == "Tensor") overload.clear();
    if (overload == "Scalar")
      overload = name.find("polynomial") == name.npos ? "other_scalar" : "n_scalar";
    return {"special_" + name, overload};
  }
  for (const Renamed& r : kRenamed)
    if (name == r.name && overload == r.overload) return {name, r.published};
  return {name, overload};
}

Signature make_signature(const OpInfo& op) {
  Schema core = parse_schema(op.schema);
  Signature out;
  out.schema = core;
  auto [name, overload] = published_name(op);
  out.schema.name = "aten::" + name;
  out.schema.overload = overload;
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

// Those of the name itself, and of special_<name>.
std::vector<const OpInfo*> published_overloads(std::string_view name) {
  std::vector<const OpInfo*> out;
  auto add = [&](std::string_view core) {
    for (const OpInfo* op : find_overloads(core))
      if (published_name(*op).first == name) out.push_back(op);
  };
  add(name);
  if (name.rfind("special_", 0) == 0) add(name.substr(8));
  return out;
}

const OpInfo* find_published(std::string_view name, std::string_view overload) {
  for (const OpInfo* op : published_overloads(name))
    if (published_name(*op).second == overload) return op;
  return nullptr;
}

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

void to_public_arguments(const OpInfo& op, Stack& stack) {
  const Signature& s = signature(op);
  Stack out(s.schema.arguments.size());
  for (size_t i = 0; i < s.order.size() && i < stack.size(); ++i)
    if (s.order[i] >= 0) out[size_t(s.order[i])] = std::move(stack[i]);
  stack = std::move(out);
}

void call_op(const OpInfo& op, Stack& stack) { op.boxed(stack); }

}  // namespace rl::abi
