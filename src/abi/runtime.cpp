// Threads, devices and streams through the stable C ABI. There is no accelerator: what asks for one
// fails and says so.
#include <cstdlib>
#include <cstring>

#include "abi/stable.h"
#include "base/parallel.h"

using namespace rl;
using namespace rl::abi;

// ---- threads
RL_ABI Status torch_parallel_for(int64_t begin, int64_t end, int64_t grain,
                                 void (*f)(int64_t, int64_t, void*), void* context) {
  return guarded([&] {
    parallel_for(begin, end, grain, [&](int64_t b, int64_t e) { f(b, e, context); });
  });
}
RL_ABI Status torch_get_thread_idx(uint32_t* out) {
  *out = uint32_t(thread_index());
  return 0;
}
RL_ABI Status torch_get_num_threads(uint32_t* out) {
  *out = uint32_t(num_threads());
  return 0;
}

// ---- gradients
RL_ABI bool aoti_torch_grad_mode_is_enabled() { return tls.grad_mode; }
RL_ABI void aoti_torch_grad_mode_set_enabled(bool on) { tls.grad_mode = on; }

// ---- devices
RL_ABI Status torch_parse_device_string(const char* text, uint32_t* type, int32_t* index) {
  return guarded([&] {
    Device d = parse_device(text);
    *type = uint32_t(d.type);
    *index = d.index;
  });
}

namespace {
[[noreturn]] void no_accelerator() {
  fail("Cannot access accelerator device when none is available.");
}
Status no_cuda() {
  return guarded([] { no_accelerator(); });
}
}  // namespace

RL_ABI Status aoti_torch_get_current_device_index(int32_t*) { return no_cuda(); }
RL_ABI Status aoti_torch_create_device_guard(int32_t, void**) { return no_cuda(); }
RL_ABI Status aoti_torch_delete_device_guard(void*) { return 0; }
RL_ABI Status aoti_torch_device_guard_set_index(void*, int32_t) { return no_cuda(); }
RL_ABI Status aoti_torch_get_current_stream(int32_t, void**) { return no_cuda(); }
RL_ABI Status aoti_torch_delete_stream(void*) { return 0; }
RL_ABI Status aoti_torch_stream_id(void*, int64_t*) { return no_cuda(); }
RL_ABI Status aoti_torch_get_current_cuda_stream(int32_t, void**) { return no_cuda(); }
RL_ABI Status torch_get_cuda_stream_from_pool(bool, int32_t, void**) { return no_cuda(); }
RL_ABI Status torch_set_current_cuda_stream(void*, int32_t) { return no_cuda(); }
RL_ABI Status torch_cuda_stream_synchronize(void*, int32_t) { return no_cuda(); }
RL_ABI Status torch_get_current_cuda_blas_handle(void**) { return no_cuda(); }

// The message for a CUDA error code; null for success.
RL_ABI Status torch_c10_cuda_check_msg(int32_t error, const char*, const char*, uint32_t, bool,
                                       char** message) {
  return guarded([&] {
    *message = error == 0 ? nullptr
                          : strdup(str("CUDA error: code ", error,
                                       " (no CUDA-capable device is detected)").c_str());
  });
}
RL_ABI void torch_c10_cuda_free_error_msg(char* message) { std::free(message); }
