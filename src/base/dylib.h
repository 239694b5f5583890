// Shared libraries that are opened at first use: those that lie beside the core in torch/lib.
#pragma once
#include <string>

namespace rl {

std::string library_folder();            // the folder of the library that holds this function
void* open_bundled(const char* name);    // dlopen from that folder; throws with the loader's reason
void* find_symbol(void* library, const char* name);  // throws when it is not there

}  // namespace rl
