// Pieces of the normalisation layers, in float or double (`compute`); statistics are double.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// One row of layer norm (or RMS norm: no mean): y = (x - mean) * rstd * weight + bias. weight and
// bias may be null. Writes the statistics.
RL_KERNEL(void, norm_row, (DType compute, bool rms, const void* x, void* y, int64_t n,
                           const void* weight, const void* bias, double eps, double* mean,
                           double* rstd));
// Its gradient.
RL_KERNEL(void, norm_row_backward, (DType compute, bool rms, const void* dy, const void* x,
                                    int64_t n, const void* weight, double mean, double rstd,
                                    void* dx));
// dweight, dbias (double[n], may be null) += what `rows` rows contribute. mean may be null.
RL_KERNEL(void, norm_parameter_sums, (DType compute, const void* dy, const void* x, int64_t rows,
                                      int64_t n, const double* mean, const double* rstd,
                                      double* dweight, double* dbias));

// y[i] = x[i] * scale + shift, one scale for the row.
RL_KERNEL(void, scale_row, (DType compute, const void* x, void* y, int64_t n, double scale,
                            double shift));
// dx[i] = dy[i] * a + x[i] * b + c.
RL_KERNEL(void, blend_row, (DType compute, const void* dy, const void* x, void* dx, int64_t n,
                            double a, double b, double c));
// sums[0] += sum dy, sums[1] += sum dy * (x - mean).
RL_KERNEL(void, gradient_sums_row, (DType compute, const void* dy, const void* x, int64_t n,
                                    double mean, double* sums));
// The same three with one coefficient for each of n columns, for `rows` rows. Coefficients are of
// the compute type; sums are double[n] each.
RL_KERNEL(void, scale_columns, (DType compute, const void* x, void* y, int64_t rows, int64_t n,
                                const void* scale, const void* shift));
RL_KERNEL(void, blend_columns, (DType compute, const void* dy, const void* x, void* dx,
                                int64_t rows, int64_t n, const void* a, const void* b,
                                const void* c));
RL_KERNEL(void, gradient_sums_columns, (DType compute, const void* dy, const void* x, int64_t rows,
                                        int64_t n, const double* mean, double* sum_dy,
                                        double* sum_dy_x));

}  // namespace rl::cpu
