// A plan: one oneDNN primitive with its memory objects, and the reorders between the caller's
// layouts and those that the primitive asked for. Plans live in a cache of the calling thread, so
// a call costs a hash, a few pointer stores and the execution. Private to this folder.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "kernels/cpu/onednn/api.h"
#include "kernels/cpu/onednn/provider.h"

namespace rl::onednn {

constexpr int kMaxDims = 6;  // groups, out, in, depth, height, width of a weight

using Desc = std::unique_ptr<dnnl_memory_desc, dnnl_status_t (*)(dnnl_memory_desc_t)>;
using PrimitiveDesc =
    std::unique_ptr<dnnl_primitive_desc, dnnl_status_t (*)(dnnl_primitive_desc_t)>;

dnnl_data_type_t data_type(Type t);
void must(dnnl_status_t status, const char* what);

Desc strided_desc(Type type, int ndim, const int64_t* dims, const int64_t* strides);
Desc any_desc(Type type, int ndim, const int64_t* dims);
PrimitiveDesc own(dnnl_primitive_desc_t p);

// True when the primitive is one of oneDNN's plain reference loops, which we never want.
bool is_reference(const_dnnl_primitive_desc_t pd);
// Moves to the next implementation until it is not a reference one; false when there is none.
bool skip_reference(dnnl_primitive_desc_t pd);

class Plan {
 public:
  Plan() = default;  // a plan without primitive remembers that oneDNN declined
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan();

  // start(), then the arguments in the order in which run() gets their pointers. Where the
  // primitive wants another layout than `user`, a reorder is added.
  void start(const_dnnl_primitive_desc_t pd);
  void argument(int arg, const Desc& user, bool output);
  void runtime_scale(int arg);  // one float, set before each run by set_scale()
  bool usable() const { return primitive_ != nullptr; }
  void set_scale(float s) { scale_ = s; }
  void run(const void* const* pointers);

 private:
  struct Reorder {
    dnnl_primitive_t primitive;
    dnnl_memory_t user, inner;
    size_t bytes, scratch_bytes;
    dnnl_memory_t scratch;
    int operand;
    bool output;
  };
  void run_reorder(const Reorder& r, char* scratch);

  static constexpr int kMaxArgs = 8, kMaxReorders = 4;
  const_dnnl_primitive_desc_t pd_ = nullptr;  // only while building
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_exec_arg_t args_[kMaxArgs];
  int count_ = 0;
  dnnl_memory_t user_[kMaxArgs] = {};  // set to the caller's pointers at each run
  int operands_ = 0;
  Reorder reorders_[kMaxReorders];
  int reorder_count_ = 0;
  dnnl_memory_t scratch_ = nullptr;
  size_t scratch_bytes_ = 0, total_bytes_ = 0;
  dnnl_memory_t scale_memory_ = nullptr;
  float scale_ = 1;
};

// Keys are plain structs without padding holes (zeroed before use), compared by their bytes.
template <class Key>
struct HashBytes {
  size_t operator()(const Key& key) const {
    static_assert(sizeof(Key) % 8 == 0);
    uint64_t h = 0x9e3779b97f4a7c15u;
    const char* p = reinterpret_cast<const char*>(&key);
    for (size_t i = 0; i < sizeof(Key); i += 8) {
      uint64_t w;
      std::memcpy(&w, p + i, 8);
      h = (h ^ w) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return h;
  }
};
template <class Key>
struct EqualBytes {
  bool operator()(const Key& a, const Key& b) const { return !std::memcmp(&a, &b, sizeof(Key)); }
};

template <class Key, class Make>
Plan& cached_plan(const Key& key, Make&& make) {
  // Shapes that change at every call must not grow the process: start again when full.
  constexpr size_t kCapacity = 1024;
  using Map = std::unordered_map<Key, std::unique_ptr<Plan>, HashBytes<Key>, EqualBytes<Key>>;
  static thread_local Map plans;
  auto it = plans.find(key);
  if (it == plans.end()) [[unlikely]] {
    if (plans.size() >= kCapacity) plans.clear();
    auto plan = std::make_unique<Plan>();
    make(key, *plan);
    it = plans.emplace(key, std::move(plan)).first;
  }
  return *it->second;
}

// The OpenMP team size while a plan is made and run: small products run on one thread, because
// waking a team costs more than they do (and much more where another process has the core).
class Team {
 public:
  explicit Team(double flops);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  int size() const { return size_; }

 private:
  int size_, before_;
};

}  // namespace rl::onednn
