// The warning handler (see warn.h).
#include "base/warn.h"

#include <atomic>
#include <cstdio>

namespace rl {
namespace {

std::atomic<WarningHandler> g_handler{nullptr};

}  // namespace

WarningHandler set_warning_handler(WarningHandler h) { return g_handler.exchange(h); }

void emit_warning(WarningKind kind, const std::string& message) {
  if (WarningHandler h = g_handler.load()) {
    h(kind, message);
  } else {
    std::fprintf(stderr, "[W] %s\n", message.c_str());
  }
}

}  // namespace rl
