// What memory of new tensors holds: nothing in particular, or marks that make reading it show up
// (torch.utils.deterministic.fill_uninitialized_memory under deterministic algorithms).
#pragma once

namespace rl::native {

void set_fill_new_memory(bool on);

}  // namespace rl::native
