// Rows of indexed reads and writes: what index, gather, scatter and their relatives do at the
// innermost dimension. Positions are in elements and have been checked.
#pragma once
#include "core/dtype.h"

namespace rl {

enum class Combine : uint8_t { Assign, Add, Multiply, Max, Min };

// The places of a row: element j lies at `at[j] * scale + j * step` (without `at`: j * step).
struct RowPlaces {
  const int64_t* at = nullptr;
  int64_t scale = 0;
  int64_t step = 1;
};

// out[j * out_step] = in[place(j)] for j < n.
using GatherRow = void (*)(void* out, int64_t out_step, const void* in, RowPlaces places,
                           int64_t n);
GatherRow gather_row(int64_t itemsize);

// out[place(j)] = combine(out[place(j)], in[j * in_step]), in the order of j. 16-bit floats are
// combined in float and rounded each time.
using CombineRow = void (*)(void* out, RowPlaces places, const void* in, int64_t in_step,
                            int64_t n);
// `name` is for the error about dtypes that have no such combination.
CombineRow combine_row(Combine how, DType dtype, const char* name);

// Lowest and highest of n positions (n > 0).
struct Span {
  int64_t low, high;
};
Span span_of(const int64_t* p, int64_t n);

}  // namespace rl
