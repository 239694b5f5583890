#include "base/check.h"

#include <cmath>
#include <cstdio>

#include "base/small_vec.h"

namespace rl {

void append_double(std::string& s, double v) {
  if (std::isnan(v)) {
    s += "nan";
    return;
  }
  if (std::isinf(v)) {
    s += v < 0 ? "-inf" : "inf";
    return;
  }
  char buf[40];
  std::snprintf(buf, sizeof buf, "%g", v);
  s += buf;
}

[[gnu::cold]] void refuse_small_vec(size_t bytes) {
  throw Error(ErrorKind::OutOfMemory,
              "not enough memory: you tried to allocate " + std::to_string(bytes) +
                  " bytes for a list of sizes.");
}

void throw_error(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

}  // namespace rl
