// The opcodes of pickle protocols 0 to 5, as documented in Python's module `pickletools`.
#include "serialize/unpickler.h"

#include <charconv>
#include <cstring>

#include "serialize/pickle_machine.h"

namespace rl::serialize {
namespace {

template <class... A>
[[noreturn, gnu::cold]] void refuse(const A&... args) {
  throw PickleError(str(args...));
}
[[noreturn, gnu::cold]] void truncated() { refuse("EOFError: pickle data was truncated"); }

constexpr bool is_container(NodeKind k) {
  return k == NodeKind::Tuple || k == NodeKind::List || k == NodeKind::Set ||
         k == NodeKind::FrozenSet || k == NodeKind::Dict || k == NodeKind::Global ||
         k == NodeKind::PersistentId;
}

void append_utf8(std::string& s, uint32_t c) {
  if (c < 0x80) {
    s += char(c);
  } else if (c < 0x800) {
    s += char(0xC0 | c >> 6);
    s += char(0x80 | (c & 63));
  } else if (c < 0x10000) {
    s += char(0xE0 | c >> 12);
    s += char(0x80 | (c >> 6 & 63));
    s += char(0x80 | (c & 63));
  } else {
    s += char(0xF0 | c >> 18);
    s += char(0x80 | (c >> 12 & 63));
    s += char(0x80 | (c >> 6 & 63));
    s += char(0x80 | (c & 63));
  }
}

const char* name_of(NodeKind k) {
  constexpr const char* names[] = {"None", "bool", "bool", "int", "int", "int", "float", "str",
                                   "str", "bytes", "bytearray", "tuple", "list", "set",
                                   "frozenset", "dict", "a global", "an object", "a storage"};
  return names[size_t(k)];
}

}  // namespace

std::vector<NodeId> PickleTree::children(NodeId id) const {
  if (kind(id) == NodeKind::Object) {
    const PickleObject& o = object(id);
    std::vector<NodeId> all{o.callable, o.args, o.kwargs};
    for (const PickleAction& a : o.actions) all.insert(all.end(), a.items.begin(), a.items.end());
    return all;
  }
  if (!is_container(kind(id)) || kind(id) == NodeKind::Global) return {};
  auto s = items(id);
  return {s.begin(), s.end()};
}

PickleMachine::PickleMachine(std::string_view data, const PickleOptions& options)
    : data_(data), options_(options) {
  none_ = node(NodeKind::None, 0);
  false_ = node(NodeKind::False, 0);
  true_ = node(NodeKind::True, 0);
  empty_tuple_ = list(NodeKind::Tuple, {});
}

// ---------------------------------------------------------------- reading

std::string_view PickleMachine::take(uint64_t n) {
  if (n > data_.size() - at_) truncated();
  std::string_view s = data_.substr(at_, n);
  at_ += n;
  return s;
}

template <class T>
T PickleMachine::number() {
  T v;
  std::memcpy(&v, take(sizeof v).data(), sizeof v);
  return v;
}

std::string_view PickleMachine::line() {
  const size_t end = data_.find('\n', at_);
  if (end == std::string_view::npos) truncated();
  std::string_view s = data_.substr(at_, end - at_);
  at_ = end + 1;
  return s;
}

// ---------------------------------------------------------------- nodes

NodeId PickleMachine::node(NodeKind kind, int64_t value) {
  if (tree.nodes_.size() >= options_.max_nodes) refuse("the pickle has too many objects");
  PickleTree::Node n{kind, {}};
  n.value.i = value;
  tree.nodes_.push_back(n);
  return NodeId(tree.nodes_.size() - 1);
}

NodeId PickleMachine::text(NodeKind kind, std::string_view s) {
  tree.texts_.push_back(s);
  return node(kind, int64_t(tree.texts_.size() - 1));
}

NodeId PickleMachine::list(NodeKind kind, std::vector<NodeId> items) {
  tree.lists_.push_back(std::move(items));
  return node(kind, int64_t(tree.lists_.size() - 1));
}

NodeId PickleMachine::real(double v) {
  NodeId id = node(NodeKind::Float, 0);
  tree.nodes_[id].value.d = v;
  return id;
}

NodeId PickleMachine::long_bytes(std::string_view s) {
  if (s.size() > 8) return text(NodeKind::BigInt, s);
  uint64_t v = 0;
  for (size_t i = 0; i < s.size(); ++i) v |= uint64_t(uint8_t(s[i])) << 8 * i;
  if (!s.empty() && s.size() < 8 && (uint8_t(s.back()) & 128)) v |= ~uint64_t(0) << 8 * s.size();
  return integer(int64_t(v));
}

NodeId PickleMachine::decimal(std::string_view s) {
  if (!s.empty() && s.back() == 'L') s.remove_suffix(1);
  int64_t v = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (end == s.data() + s.size() && error == std::errc()) return integer(v);
  if (end != s.data() + s.size() || s.size() > 4000) refuse("ValueError: not an integer");
  return text(NodeKind::Decimal, s);
}

// Python's raw-unicode-escape: Latin-1, with \uXXXX and \UXXXXXXXX for the rest.
NodeId PickleMachine::escaped(std::string_view s) {
  std::string& out = tree.owned_.emplace_back();
  for (size_t i = 0; i < s.size(); ++i) {
    const size_t digits = s[i] != '\\' || i + 1 >= s.size() ? 0
                          : s[i + 1] == 'u' ? 4 : s[i + 1] == 'U' ? 8 : 0;
    if (!digits) {
      append_utf8(out, uint8_t(s[i]));
      continue;
    }
    if (s.size() - i - 2 < digits) refuse("UnicodeDecodeError: truncated escape");
    uint32_t c = 0;
    const char* first = s.data() + i + 2;
    auto [end, error] = std::from_chars(first, first + digits, c, 16);
    if (end != first + digits || c > 0x10FFFF) refuse("UnicodeDecodeError: illegal escape");
    append_utf8(out, c);
    i += 1 + digits;
  }
  return text(NodeKind::Str, out);
}

// ---------------------------------------------------------------- the stack

NodeId PickleMachine::pop() {
  NodeId id = top();
  stack_.pop_back();
  return id;
}

NodeId PickleMachine::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("unexpected empty stack");
  return stack_.back();
}

std::vector<NodeId> PickleMachine::pop_mark() {
  if (marks_.empty()) refuse("could not find MARK");
  std::vector<NodeId> items(stack_.begin() + ptrdiff_t(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return items;
}

void PickleMachine::memo_put(uint64_t index) { memo_[index] = top(); }

void PickleMachine::memo_get(uint64_t index) {
  auto it = memo_.find(index);
  if (it == memo_.end()) refuse("Memo value not found at index ", index);
  push(it->second);
}

// ---------------------------------------------------------------- opcodes

bool PickleMachine::constant(uint8_t op) {
  switch (op) {
    case 'N': push(none_); return true;
    case 0x88: push(true_); return true;
    case 0x89: push(false_); return true;
    case 'J': push(integer(number<int32_t>())); return true;
    case 'K': push(integer(number<uint8_t>())); return true;
    case 'M': push(integer(number<uint16_t>())); return true;
    case 'G': {
      uint64_t bits = __builtin_bswap64(number<uint64_t>());
      double v;
      std::memcpy(&v, &bits, sizeof v);
      push(real(v));
      return true;
    }
    case 'F': {
      std::string_view s = line();
      double v = 0;
      auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
      if (end != s.data() + s.size()) refuse("ValueError: not a float");
      push(real(v));
      return true;
    }
    case 'I': {
      std::string_view s = line();
      push(s == "00" ? false_ : s == "01" ? true_ : decimal(s));
      return true;
    }
    case 'L': push(decimal(line())); return true;
    case 0x8A: push(long_bytes(take(number<uint8_t>()))); return true;
    case 0x8B: {
      int32_t n = number<int32_t>();
      if (n < 0) refuse("LONG4 has a negative length");
      push(long_bytes(take(uint32_t(n))));
      return true;
    }
    default: return false;
  }
}

bool PickleMachine::string(uint8_t op) {
  switch (op) {
    case 'X': push(text(NodeKind::Str, take(number<uint32_t>()))); return true;
    case 0x8C: push(text(NodeKind::Str, take(number<uint8_t>()))); return true;
    case 0x8D: push(text(NodeKind::Str, take(number<uint64_t>()))); return true;
    case 'V': push(escaped(line())); return true;
    case 'C': push(text(NodeKind::Bytes, take(number<uint8_t>()))); return true;
    case 'B': push(text(NodeKind::Bytes, take(number<uint32_t>()))); return true;
    case 0x8E: push(text(NodeKind::Bytes, take(number<uint64_t>()))); return true;
    case 0x96: push(text(NodeKind::ByteArray, take(number<uint64_t>()))); return true;
    case 'U': push(text(NodeKind::OldStr, take(number<uint8_t>()))); return true;
    case 'T': {
      int32_t n = number<int32_t>();
      if (n < 0) refuse("BINSTRING has a negative length");
      push(text(NodeKind::OldStr, take(uint32_t(n))));
      return true;
    }
    default: return false;
  }
}

bool PickleMachine::stack(uint8_t op) {
  auto index_of_line = [&] {
    NodeId id = decimal(line());
    if (tree.kind(id) != NodeKind::Int || tree.integer(id) < 0)
      refuse("ValueError: bad memo index");
    return uint64_t(tree.integer(id));
  };
  switch (op) {
    case '(': marks_.push_back(stack_.size()); return true;
    case '0':
      if (stack_.size() > (marks_.empty() ? 0 : marks_.back())) stack_.pop_back();
      else pop_mark();
      return true;
    case '1': pop_mark(); return true;
    case '2': push(top()); return true;
    case 'h': memo_get(number<uint8_t>()); return true;
    case 'j': memo_get(number<uint32_t>()); return true;
    case 'g': memo_get(index_of_line()); return true;
    case 'q': memo_put(number<uint8_t>()); return true;
    case 'r': memo_put(number<uint32_t>()); return true;
    case 'p': memo_put(index_of_line()); return true;
    case 0x94: memo_put(memo_.size()); return true;
    default: return false;
  }
}

bool PickleMachine::container(uint8_t op) {
  switch (op) {
    case ')': push(empty_tuple_); return true;
    case ']': push(list(NodeKind::List, {})); return true;
    case '}': push(list(NodeKind::Dict, {})); return true;
    case 0x8F: push(list(NodeKind::Set, {})); return true;
    case 0x85: case 0x86: case 0x87: {
      const size_t n = op - 0x84, floor = marks_.empty() ? 0 : marks_.back();
      if (stack_.size() - floor < n) refuse("unexpected empty stack");
      std::vector<NodeId> items(stack_.end() - ptrdiff_t(n), stack_.end());
      stack_.resize(stack_.size() - n);
      push(list(NodeKind::Tuple, std::move(items)));
      return true;
    }
    case 't': push(list(NodeKind::Tuple, pop_mark())); return true;
    case 'l': push(list(NodeKind::List, pop_mark())); return true;
    case 0x91: push(list(NodeKind::FrozenSet, pop_mark())); return true;
    case 'd': {
      auto items = pop_mark();
      if (items.size() % 2) refuse("odd number of items for a dict");
      push(list(NodeKind::Dict, std::move(items)));
      return true;
    }
    default: return false;
  }
}

void PickleMachine::add_items(PickleAction::Kind action, NodeKind plain,
                              std::vector<NodeId> items) {
  const NodeId target = top();
  const NodeKind kind = tree.kind(target);
  if (action == PickleAction::SetItems && items.size() % 2)
    refuse("odd number of items for a dict");
  if (kind == NodeKind::Object && action != PickleAction::Append) {
    tree.objects_[tree.nodes_[target].value.i].actions.push_back({action, std::move(items)});
    return;
  }
  if (kind != plain) {
    constexpr const char* verbs[] = {"append to lists", "set items of dicts", "add items to sets"};
    refuse("Can only ", verbs[action], ", but got ", name_of(kind));
  }
  auto& list = tree.lists_[tree.nodes_[target].value.i];
  list.insert(list.end(), items.begin(), items.end());
}

bool PickleMachine::mutation(uint8_t op) {
  switch (op) {
    case 'a': {
      NodeId item = pop();
      add_items(PickleAction::Append, NodeKind::List, {item});
      return true;
    }
    case 'e': add_items(PickleAction::Append, NodeKind::List, pop_mark()); return true;
    case 's': {
      NodeId value = pop(), key = pop();
      add_items(PickleAction::SetItems, NodeKind::Dict, {key, value});
      return true;
    }
    case 'u': add_items(PickleAction::SetItems, NodeKind::Dict, pop_mark()); return true;
    case 0x90: add_items(PickleAction::AddItems, NodeKind::Set, pop_mark()); return true;
    case 'b': {
      NodeId state = pop(), target = top();
      if (tree.kind(target) != NodeKind::Object)
        refuse("Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
               "`add_safe_globals`, but got ", name_of(tree.kind(target)));
      auto& actions = tree.objects_[tree.nodes_[target].value.i].actions;
      actions.push_back({PickleAction::Build, {state}});
      return true;
    }
    default: return false;
  }
}

void PickleMachine::global(std::string_view module, std::string_view name) {
  // Protocols up to 2 use the names of Python 2.
  if (protocol_ < 3 && module == "__builtin__") module = "builtins";
  if (module == "os" || module == "sys" || module == "posix" || module == "nt")
    refuse("Trying to load unsupported GLOBAL ", module, ".", name, " whose module ", module,
           " is blocked.");
  const bool ok = options_.allowed ? options_.allowed(module, name)
                                   : default_allowed(module, name);
  if (!ok) {
    const std::string full = module == "builtins" ? std::string(name) : str(module, ".", name);
    refuse("Unsupported global: GLOBAL ", full, " was not an allowed global by default. Please use "
           "`torch.serialization.add_safe_globals([", full, "])` or the "
           "`torch.serialization.safe_globals([", full, "])` context manager to allowlist this "
           "global if you trust this class/function.");
  }
  const NodeId m = text(NodeKind::Str, module), n = text(NodeKind::Str, name);
  push(list(NodeKind::Global, {m, n}));
}

void PickleMachine::make_object(PickleObject::How how, NodeId callable, NodeId args,
                                NodeId kwargs) {
  if (tree.kind(callable) != NodeKind::Global)
    refuse("Trying to call reduce for unrecognized function: ", name_of(tree.kind(callable)));
  if (tree.kind(args) != NodeKind::Tuple) refuse("arguments must be a tuple");
  tree.objects_.push_back({how, callable, args, kwargs, {}});
  push(node(NodeKind::Object, int64_t(tree.objects_.size() - 1)));
}

void PickleMachine::persistent(NodeId pid) {
  const NodeKind kind = tree.kind(pid);
  if (kind != NodeKind::Tuple && kind != NodeKind::Int)
    refuse("persistent_load id must be tuple or int, but got ", name_of(kind));
  if (kind == NodeKind::Tuple) {
    auto items = tree.items(pid);
    const NodeKind first = items.empty() ? NodeKind::None : tree.kind(items[0]);
    if ((first != NodeKind::Str && first != NodeKind::OldStr) || tree.text(items[0]) != "storage")
      refuse("Only persistent_load of storage is allowed");
  }
  push(list(NodeKind::PersistentId, {pid}));
}

bool PickleMachine::object(uint8_t op) {
  switch (op) {
    case 'c': {
      std::string_view module = line();
      global(module, line());
      return true;
    }
    case 0x93: {
      NodeId name = pop(), module = pop();
      if (tree.kind(name) != NodeKind::Str || tree.kind(module) != NodeKind::Str)
        refuse("STACK_GLOBAL requires str");
      global(tree.text(module), tree.text(name));
      return true;
    }
    case 'R': {
      NodeId args = pop();
      make_object(PickleObject::Reduce, pop(), args, none_);
      return true;
    }
    case 0x81: {
      NodeId args = pop();
      make_object(PickleObject::New, pop(), args, none_);
      return true;
    }
    case 0x92: {
      NodeId kwargs = pop(), args = pop();
      if (tree.kind(kwargs) != NodeKind::Dict) refuse("keyword arguments must be a dict");
      make_object(PickleObject::New, pop(), args, kwargs);
      return true;
    }
    case 'Q': persistent(pop()); return true;
    default: return false;
  }
}

void PickleMachine::run() {
  for (;;) {
    const uint8_t op = number<uint8_t>();
    if (op == '.') break;
    if (op == 0x80) {
      protocol_ = number<uint8_t>();
      if (protocol_ > 5) refuse("unsupported pickle protocol: ", protocol_);
    } else if (op == 0x95) {
      if (number<uint64_t>() > data_.size() - at_) truncated();
    } else if (!constant(op) && !string(op) && !stack(op) && !container(op) && !mutation(op) &&
               !object(op)) {
      refuse("Unsupported operand ", int(op));
    }
  }
  tree.root_ = pop();
  check_depth();
}

// Depth-first, as the caller will make the objects: the path must not be longer than allowed.
void PickleMachine::check_depth() const {
  struct Frame {
    std::vector<NodeId> children;
    size_t next = 0;
  };
  std::vector<bool> seen(tree.nodes_.size());
  std::vector<Frame> path;
  path.push_back({tree.children(tree.root_)});
  seen[tree.root_] = true;
  while (!path.empty()) {
    Frame& frame = path.back();
    if (frame.next == frame.children.size()) {
      path.pop_back();
      continue;
    }
    const NodeId id = frame.children[frame.next++];
    if (seen[id]) continue;
    seen[id] = true;
    auto children = tree.children(id);
    if (children.empty()) continue;
    if (path.size() >= options_.max_depth) refuse("the pickle is nested too deeply");
    path.push_back({std::move(children)});
  }
}

PickleTree parse_pickle(std::string_view data, const PickleOptions& options, size_t* consumed) {
  PickleMachine machine(data, options);
  machine.run();
  if (consumed) *consumed = machine.position();
  return std::move(machine.tree);
}

}  // namespace rl::serialize
