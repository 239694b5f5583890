// The stack machine behind parse_pickle; see unpickler.h. Internal to this folder.
#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serialize/unpickler.h"

namespace rl::serialize {

class PickleMachine {
 public:
  PickleMachine(std::string_view data, const PickleOptions& options);
  void run();
  size_t position() const { return at_; }
  PickleTree tree;

 private:
  // Reading. All throw when the data end.
  std::string_view take(uint64_t n);
  template <class T>
  T number();
  std::string_view line();

  // Making nodes.
  NodeId node(NodeKind kind, int64_t value);
  NodeId text(NodeKind kind, std::string_view s);
  NodeId list(NodeKind kind, std::vector<NodeId> items);
  NodeId integer(int64_t v) { return node(NodeKind::Int, v); }
  NodeId real(double v);
  NodeId long_bytes(std::string_view s);
  NodeId decimal(std::string_view s);
  NodeId escaped(std::string_view s);

  // The stack.
  void push(NodeId id) { stack_.push_back(id); }
  NodeId pop();
  NodeId top() const;
  std::vector<NodeId> pop_mark();
  void memo_put(uint64_t index);
  void memo_get(uint64_t index);

  // Opcodes by group; false if the opcode is not of that group.
  bool constant(uint8_t op);
  bool string(uint8_t op);
  bool stack(uint8_t op);
  bool container(uint8_t op);
  bool mutation(uint8_t op);
  bool object(uint8_t op);

  void add_items(PickleAction::Kind action, NodeKind plain, std::vector<NodeId> items);
  void global(std::string_view module, std::string_view name);
  void make_object(PickleObject::How how, NodeId callable, NodeId args, NodeId kwargs);
  void persistent(NodeId pid);
  void check_depth() const;

  std::string_view data_;
  const PickleOptions& options_;
  size_t at_ = 0;
  int protocol_ = 0;
  NodeId none_ = 0, false_ = 0, true_ = 0, empty_tuple_ = 0;
  std::vector<NodeId> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, NodeId> memo_;
};

}  // namespace rl::serialize
