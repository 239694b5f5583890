// The safe reader of pickles: runs the stack machine of the module `pickle` on data alone and
// gives a neutral tree. Nothing is imported, called or built here; names that the allow-list does
// not have are refused. What the tree's objects become is the caller's business.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace rl::serialize {

// The pickle is damaged or holds something that is not allowed.
class PickleError : public Error {
 public:
  explicit PickleError(std::string what) : Error(ErrorKind::Value, std::move(what)) {}
};

enum class NodeKind : uint8_t {
  None, False, True,
  Int,        // fits in 64 bits
  BigInt,     // text: two's complement, little-endian
  Decimal,    // text: an integer in decimal that does not fit in 64 bits
  Float,
  Str,        // text: UTF-8
  OldStr,     // text: 8-bit string of Python 2, of an encoding that the caller knows
  Bytes, ByteArray,
  Tuple, List, Set, FrozenSet,
  Dict,       // items: key, value, key, value, ...
  Global,     // items: module and name, both Str
  Object,     // see PickleObject
  PersistentId  // items: the id
};

using NodeId = uint32_t;

// What is done to an object after its making, in order.
struct PickleAction {
  enum Kind : uint8_t { Append, SetItems, AddItems, Build } kind;
  std::vector<NodeId> items;
};

struct PickleObject {
  enum How : uint8_t { Reduce, New } how;  // callable(*args), or callable.__new__(callable, *args)
  NodeId callable, args, kwargs;           // kwargs is None's node where there are none
  std::vector<PickleAction> actions;
};

struct PickleOptions {
  // Whether a global may be named; `default_allowed` if empty.
  std::function<bool(std::string_view module, std::string_view name)> allowed;
  uint32_t max_nodes = 1u << 25;
  uint32_t max_depth = 1000;
};

// Whether torch.load(weights_only=True) knows this name without the user's help.
bool default_allowed(std::string_view module, std::string_view name);

// A tree; strings point into the pickle, which must outlive it. Nodes may be shared and, through
// lists, dicts, sets and objects, form cycles.
class PickleTree {
 public:
  NodeId root() const { return root_; }
  size_t size() const { return nodes_.size(); }
  NodeKind kind(NodeId id) const { return nodes_[id].kind; }
  int64_t integer(NodeId id) const { return nodes_[id].value.i; }
  double real(NodeId id) const { return nodes_[id].value.d; }
  std::string_view text(NodeId id) const { return texts_[nodes_[id].value.i]; }
  std::span<const NodeId> items(NodeId id) const { return lists_[nodes_[id].value.i]; }
  const PickleObject& object(NodeId id) const { return objects_[nodes_[id].value.i]; }
  std::string_view module(NodeId global) const { return text(items(global)[0]); }
  std::string_view name(NodeId global) const { return text(items(global)[1]); }
  // The nodes that a node refers to, in the order in which they are to be made.
  std::vector<NodeId> children(NodeId id) const;

 private:
  friend class PickleMachine;
  struct Node {
    NodeKind kind;
    union {
      int64_t i;  // the number, or an index into texts_, lists_ or objects_
      double d;
    } value;
  };
  NodeId root_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::string_view> texts_;
  std::vector<std::vector<NodeId>> lists_;
  std::vector<PickleObject> objects_;
  std::deque<std::string> owned_;  // strings that had to be decoded
};

// Reads one pickle from the start of `data`; `consumed`, if given, is set to its length.
// Throws PickleError.
PickleTree parse_pickle(std::string_view data, const PickleOptions& options = {},
                        size_t* consumed = nullptr);

}  // namespace rl::serialize
