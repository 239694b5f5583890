// The hot loops of the random streams as a table of functions, chosen once for this processor.
// Every version gives the same bits: integer arithmetic, or float steps with explicit fused
// multiply-adds and no reordering.
#pragma once
#include <cstdint>

namespace rl {

struct RandomLoops {
  void (*twist)(uint32_t* words);  // 624 words in place
  void (*temper)(const uint32_t* words, uint32_t* out, int64_t count);
  // out = fma(u, to - from, from), u = the low 24 bits of a draw / 2^24; `to` becomes `from`.
  void (*uniform_float)(const uint32_t* draws, float* out, int64_t count, float from, float to);
  // The same from pairs of draws (first one high): the low 53 bits / 2^53.
  void (*uniform_double)(const uint32_t* draws, double* out, int64_t count, double from,
                         double to);
  // out = 1 when the 53-bit number of a pair of draws is below `limit`, else 0.
  void (*below53)(const uint32_t* draws, uint8_t* out, int64_t count, uint64_t limit);
  // Box-Muller over blocks of 16 uniforms in [0, 1), in place: the first eight give the radii,
  // the last eight the angles; then out = fma(z, std, mean).
  void (*normal16)(float* data, int64_t blocks, float mean, float std);
  // x = scale * log(1 - x) for multiples of 2^-53 in [0, 1); within one unit in the last place.
  void (*log_complement)(double* x, int64_t count, double scale);
  // Bits of the 16-bit formats, rounded to nearest even; no NaNs.
  void (*to_half)(const float* x, uint16_t* out, int64_t count);
  void (*to_bfloat16)(const float* x, uint16_t* out, int64_t count);
};

const RandomLoops& random_loops();

}  // namespace rl
