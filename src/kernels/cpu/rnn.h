// The element-wise part of one step of an LSTM or GRU, in float or double. Rows are batch elements;
// gates of a row lie one after another, `hidden` elements each.
#pragma once
#include "core/dtype.h"
#include "kernels/kernel_table.h"

namespace rl::cpu {

// Gates i, f, g, o are sums of `a` and `b` (rows of 4 * hidden, `a_row` elements apart in `a`).
// Writes the activated gates, h and c.
RL_KERNEL(void, lstm_step, (DType dtype, int64_t rows, int64_t hidden, const void* a, int64_t a_row,
                            const void* b, const void* c0, void* gates, void* h, void* c));
// From the gradients of h and c (null: zero) those of the sums and of c0.
RL_KERNEL(void, lstm_step_backward, (DType dtype, int64_t rows, int64_t hidden, const void* gates,
                                     const void* c0, const void* c, const void* dh, const void* dc,
                                     void* dsum, void* dc0));
// Gates r, z, n: r and z of sums, n = tanh(a_n + r * b_n); h = n + z * (h0 - n). `gates` gets
// r, z, n and b_n.
RL_KERNEL(void, gru_step, (DType dtype, int64_t rows, int64_t hidden, const void* a, int64_t a_row,
                           const void* b, const void* h0, void* gates, void* h));
RL_KERNEL(void, gru_step_backward, (DType dtype, int64_t rows, int64_t hidden, const void* gates,
                                    const void* h0, const void* dh, void* da, void* db, void* dh0));

}  // namespace rl::cpu
