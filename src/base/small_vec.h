// SmallVec: a vector of trivially copyable values with room for N inside (sizes, strides).
// ArrayRef: a borrowed contiguous range; never store one beyond the call it was given to.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace rl {

// Throws OutOfMemory: a small vector could not get this many bytes (base/check.cpp).
[[noreturn]] void refuse_small_vec(size_t bytes);

template <class T>
class ArrayRef {
 public:
  using value_type = T;
  ArrayRef() = default;
  ArrayRef(const T* p, size_t n) : p_(p), n_(n) {}
  ArrayRef(const T* first, const T* last) : p_(first), n_(size_t(last - first)) {}
  ArrayRef(std::initializer_list<T> l) : p_(l.begin()), n_(l.size()) {}
  ArrayRef(const std::vector<T>& v) : p_(v.data()), n_(v.size()) {}
  template <size_t N>
  ArrayRef(const T (&a)[N]) : p_(a), n_(N) {}
  explicit ArrayRef(const T& one) : p_(&one), n_(1) {}

  const T* data() const { return p_; }
  const T* begin() const { return p_; }
  const T* end() const { return p_ + n_; }
  size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  const T& operator[](size_t i) const { return p_[i]; }
  const T& front() const { return p_[0]; }
  const T& back() const { return p_[n_ - 1]; }
  ArrayRef slice(size_t from, size_t n) const { return {p_ + from, n}; }
  ArrayRef slice(size_t from) const { return {p_ + from, n_ - from}; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  friend bool operator==(ArrayRef a, ArrayRef b) {
    return a.n_ == b.n_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  const T* p_ = nullptr;
  size_t n_ = 0;
};

template <class T, size_t N>
class SmallVec {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  SmallVec() = default;
  explicit SmallVec(size_t n, T value = T()) { resize(n, value); }
  SmallVec(std::initializer_list<T> l) { assign(l.begin(), l.size()); }
  SmallVec(ArrayRef<T> r) { assign(r.data(), r.size()); }
  SmallVec(const T* first, const T* last) { assign(first, size_t(last - first)); }
  SmallVec(const SmallVec& o) { assign(o.data(), o.size()); }
  SmallVec(SmallVec&& o) noexcept { steal(o); }
  SmallVec& operator=(const SmallVec& o) {
    if (this != &o) assign(o.data(), o.size());
    return *this;
  }
  SmallVec& operator=(SmallVec&& o) noexcept {
    if (this != &o) {
      free_heap();
      steal(o);
    }
    return *this;
  }
  ~SmallVec() { free_heap(); }

  T* data() { return p_; }
  const T* data() const { return p_; }
  T* begin() { return p_; }
  T* end() { return p_ + n_; }
  const T* begin() const { return p_; }
  const T* end() const { return p_ + n_; }
  size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  T& operator[](size_t i) { return p_[i]; }
  const T& operator[](size_t i) const { return p_[i]; }
  T& front() { return p_[0]; }
  T& back() { return p_[n_ - 1]; }
  const T& back() const { return p_[n_ - 1]; }
  operator ArrayRef<T>() const { return {p_, n_}; }

  void clear() { n_ = 0; }
  void reserve(size_t n) {
    if (n > cap_) grow(n);
  }
  void resize(size_t n, T value = T()) {
    reserve(n);
    for (size_t i = n_; i < n; ++i) p_[i] = value;
    n_ = uint32_t(n);
  }
  void push_back(T v) {
    if (n_ == cap_) grow(size_t(cap_) * 2);
    p_[n_++] = v;
  }
  void pop_back() { --n_; }
  void assign(const T* p, size_t n) {
    reserve(n);
    if (n) std::memmove(p_, p, n * sizeof(T));
    n_ = uint32_t(n);
  }
  void insert(size_t at, T v) {
    push_back(v);
    for (size_t i = n_ - 1; i > at; --i) p_[i] = p_[i - 1];
    p_[at] = v;
  }
  void erase(size_t at) {
    for (size_t i = at; i + 1 < n_; ++i) p_[i] = p_[i + 1];
    --n_;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  friend bool operator==(const SmallVec& a, const SmallVec& b) {
    return ArrayRef<T>(a) == ArrayRef<T>(b);
  }

 private:
  void free_heap() {
    if (p_ != inline_) std::free(p_);
  }
  void steal(SmallVec& o) {
    if (o.p_ == o.inline_) {
      p_ = inline_;
      cap_ = N;
      std::memcpy(inline_, o.inline_, sizeof inline_);
    } else {
      p_ = o.p_;
      cap_ = o.cap_;
      o.p_ = o.inline_;
      o.cap_ = N;
    }
    n_ = o.n_;
    o.n_ = 0;
  }
  void grow(size_t n) {
    if (n > UINT32_MAX) [[unlikely]] refuse_small_vec(n * sizeof(T));
    T* q = static_cast<T*>(std::malloc(n * sizeof(T)));
    if (!q) [[unlikely]] refuse_small_vec(n * sizeof(T));
    std::memcpy(q, p_, n_ * sizeof(T));
    free_heap();
    p_ = q;
    cap_ = uint32_t(n);
  }

  T* p_ = inline_;
  uint32_t n_ = 0, cap_ = N;
  T inline_[N];
};

using Dims = SmallVec<int64_t, 5>;
using IntRef = ArrayRef<int64_t>;

inline void append(std::string& s, IntRef v) {
  s += '[';
  for (size_t i = 0; i < v.size(); ++i) {
    if (i) s += ", ";
    s += std::to_string(v[i]);
  }
  s += ']';
}
inline void append(std::string& s, const Dims& v) { append(s, IntRef(v)); }

}  // namespace rl
