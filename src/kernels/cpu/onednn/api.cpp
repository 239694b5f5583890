// Opens the bundled oneDNN and resolves the functions of api.h.
#include "kernels/cpu/onednn/api.h"

#include "base/check.h"
#include "base/dylib.h"

namespace rl::onednn {
namespace {

Api load() {
  Api a{};
  void* library = open_bundled("librl_dnnl.so.3");
#define RL_DNNL_RESOLVE(name) \
  a.name = reinterpret_cast<decltype(a.name)>(find_symbol(library, #name));
  RL_DNNL_FUNCTIONS(RL_DNNL_RESOLVE)
#undef RL_DNNL_RESOLVE
  check(a.dnnl_engine_create(&a.engine, dnnl_cpu, 0) == dnnl_success,
        "oneDNN could not create its CPU engine");
  return a;
}

}  // namespace

const Api& api() {
  static const Api table = load();
  return table;
}

dnnl_stream_t stream() {
  static thread_local dnnl_stream_t s = nullptr;
  if (!s) [[unlikely]] {
    check(api().dnnl_stream_create(&s, api().engine, dnnl_stream_default_flags) == dnnl_success,
          "oneDNN could not create a stream");
  }
  return s;
}

}  // namespace rl::onednn
