// Warnings of the core. The front end installs a handler (Python: warnings.warn with UserWarning);
// without one they go to standard error.
#pragma once
#include <string>

#include "base/check.h"

namespace rl {

enum class WarningKind : uint8_t { User, Deprecation, Future };

using WarningHandler = void (*)(WarningKind kind, const std::string& message);
WarningHandler set_warning_handler(WarningHandler h);  // returns the old one
void emit_warning(WarningKind kind, const std::string& message);

template <class... A>
[[gnu::cold, gnu::noinline]] void warn(const A&... args) {
  emit_warning(WarningKind::User, str(args...));
}

}  // namespace rl
