// Autocast: which element type an operator computes in inside torch.autocast. The state is the
// thread's; the rules stand in the operators' entries (`autocast:`). ArgumentCasts, what a wrapper
// uses, is declared in core/mode_call.h.
#pragma once
#include <string_view>

#include "core/op.h"

namespace rl {

// -1: autocast knows no such type of device.
int autocast_device(std::string_view type);
bool autocast_enabled(int device);
void set_autocast_enabled(int device, bool on);
DType autocast_dtype(int device);
void set_autocast_dtype(int device, DType dtype);
bool autocast_cache_enabled();
void set_autocast_cache_enabled(bool on);
void clear_autocast_cache();
int autocast_increment_nesting();
int autocast_decrement_nesting();

}  // namespace rl
