// int_array<1, 1>: a constant array for default arguments of int lists.
#pragma once
#include "base/small_vec.h"

namespace rl {
template <int64_t... V>
inline constexpr int64_t int_array[sizeof...(V)] = {V...};
}
