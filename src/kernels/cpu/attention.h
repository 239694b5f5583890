// What attention does to a tile of scores between its two matrix products, in float or double.
// Milakov & Gimelshein, arXiv:1805.02867 (running maximum and sum); Dao et al., arXiv:2205.14135.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// A tile: `rows` queries by `cols` keys, `ld` elements from row to row.
struct ScoreTile {
  int64_t rows, cols, ld;
  // Added to the scores unless null; strides in elements, `mask_col` 0 or 1.
  const void* mask = nullptr;
  int64_t mask_row = 0, mask_col = 0;
  // Row r sees `visible + r` keys of the tile (clamped), with `causal`; otherwise all.
  bool causal = false;
  int64_t visible = 0;
};

// Turns scores into exp(score - running maximum), updates the rows' maxima and sums, and scales
// what `out` (rows of `width`) holds of earlier tiles. Keys that are not visible become 0.
RL_KERNEL(void, attention_exp, (DType dtype, const ScoreTile& tile, void* scores, void* high,
                                void* sum, void* out, int64_t width));
// out /= sum, log-sum-exp to lse[r * lse_step]; rows without any visible key are 0.
RL_KERNEL(void, attention_finish, (DType dtype, int64_t rows, int64_t width, const void* high,
                                   const void* sum, void* out, void* lse, int64_t lse_step));
// scores -> p = exp(score - lse), dp -> p * (dp - delta[r]) * scale.
RL_KERNEL(void, attention_backward_rows, (DType dtype, const ScoreTile& tile, void* scores,
                                          void* dp, const void* lse, int64_t lse_step,
                                          const void* delta, double scale));

}  // namespace rl::cpu
