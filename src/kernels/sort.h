// Sorting by keys: numbers become unsigned keys whose order is theirs (NaN largest, the two zeros
// equal), so that one integer sort serves every element type.
#pragma once
#include <vector>

#include "core/dtype.h"

namespace rl {

// keys[i] of in[i * stride]; with `descending` larger elements have smaller keys.
void sort_keys(DType dtype, const void* in, int64_t stride, int64_t n, bool descending,
               uint64_t* keys);
int sort_key_bits(DType dtype);
// The key of NaN (ascending); keys of that value only come from NaN for floating types.
uint64_t nan_key(DType dtype);

// order = positions of the keys from small to large, equal ones in their order.
class StableSort {
 public:
  void run(const uint64_t* keys, int64_t n, int bits, int64_t* order);

 private:
  struct Wide {
    uint64_t key;
    int64_t at;
  };
  void run_packed(const uint64_t* keys, int64_t n, int bits, int64_t* order);
  void run_wide(const uint64_t* keys, int64_t n, int64_t* order);
  std::vector<uint64_t> packed_, packed_other_;
  std::vector<Wide> wide_, wide_other_;
};

}  // namespace rl
