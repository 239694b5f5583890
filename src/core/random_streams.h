// Random numbers into contiguous buffers, number for number as PyTorch's CPU generator gives them
// (docs/RANDOM.md says which algorithm each stream uses). Every function locks the generator for
// its whole run; results do not depend on the number of threads. Parameters are not checked here
// beyond what an algorithm needs to end: the operators check and word their errors.
//
// Tensors that are not contiguous: fill a contiguous buffer and copy in the order of memory (the
// strides' order, not the logical one). Only the normal stream differs: fill_normal_scalar is for
// every tensor that is not contiguous, whatever its size. Complex tensors: as twice as many reals.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "core/generator.h"

namespace rl {

// ---- continuous distributions; T = float, double, half, bfloat16

template <class T>
void fill_uniform(Generator& gen, T* out, int64_t n, double from, double to);  // [from, to)
// Contiguous tensors: blocks of 16 when n >= 16, otherwise fill_normal_scalar.
template <class T>
void fill_normal(Generator& gen, T* out, int64_t n, double mean, double std);
template <class T>
void fill_normal_scalar(Generator& gen, T* out, int64_t n, double mean, double std);
template <class T>
void fill_exponential(Generator& gen, T* out, int64_t n, double lambda);
template <class T>
void fill_cauchy(Generator& gen, T* out, int64_t n, double median, double sigma);
template <class T>
void fill_log_normal(Generator& gen, T* out, int64_t n, double mean, double std);

// ---- integers; T = bool, uint8_t, int8_t .. int64_t, float, double, half, bfloat16

// base + draw % range, `range` = to - from in 64 bits. 0 stands for 2^64: the draw itself, without
// the base. T also uint16_t, uint32_t, uint64_t.
template <class T>
void fill_random_range(Generator& gen, T* out, int64_t n, int64_t base, uint64_t range);
// random_(from, to) on a floating point tensor: moves bounds that the type cannot tell from numbers
// outside of them. T = float, double, half, bfloat16; from < to.
template <class T>
void snap_random_bounds(int64_t& from, int64_t& to);
// random_() without bounds: 0 .. the largest integer of T (floats: 2^mantissa bits, inclusive).
template <class T>
void fill_random(Generator& gen, T* out, int64_t n);
// A permutation of 0 .. n-1; T as above but bool.
template <class T>
void fill_randperm(Generator& gen, T* out, int64_t n);

// ---- discrete distributions

// 1 with probability p; T as for integers. bool gives the mask of a dropout that keeps with p.
template <class T>
void fill_bernoulli(Generator& gen, T* out, int64_t n, double p);
// One probability for each element; P = float, double, half, bfloat16. Throws Runtime when a
// probability is outside [0, 1]; elements before it are written then.
template <class T, class P>
void fill_bernoulli(Generator& gen, T* out, const P* p, int64_t n);
// Trials up to the first success; T as above but bool.
template <class T>
void fill_geometric(Generator& gen, T* out, int64_t n, double p);

// ---- element by element from parameters

template <class T>  // float, double, half, bfloat16
void sample_poisson(Generator& gen, T* out, const T* rate, int64_t n);
template <class T>  // float, double
void sample_binomial(Generator& gen, T* out, const T* count, const T* prob, int64_t n);
template <class T>  // float, double
void sample_standard_gamma(Generator& gen, T* out, const T* alpha, int64_t n);
template <class T>  // float, double; each row of `alpha` gives one point of the simplex
void sample_dirichlet(Generator& gen, T* out, const T* alpha, int64_t rows, int64_t size);

// `samples` category numbers for each row of weights; T = float, double, half, bfloat16. Checks
// the weights. Without replacement `samples` <= `categories`.
template <class T>
void sample_multinomial(Generator& gen, int64_t* out, const T* weights, int64_t rows,
                        int64_t categories, int64_t samples, bool replacement);

// Randomised leaky ReLU in training: noise and output; T = float, double, bfloat16.
template <class T>
void sample_rrelu(Generator& gen, T* out, T* noise, const T* in, int64_t n, double lower,
                  double upper);

}  // namespace rl
