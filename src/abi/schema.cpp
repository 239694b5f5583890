// The parser and the printer of operator schemas.
#include "abi/schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace rl::abi {
namespace {

using Kind = Type::Kind;

struct KindName {
  std::string_view name;
  Kind kind;
};
// The first name of a kind is the one that is printed; the last five are ours.
constexpr KindName kKinds[] = {
    {"Tensor", Kind::Tensor}, {"Scalar", Kind::Scalar}, {"int", Kind::Int},
    {"SymInt", Kind::SymInt}, {"float", Kind::Float}, {"complex", Kind::Complex},
    {"bool", Kind::Bool}, {"SymBool", Kind::SymBool}, {"str", Kind::Str},
    {"ScalarType", Kind::ScalarType}, {"Layout", Kind::Layout},
    {"MemoryFormat", Kind::MemoryFormat}, {"Device", Kind::Device},
    {"Generator", Kind::Generator}, {"Stream", Kind::Stream}, {"Storage", Kind::Storage},
    {"Any", Kind::Any}, {"NoneType", Kind::None}, {"number", Kind::Scalar},
    {"SymFloat", Kind::Float}, {"dtype", Kind::ScalarType}, {"layout", Kind::Layout},
    {"memory_format", Kind::MemoryFormat}, {"device", Kind::Device}};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema schema() {
    Schema s = name();
    arguments(s);
    expect("->");
    results(s);
    skip();
    if (at_ < text_.size()) wrong("nothing more");
    return s;
  }

  Schema name() {
    Schema s;
    s.name = word("an operator name");
    while (take("::")) s.name += "::" + word("an operator name");
    if (peek() == '.') {
      ++at_;
      s.overload = word("an overload name");
    }
    return s;
  }

 private:
  [[noreturn]] void wrong(std::string_view wanted) {
    fail("schema parser: expected ", wanted, " at position ", int64_t(at_), " of:\n", text_, "\n",
         std::string(at_, ' '), "~ <--- HERE");
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) wrong(str("'", token, "'"));
  }
  std::string word(std::string_view what) {
    skip();
    size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (begin == at_) wrong(what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  void arguments(Schema& s) {
    expect("(");
    bool keyword = false;
    if (take(")")) return;
    do {
      if (take("...")) {
        s.vararg = true;
        break;
      }
      if (peek() == '*') {
        ++at_;
        keyword = true;
        continue;
      }
      Argument a = argument();
      a.kwarg_only = keyword;
      s.arguments.push_back(std::move(a));
    } while (take(","));
    expect(")");
  }

  Argument argument() {
    Argument a;
    a.type = type();
    a.name = word("an argument name");
    if (peek() == '[') {  // the old form: int x[2]
      ++at_;
      Type list;
      list.kind = Kind::List;
      list.size = std::stoll(word("a length"));
      expect("]");
      list.inner.push_back(std::move(a.type));
      a.type = std::move(list);
    }
    if (take("=")) a.fallback = value(a.type);
    return a;
  }

  void results(Schema& s) {
    if (take("...")) {
      s.varret = true;
      return;
    }
    if (!take("(")) {
      s.returns.push_back(result());
      return;
    }
    if (take(")")) return;
    do {
      if (take("...")) {
        s.varret = true;
        break;
      }
      s.returns.push_back(result());
    } while (take(","));
    expect(")");
  }
  Argument result() {
    Argument a;
    a.type = type();
    if (is_name(peek())) a.name = word("a name");
    return a;
  }

  std::string annotation() {
    expect("(");
    size_t end = text_.find(')', at_);
    if (end == text_.npos) wrong("')'");
    std::string alias(text_.substr(at_, end - at_));
    at_ = end + 1;
    return alias;
  }

  Type type() {
    check(++depth_ < 100, "schema parser: types are nested too deeply");
    Type t = base_type();
    --depth_;
    while (true) {
      char c = peek();
      if (c == '?') {
        ++at_;
        t = wrap(Kind::Optional, std::move(t));
      } else if (c == '[') {
        ++at_;
        int64_t size = std::isdigit(static_cast<unsigned char>(peek()))
                           ? std::stoll(word("a length")) : -1;
        expect("]");
        t = wrap(Kind::List, std::move(t));
        t.size = size;
      } else if (c == '(' && (t.is(Kind::Tensor) || t.is(Kind::List)) && t.alias.empty()) {
        t.alias = annotation();
      } else {
        return t;
      }
    }
  }
  static Type wrap(Kind kind, Type inner) {
    Type t;
    t.kind = kind;
    t.inner.push_back(std::move(inner));
    return t;
  }
  Type compound(Kind kind) {
    Type t;
    t.kind = kind;
    if (take(")")) return t;
    do t.inner.push_back(type());
    while (take(","));
    expect(")");
    return t;
  }

  Type base_type() {
    if (take("(")) return compound(Kind::Tuple);
    std::string name = word("a type");
    while (peek() == '.' && at_ + 1 < text_.size() && is_name(text_[at_ + 1])) {
      ++at_;
      name += "." + word("a type");
    }
    Type t;
    if (name == "Dict" || name == "Future" || name == "Union" || name == "RRef" ||
        name == "Await") {
      expect("(");
      t = compound(name == "Dict" ? Kind::Dict : name == "Future" ? Kind::Future : Kind::Other);
      t.name = name;
      return t;
    }
    auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                               [&](const KindName& k) { return k.name == name; });
    t.kind = known == std::end(kKinds) ? Kind::Other : known->kind;
    t.name = name;
    if (known == std::end(kKinds) && name.find('.') == name.npos && !is_type_variable(name) &&
        name != "AnyEnumType" && name != "QScheme" && name != "Capsule" && name != "t")
      fail("unknown type specifier: ", name, " in ", text_);
    if (t.is(Kind::Tensor) && take("|")) {
      if (word("Scalar") != "Scalar") wrong("Scalar");
      t.or_number = true;
    }
    return t;
  }
  static bool is_type_variable(const std::string& name) {
    return std::islower(static_cast<unsigned char>(name[0])) && name != "qscheme"
               ? name.size() <= 2 : false;
  }

  // ---- default values
  IValue value(const Type& t) {
    if (t.is(Kind::Optional)) return starts_word("None") ? literal(t) : value(t.element());
    if (t.is(Kind::List) && (peek() == '[' || peek() == '{')) return list_value(t);
    if (t.is(Kind::List)) return one_for_all(t);
    return literal(t);
  }
  bool starts_word(std::string_view w) {
    skip();
    return text_.substr(at_, w.size()) == w &&
           (at_ + w.size() >= text_.size() || !is_name(text_[at_ + w.size()]));
  }
  IValue list_value(const Type& t) {
    char close = text_[at_++] == '[' ? ']' : '}';
    std::vector<IValue> items;
    if (peek() != close) {
      do items.push_back(value(t.element()));
      while (take(","));
    }
    if (peek() != close) wrong(close == ']' ? "']'" : "'}'");
    ++at_;
    return typed_list(t, std::move(items));
  }
  // int[2] x=1 stands for [1, 1]
  IValue one_for_all(const Type& t) {
    IValue v = literal(t.element());
    if (v.is_none()) return v;
    return typed_list(t, std::vector<IValue>(size_t(std::max<int64_t>(t.size, 1)), v));
  }
  static IValue typed_list(const Type& t, std::vector<IValue> items) {
    Kind k = t.element().kind;
    if (k == Kind::Int || k == Kind::SymInt) return convert<int64_t>(items);
    if (k == Kind::Float) return convert<double>(items);
    if (k == Kind::Bool) return convert<bool>(items);
    if (k == Kind::Tensor && items.empty()) return IValue(std::vector<Tensor>());
    return IValue(std::move(items));
  }
  template <class T>
  static IValue convert(const std::vector<IValue>& items) {
    std::vector<T> out;
    for (const IValue& v : items) {
      if constexpr (std::is_same_v<T, bool>) out.push_back(std::get<bool>(v.v));
      else out.push_back(Unboxer<T>(v).get());
    }
    return IValue(std::move(out));
  }

  IValue literal(const Type& t) {
    char c = peek();
    if (c == '"' || c == '\'') return IValue(quoted());
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.')
      return number(t);
    std::string w = word("a default value");
    if (w == "None") return IValue();
    if (w == "True") return IValue(true);
    if (w == "False") return IValue(false);
    if (w == "inf") return IValue(HUGE_VAL);
    if (w == "nan") return IValue(std::nan(""));
    if (w == "Mean") return IValue(int64_t(1));
    if (w == "Sum") return IValue(int64_t(2));
    if (t.is(Kind::MemoryFormat)) return memory_format(w);
    if (t.is(Kind::Layout) && w == "strided") return IValue(Layout::Strided);
    if (t.is(Kind::ScalarType) || t.is(Kind::Int))
      return IValue(dtype_from_name(w == "long" ? "int64" : w == "float" ? "float32" : w));
    if (t.is(Kind::Device) || t.is(Kind::Str)) return IValue(w);
    wrong("a default value");
  }
  IValue memory_format(const std::string& w) {
    if (w == "contiguous_format") return IValue(MemoryFormat::Contiguous);
    if (w == "preserve_format") return IValue(MemoryFormat::Preserve);
    if (w == "channels_last") return IValue(MemoryFormat::ChannelsLast);
    if (w == "channels_last_3d") return IValue(MemoryFormat::ChannelsLast3d);
    wrong("a memory format");
  }
  std::string quoted() {
    char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (at_ == text_.size()) wrong("the end of a string");
    ++at_;
    return out;
  }
  IValue number(const Type& t) {
    size_t begin = at_;
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    if (starts_word("inf")) {
      at_ += 3;
      return IValue(text_[begin] == '-' ? -HUGE_VAL : HUGE_VAL);
    }
    bool real = false;
    while (at_ < text_.size()) {
      char c = text_[at_];
      bool sign = (c == '-' || c == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (c == '.' || c == 'e' || c == 'E') real = true;
      else if (!std::isdigit(static_cast<unsigned char>(c)) && !sign) break;
      ++at_;
    }
    std::string digits(text_.substr(begin, at_ - begin));
    if (digits == "-" || digits == "+") wrong("a number");
    if (t.is(Kind::ScalarType)) return IValue(DType(std::stoi(digits)));
    if (t.is(Kind::MemoryFormat)) return IValue(MemoryFormat(std::stoi(digits)));
    if (t.is(Kind::Layout)) return IValue(Layout(std::stoi(digits)));
    if (real || t.is(Kind::Float)) return IValue(std::stod(digits));
    return IValue(int64_t(std::stoll(digits)));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

// ---- printing

std::string number_text(double v) {
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  int n = std::snprintf(buffer, sizeof buffer, "%.17g", v);
  std::string s(buffer, size_t(n));
  if (s.find_first_of(".en") == s.npos) s += '.';
  return s;
}

template <class V, class F>
std::string joined(const V& v, F&& f) {
  std::string s = "[";
  for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + f(v[i]);
  return s + "]";
}

std::string value_text(const IValue& v, const Type& t) {
  using Tag = IValue::Tag;
  if (t.is(Kind::Optional) && !v.is_none()) return value_text(v, t.element());
  switch (v.tag()) {
    case Tag::None: return "None";
    case Tag::Bool: return std::get<bool>(v.v) ? "True" : "False";
    case Tag::Int: return std::to_string(std::get<int64_t>(v.v));
    case Tag::Float: return number_text(std::get<double>(v.v));
    case Tag::Str: return "\"" + std::get<std::string>(v.v) + "\"";
    case Tag::DType: return std::to_string(int(std::get<DType>(v.v)));
    case Tag::Layout: return std::to_string(int(std::get<Layout>(v.v)));
    case Tag::MemoryFormat: return std::to_string(int(std::get<MemoryFormat>(v.v)));
    case Tag::IntList: {
      auto& list = std::get<std::vector<int64_t>>(v.v);
      bool same = t.size > 0 && std::all_of(list.begin(), list.end(),
                                            [&](int64_t x) { return x == list[0]; });
      if (same && !list.empty() && int64_t(list.size()) == t.size) return std::to_string(list[0]);
      return joined(list, [](int64_t x) { return std::to_string(x); });
    }
    case Tag::FloatList: return joined(std::get<std::vector<double>>(v.v), number_text);
    case Tag::BoolList:
      return joined(std::get<std::vector<bool>>(v.v),
                    [](bool x) { return std::string(x ? "True" : "False"); });
    case Tag::List:
      return joined(std::get<std::vector<IValue>>(v.v),
                    [&](const IValue& x) { return value_text(x, t.element()); });
    case Tag::TensorList: return "[]";
    default: return "...";
  }
}

}  // namespace

const std::string& Type::annotation() const {
  if (!alias.empty() || inner.empty() || is(Kind::Tuple)) return alias;
  return inner.front().annotation();
}

void append(std::string& s, const Type& t) {
  if (t.is(Kind::Optional)) {
    append(s, t.element());
    s += '?';
  } else if (t.is(Kind::List)) {
    append(s, t.element());
    s += '[';
    if (t.size >= 0) s += std::to_string(t.size);
    s += ']';
    if (!t.alias.empty()) s += "(" + t.alias + ")";
  } else if (!t.inner.empty() || t.is(Kind::Tuple)) {
    s += (t.is(Kind::Tuple) ? "" : t.name) + "(";
    for (size_t i = 0; i < t.inner.size(); ++i) {
      if (i) s += ", ";
      append(s, t.inner[i]);
    }
    s += ')';
  } else {
    auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                               [&](const KindName& k) { return k.kind == t.kind; });
    if (t.is(Kind::Other)) s += t.name;
    else s += known->name;
    if (!t.alias.empty()) s += "(" + t.alias + ")";
  }
}

void append(std::string& s, const Schema& schema) {
  s += schema.qualified() + "(";
  bool keyword = false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& a = schema.arguments[i];
    if (i) s += ", ";
    if (a.kwarg_only && !keyword) s += "*, ";
    keyword = a.kwarg_only;
    append(s, a.type);
    s += " " + a.name;
    if (a.fallback) s += "=" + value_text(*a.fallback, a.type);
  }
  if (schema.vararg) s += schema.arguments.empty() ? "..." : ", ...";
  s += ") -> ";
  bool many = schema.returns.size() != 1 || schema.varret;
  if (many) s += '(';
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    if (i) s += ", ";
    append(s, schema.returns[i].type);
    if (!schema.returns[i].name.empty()) s += " " + schema.returns[i].name;
  }
  if (schema.varret) s += schema.returns.empty() ? "..." : ", ...";
  if (many) s += ')';
}

Schema parse_schema(std::string_view text) { return Parser(text).schema(); }
Schema parse_name(std::string_view text) { return Parser(text).name(); }

}  // namespace rl::abi
