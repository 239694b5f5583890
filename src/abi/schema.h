// Operator schemas: the text "ns::name.overload(Tensor(a!) self, int[2] size=1, *, Device? d=None)
// -> (Tensor, int)" as values. Used by everything that calls operators by name: the stable C ABI,
// torch.library and torch.ops.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/op.h"

namespace rl::abi {

struct Type {
  // Other: a type that only Python values have (Dict, Future, classes, type variables).
  enum class Kind : uint8_t {
    Tensor, Scalar, Int, SymInt, Float, Complex, Bool, SymBool, Str, ScalarType, Layout,
    MemoryFormat, Device, Generator, Stream, Storage, Any, None, List, Optional, Tuple, Dict,
    Future, Other
  };
  Kind kind = Kind::Tensor;
  std::string name;             // as written, of Other
  std::vector<Type> inner;      // of List, Optional (one), Tuple, Dict, Future
  int64_t size = -1;            // int[2]
  std::string alias;            // "a!", "a! -> *", or empty; that of the outermost annotation
  bool or_number = false;       // our "Tensor|Scalar"

  const Type& element() const { return inner.front(); }
  bool is(Kind k) const { return kind == k; }
  const std::string& annotation() const;  // this type's or an inner one's
  bool writes() const { return annotation().find('!') != std::string::npos; }
};
void append(std::string& s, const Type& t);  // as PyTorch prints it

struct Argument {
  Type type;
  std::string name;             // may be empty for results
  std::optional<IValue> fallback;  // the default value
  bool kwarg_only = false;
};

struct Schema {
  std::string name, overload;   // "ns::name"
  std::vector<Argument> arguments, returns;
  bool vararg = false, varret = false;
  std::string qualified() const { return overload.empty() ? name : name + "." + overload; }
};
void append(std::string& s, const Schema& schema);

// Throws Runtime with the place of the mistake.
Schema parse_schema(std::string_view text);
Schema parse_name(std::string_view text);  // "ns::name.overload" alone, no arguments

// The schema of an operator of the core as PyTorch writes it: its names for types, the layout and
// pin_memory of factories, annotations of outputs. Made once per operator.
const Schema& public_schema(const OpInfo& op);
// By PyTorch's names for operators and overloads, which are those of public_schema().
std::vector<const OpInfo*> published_overloads(std::string_view name);
const OpInfo* find_published(std::string_view name, std::string_view overload);
// Arguments in the order of public_schema() become those of op.schema, and are checked: a layout
// other than strided, or pinned memory, is not implemented.
void to_core_arguments(const OpInfo& op, Stack& stack);

// The other way; what the core does not know of is None.
void to_public_arguments(const OpInfo& op, Stack& stack);

// Calls an operator; the active modes see it.
void call_op(const OpInfo& op, Stack& stack);

}  // namespace rl::abi
