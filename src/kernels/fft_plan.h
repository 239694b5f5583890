// Plans of discrete Fourier transforms of one length: factors and tables, shared by all threads.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/dtype.h"

namespace rl {

struct FftStage {
  int64_t radix;
  int64_t m;         // length after the stage
  size_t twiddles;   // (radix - 1) * m complex numbers at this position of the table
  size_t roots;      // radix complex numbers, for radices without code of their own
};

// Tables hold the real parts, then at `imag` further the imaginary parts.
struct FftTable {
  std::vector<float> f;
  std::vector<double> d;
  size_t imag = 0;
  template <class R> __attribute__((always_inline)) const R* data() const {
    if constexpr (sizeof(R) == 4) return f.data();
    else return d.data();
  }
};

struct FftPlan {
  int64_t n = 1;
  std::vector<FftStage> stages;
  FftTable table;
  // Bluestein (1970), for lengths with a large prime factor: a convolution of a power of two.
  std::shared_ptr<const FftPlan> convolution;
  FftTable chirp;    // exp(-i pi k^2 / n), k < n
  FftTable kernel;   // the transform of its conjugate, divided by the length
  // exp(-2 pi i k / (2 n)), k <= n: joins the halves of a real transform of length 2 n.
  FftTable half;
  int64_t extent() const { return convolution ? convolution->n : n; }  // rows of work memory
};

// The plan for length n in float or double, made at first use.
std::shared_ptr<const FftPlan> fft_plan(int64_t n, DType real);

}  // namespace rl
