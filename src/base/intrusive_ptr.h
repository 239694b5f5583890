// Reference counting inside the object: one word per object, no control block.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rl {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // A sole owner needs no read-modify-write: nobody else can be racing for this object.
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const_cast<RefCounted*>(this)->last_release();
    }
  }
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }

 protected:
  // Called when the last reference is gone; an owner outside C++ (a Python object) may revive it.
  virtual void last_release() { delete this; }
  mutable std::atomic<uint32_t> count_{0};
};

template <class T>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}
  explicit intrusive_ptr(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  intrusive_ptr(const intrusive_ptr& o) : intrusive_ptr(o.p_) {}
  intrusive_ptr(intrusive_ptr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
    requires(!std::is_same_v<T, U> && std::is_convertible_v<U*, T*>)
  intrusive_ptr(const intrusive_ptr<U>& o) : intrusive_ptr(static_cast<T*>(o.get())) {}
  template <class U>
    requires(!std::is_same_v<T, U> && std::is_convertible_v<U*, T*>)
  intrusive_ptr(intrusive_ptr<U>&& o) noexcept : p_(o.detach()) {}
  intrusive_ptr& operator=(intrusive_ptr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~intrusive_ptr() {
    if (p_) p_->release();
  }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  T* detach() noexcept { return std::exchange(p_, nullptr); }  // gives the reference away
  void reset() noexcept { intrusive_ptr().swap(*this); }
  void swap(intrusive_ptr& o) noexcept { std::swap(p_, o.p_); }
  static intrusive_ptr adopt(T* p) noexcept {  // takes over a reference that is already counted
    intrusive_ptr r;
    r.p_ = p;
    return r;
  }
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) { return a.p_ == b.p_; }
  friend bool operator==(const intrusive_ptr& a, std::nullptr_t) { return a.p_ == nullptr; }

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
intrusive_ptr<T> make_intrusive(A&&... args) {
  return intrusive_ptr<T>(new T(std::forward<A>(args)...));
}

}  // namespace rl
