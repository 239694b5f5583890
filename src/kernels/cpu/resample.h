// Sparse linear maps along one dimension, as tables of taps: resampling and padding.
#pragma once
#include <vector>

#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl {

// Output i is the sum of weight[t] * input[index[t]] for t in [first[i], first[i + 1]).
struct TapTable {
  std::vector<int64_t> first{0}, index;
  std::vector<double> weight;
  int64_t outputs() const { return int64_t(first.size()) - 1; }
  void add(int64_t i, double w) {
    index.push_back(i);
    weight.push_back(w);
  }
  void close() { first.push_back(int64_t(index.size())); }
};

// The same without ownership, for the kernels.
struct Taps {
  const int64_t *first, *index;
  const double* weight;
  int64_t outputs;
};

namespace cpu {

// y[outer][outputs][inner] from x[outer][n][inner].
RL_KERNEL(void, resample_rows, (DType real, const void* x, void* y, Taps taps, int64_t outer,
    int64_t n,
                                int64_t inner));
// The transpose: y[outer][n][inner], which starts as zeros, from x[outer][outputs][inner].
RL_KERNEL(void, spread_rows, (DType real, const void* x, void* y, Taps taps, int64_t outer,
    int64_t n,
                              int64_t inner));

}  // namespace cpu
}  // namespace rl
