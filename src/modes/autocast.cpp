// Casting by rule, and the copies of weights in the low precision that one region shares.
#include "modes/autocast.h"

#include <array>
#include <unordered_map>

#include "autograd/node.h"
#include "core/mode_call.h"
#include "gen/ops/create.h"

namespace rl {

namespace {

struct DeviceDefault {
  const char* type;
  DType dtype;
};
constexpr DeviceDefault kDevices[] = {
    {"cpu", DType::BFloat16}, {"cuda", DType::Half},     {"xpu", DType::Half},
    {"mps", DType::Half},     {"hpu", DType::BFloat16},  {"xla", DType::BFloat16},
    {"mtia", DType::Half},    {"ipu", DType::Half},      {"maia", DType::BFloat16},
    {"privateuseone", DType::Half}};
constexpr int kCpu = 0, kNumDevices = int(std::size(kDevices));

struct CastWeight {
  Tensor weight, cast;  // the weight is held: its address is the key
  uint32_t version;
};

struct AutocastState {
  std::array<bool, kNumDevices> enabled{};
  std::array<DType, kNumDevices> dtypes;
  int nesting = 0;
  bool cache_enabled = true;
  std::unordered_map<const TensorImpl*, CastWeight> cache;
  AutocastState() {
    for (int i = 0; i < kNumDevices; ++i) dtypes[size_t(i)] = kDevices[i].dtype;
  }
};
thread_local AutocastState state;

bool castable(const Tensor& t) {
  return t.defined() && t.is_floating() && t.dtype() != DType::Double && t.device().is_cpu();
}

bool low(DType d) { return d == DType::BFloat16 || d == DType::Half; }

// A parameter is cast once in a region, however often it is used. With recording off the copy
// would have no history, which a later use might need.
bool worth_keeping(const Tensor& t, DType to) {
  return low(to) && t.dtype() == DType::Float && t.requires_grad() && state.cache_enabled &&
         state.nesting > 0 && tls.grad_mode && is_leaf(t) && !is_view(t);
}

Tensor cast_kept(const Tensor& t, DType to) {
  auto [it, fresh] = state.cache.try_emplace(t.impl());
  CastWeight& kept = it->second;
  if (fresh || kept.cast.dtype() != to || kept.version != t.version())
    kept = {t, rl::to(t, to), t.version()};
  return kept.cast;
}

}  // namespace

int autocast_device(std::string_view type) {
  for (int i = 0; i < kNumDevices; ++i)
    if (type == kDevices[i].type) return i;
  return -1;
}
bool autocast_enabled(int device) { return state.enabled[size_t(device)]; }
void set_autocast_enabled(int device, bool on) {
  state.enabled[size_t(device)] = on;
  if (device != kCpu) return;
  tls.modes = uint8_t(on ? tls.modes | kAutocast : tls.modes & ~kAutocast);
}
DType autocast_dtype(int device) { return state.dtypes[size_t(device)]; }
void set_autocast_dtype(int device, DType dtype) { state.dtypes[size_t(device)] = dtype; }
bool autocast_cache_enabled() { return state.cache_enabled; }
void set_autocast_cache_enabled(bool on) { state.cache_enabled = on; }
void clear_autocast_cache() { state.cache.clear(); }
int autocast_increment_nesting() { return ++state.nesting; }
int autocast_decrement_nesting() { return --state.nesting; }

// ---- the casts of one call
ArgumentCasts::ArgumentCasts(const OpInfo& op) : op_(op), bits_(tls.modes) {
  tls.modes &= uint8_t(~kAutocast);
  DType to = state.dtypes[kCpu];
  if (op.autocast == AutocastRule::Fp32) to = DType::Float;
  to_ = to;
}

ArgumentCasts::~ArgumentCasts() { tls.modes |= bits_ & kAutocast; }

// promote: the widest of the arguments, which are the region's type or float32.
void ArgumentCasts::see_tensor(const Tensor& t) {
  if (op_.autocast != AutocastRule::Promote || !castable(t) || to_ == DType::Float) return;
  if (t.dtype() == DType::Float) {
    to_ = DType::Float;
    return;
  }
  check(t.dtype() == to_, "Unexpected floating ScalarType in at::autocast::prioritize");
}

Tensor ArgumentCasts::cast(const Tensor& t) {
  if (!castable(t) || t.dtype() == to_) return t;
  return worth_keeping(t, to_) ? cast_kept(t, to_) : to(t, to_);
}

std::vector<Tensor> ArgumentCasts::cast(TensorList l) {
  std::vector<Tensor> out;
  out.reserve(l.size());
  for (const Tensor& t : l) out.push_back(cast(t));
  return out;
}

}  // namespace rl
