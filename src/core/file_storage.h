// Storages over files: mapped into memory, private or shared with whoever maps the file too.
#pragma once
#include <string>

#include "core/storage.h"

namespace rl {

// The first `nbytes` of a file (0: all). Shared: writes go to the file, which is made, or made
// longer, where needed. Otherwise writes stay in this process, and the file must be long enough.
StoragePtr storage_of_file(const std::string& name, bool shared, size_t nbytes);

}  // namespace rl
