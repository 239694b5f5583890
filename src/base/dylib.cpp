// dlopen of the bundled libraries. RTLD_LOCAL keeps their symbols from any other copy of them.
#include "base/dylib.h"

#include <dlfcn.h>

#include "base/check.h"

namespace rl {

std::string library_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&library_folder), &info) || !info.dli_fname) return ".";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

void* open_bundled(const char* name) {
  void* library = dlopen((library_folder() + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("could not open the bundled library ", name, ": ", dlerror());
  return library;
}

void* find_symbol(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (!symbol) fail("a bundled library has no symbol ", name, ": ", dlerror());
  return symbol;
}

}  // namespace rl
