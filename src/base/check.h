// Errors of the core: one exception class with a kind that the front ends map to their own classes
// (Python: RuntimeError, IndexError, TypeError, ...), and `check`, which formats only on failure.
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rl {

enum class ErrorKind : uint8_t {
  Runtime, Index, Type, Value, NotImplemented, OutOfMemory, Linalg, Overflow, Assertion,
  External  // an exception of the front end is already set (Python hooks); carry it through
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string what) : kind_(kind), what_(std::move(what)) {}
  ErrorKind kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorKind kind_;
  std::string what_;
};

// append(std::string&, value): found by argument-dependent lookup for types of the core.
inline void append(std::string& s, std::string_view v) { s += v; }
inline void append(std::string& s, const char* v) { s += v; }
inline void append(std::string& s, const std::string& v) { s += v; }
inline void append(std::string& s, char v) { s += v; }
inline void append(std::string& s, bool v) { s += v ? "True" : "False"; }
void append_double(std::string& s, double v);  // shortest form, as C++ streams print it
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>)
void append(std::string& s, T v) {
  s += std::to_string(v);
}
template <class T>
  requires std::is_floating_point_v<T>
void append(std::string& s, T v) {
  append_double(s, double(v));
}

template <class... A>
std::string str(const A&... args) {
  std::string s;
  (append(s, args), ...);
  return s;
}

[[noreturn]] void throw_error(ErrorKind kind, std::string message);

template <class... A>
[[noreturn, gnu::cold, gnu::noinline]] void fail_as(ErrorKind kind, const A&... args) {
  throw_error(kind, str(args...));
}
template <class... A>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const A&... args) {
  throw_error(ErrorKind::Runtime, str(args...));
}
template <class... A>
inline void check(bool ok, const A&... args) {
  if (!ok) [[unlikely]] fail_as(ErrorKind::Runtime, args...);
}
template <class... A>
inline void check_index(bool ok, const A&... args) {
  if (!ok) [[unlikely]] fail_as(ErrorKind::Index, args...);
}
template <class... A>
inline void check_type(bool ok, const A&... args) {
  if (!ok) [[unlikely]] fail_as(ErrorKind::Type, args...);
}
template <class... A>
inline void check_value(bool ok, const A&... args) {
  if (!ok) [[unlikely]] fail_as(ErrorKind::Value, args...);
}
template <class... A>
inline void check_implemented(bool ok, const A&... args) {
  if (!ok) [[unlikely]] fail_as(ErrorKind::NotImplemented, args...);
}

}  // namespace rl
